/* SPDX-License-Identifier: MIT */
/*
 * The registers of a thread that does not run; switch.S knows the offsets. Preemption happens in an
 * interrupt, so all floating-point registers are saved, not only the callee-saved ones.
 */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

#define THREAD_RA		0
#define THREAD_SP		8
#define THREAD_S(n)		(16 + (n) * 8)
#define THREAD_PC		112
#define THREAD_FCSR		120
#define THREAD_F(n)		(128 + (n) * 8)

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct thread_struct - saved by __switch_to()
 * @ra:		return address; a new thread has 0 here, so that a backtrace ends
 * @sp:		stack pointer
 * @s:		s0..s11
 * @pc:		where it continues: its call of __switch_to(), or its entry
 * @fcsr:	floating-point modes and flags
 * @f:		f0..f31
 */
struct thread_struct {
	u64 ra;
	unsigned long sp;
	u64 s[12];
	unsigned long pc;
	u64 fcsr;
	u64 f[32];
};

#endif
#endif
