/* SPDX-License-Identifier: MIT */
/*
 * struct thread_info *__switch_to(struct thread_info *prev, struct thread_info *next);
 *
 * a0, a1; returns a0 on the stack of the next thread. a2 and a3 are their struct thread_struct, t0
 * is used to move control registers, t9 is the pc of the next thread. Caller-saved registers are
 * not saved, except floating-point registers: a thread preempted by an interrupt may use all of
 * them.
 *
 * o32 runs with Status.FR 0: sdc1 stores an even register and the next odd one.
 */
#include <asm/asm.h>
#include <asm/thread.h>

	.set	noreorder

#define FOR_EACH_SAVED(operation, base)			\
	operation	$sp, TH_SP(base);		\
	operation	$16, TH_S(0)(base);		\
	operation	$17, TH_S(1)(base);		\
	operation	$18, TH_S(2)(base);		\
	operation	$19, TH_S(3)(base);		\
	operation	$20, TH_S(4)(base);		\
	operation	$21, TH_S(5)(base);		\
	operation	$22, TH_S(6)(base);		\
	operation	$23, TH_S(7)(base);		\
	operation	$fp, TH_FP(base)

	.macro	for_each_double operation, base
	.irp	n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	\operation	$f\n, TH_FPR(\n)(\base)
	.endr
#if _MIPS_SIM == _ABI64
	.irp	n, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
	\operation	$f\n, TH_FPR(\n)(\base)
	.endr
#endif
	.endm

	.text
SYM_FUNC_START(__switch_to)
	LONG_ADDIU $a2, $a0, %lo(THREAD_CONTEXT)	/* small: see kernel/thread.c */
	LONG_ADDIU $a3, $a1, %lo(THREAD_CONTEXT)
	FOR_EACH_SAVED(LONG_S, $a2)
	LONG_S	$ra, TH_PC($a2)
	for_each_double sdc1, $a2
	cfc1	$t0, $31
	sw	$t0, TH_FCSR($a2)

	FOR_EACH_SAVED(LONG_L, $a3)
	LONG_L	$t9, TH_PC($a3)
	for_each_double ldc1, $a3
	lw	$t0, TH_FCSR($a3)
	ctc1	$t0, $31
	move	$gp, $a1			/* current */
	move	$v0, $a0
	jr	$t9
	 move	$ra, $zero			/* a new thread has no caller */
SYM_FUNC_END(__switch_to)
