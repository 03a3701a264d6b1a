/* SPDX-License-Identifier: MIT */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

/*
 * The registers of a thread that does not run; switch.S knows the offsets. Preemption happens in an
 * interrupt, so all floating-point registers are saved, not only the callee-saved ones.
 */
#define THREAD_X19		0
#define THREAD_FP		80
#define THREAD_LR		88
#define THREAD_SP		96
#define THREAD_PC		104
#define THREAD_FPCR		112
#define THREAD_FPSR		120
#define THREAD_Q0		128

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct thread_struct - saved by __switch_to()
 * @x19:	x19..x28
 * @fp:		x29
 * @lr:		x30; 0 in a new thread, the end of backtraces
 * @sp:		stack pointer
 * @pc:		where it continues: its call of __switch_to(), or its entry
 * @fpcr:	floating-point control
 * @fpsr:	floating-point status
 * @q:		q0..q31
 */
struct thread_struct {
	u64 x19[10];
	u64 fp;
	u64 lr;
	unsigned long sp;
	unsigned long pc;
	u64 fpcr;
	u64 fpsr;
	u64 q[32][2];
} __attribute__((aligned(16)));

#endif
#endif
