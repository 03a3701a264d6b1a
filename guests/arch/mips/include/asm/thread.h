/* SPDX-License-Identifier: MIT */
#ifndef _ASM_THREAD_H
#define _ASM_THREAD_H

/* Offsets of struct thread_struct for switch.S, which knows SZREG. thread.c checks them. */
#define TH_SP		0
#define TH_PC		SZREG
#define TH_S(n)		((2 + (n)) * SZREG)	/* s0 to s7 */
#define TH_FP		(10 * SZREG)
#define TH_FPR(n)	(12 * SZREG + (n) * 8)
#define TH_FCSR		TH_FPR(32)

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct thread_struct - saved by __switch_to()
 * @sp:		stack pointer
 * @pc:		where it continues
 * @s:		s0 to s7
 * @fp:		s8
 * @reserved:	unused
 * @fpr:	$f0 to $f31; o32's doubles are the even ones, the odd ones are unused
 * @fcsr:	the floating-point unit's control and status
 */
struct thread_struct {
	unsigned long sp;
	unsigned long pc;
	unsigned long s[8];
	unsigned long fp;
	unsigned long reserved;
	u64 fpr[32];
	u32 fcsr;
};

#endif

#endif
