/* SPDX-License-Identifier: MIT */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

/*
 * The registers of a thread that does not run; switch.S knows the offsets. Preemption happens in an
 * interrupt, so all floating-point registers are saved, not only the callee-saved ones.
 */
#define THREAD_R(n)		(((n) - 4) * 4)	/* r4..r11 */
#define THREAD_LR		32
#define THREAD_SP		36
#define THREAD_PC		40
#define THREAD_FPSCR		44
#define THREAD_D(n)		(48 + (n) * 8)

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct thread_struct - saved by __switch_to()
 * @r4:		r4..r11
 * @lr:		0 in a new thread, the end of backtraces
 * @sp:		stack pointer
 * @pc:		where it continues: its call of __switch_to(), or its entry
 * @fpscr:	floating-point control and status
 * @d:		d0..d31
 */
struct thread_struct {
	unsigned long r4[8];
	unsigned long lr;
	unsigned long sp;
	unsigned long pc;
	unsigned long fpscr;
	u64 d[32];
};

#endif
#endif
