/* SPDX-License-Identifier: MIT */
/*
 * The registers of a thread that does not run; switch.S knows the offsets. Preemption happens in an
 * interrupt, so all floating-point registers are saved.
 */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

#define THREAD_SELF		0
#define THREAD_SP		8
#define THREAD_PC		16
#define THREAD_RA		24
#define THREAD_RBX		32
#define THREAD_RBP		40
#define THREAD_R12		48
#define THREAD_R13		56
#define THREAD_R14		64
#define THREAD_R15		72
#define THREAD_FX		80

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct thread_struct - saved by __switch_to()
 * @self:	the address of its struct thread_info, for `current`
 * @sp:		stack pointer
 * @pc:		where it continues: behind its call of __switch_to(), or its entry
 * @ra:		the same; a new thread has 0 here, so that a backtrace ends
 * @rbx:	and the other registers that a call preserves
 * @fx:		the area written by fxsave64
 */
struct thread_struct {
	void *self;
	unsigned long sp;
	unsigned long pc;
	unsigned long ra;
	u64 rbx, rbp, r12, r13, r14, r15;
	u8 fx[512] __attribute__((aligned(16)));
};

#endif
#endif
