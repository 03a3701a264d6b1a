/* SPDX-License-Identifier: MIT */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

/*
 * What a thread that does not run has in its registers; switch.S knows the offsets. Preemption
 * happens inside an interrupt, so all of floating point is kept, not only what a call preserves.
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
 * @lr:		x30; a new thread has 0 here, so that a backtrace ends
 * @sp:		stack pointer
 * @pc:		where it goes on: its call of __switch_to(), or where it begins
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
