/* SPDX-License-Identifier: MIT */
/*
 * int setjmp(jmp_buf buffer);			a0
 * void longjmp(jmp_buf buffer, int value);	a0, a1
 *
 * Kept are the callee-saved registers of the ABI: s0-s7, sp, fp, ra; $f20-$f30 (even) on o32,
 * $f24-$f31 on n64. $28 is the current thread and stays.
 *
 * The graph tracer's stack of return addresses is cut back with the real one: the functions that
 * longjmp() leaves never come to return_to_handler.
 */
#include <linux/threads.h>

#include <asm/asm.h>

	.set	noreorder

#define SLOT(n)	((n) * 8)

#if _MIPS_SIM == _ABI64
#define FOR_EACH_DOUBLE(operation)			\
	operation	$f24, SLOT(11)($a0);		\
	operation	$f25, SLOT(12)($a0);		\
	operation	$f26, SLOT(13)($a0);		\
	operation	$f27, SLOT(14)($a0);		\
	operation	$f28, SLOT(15)($a0);		\
	operation	$f29, SLOT(16)($a0);		\
	operation	$f30, SLOT(17)($a0);		\
	operation	$f31, SLOT(18)($a0)
#else
#define FOR_EACH_DOUBLE(operation)			\
	operation	$f20, SLOT(11)($a0);		\
	operation	$f22, SLOT(12)($a0);		\
	operation	$f24, SLOT(13)($a0);		\
	operation	$f26, SLOT(14)($a0);		\
	operation	$f28, SLOT(15)($a0);		\
	operation	$f30, SLOT(16)($a0)
#endif

#define FOR_EACH_REGISTER(operation)			\
	operation	$16, SLOT(0)($a0);		\
	operation	$17, SLOT(1)($a0);		\
	operation	$18, SLOT(2)($a0);		\
	operation	$19, SLOT(3)($a0);		\
	operation	$20, SLOT(4)($a0);		\
	operation	$21, SLOT(5)($a0);		\
	operation	$22, SLOT(6)($a0);		\
	operation	$23, SLOT(7)($a0);		\
	operation	$sp, SLOT(8)($a0);		\
	operation	$fp, SLOT(9)($a0);		\
	operation	$ra, SLOT(10)($a0)

	.text
SYM_FUNC_START(setjmp)
	FOR_EACH_REGISTER(LONG_S)
	FOR_EACH_DOUBLE(sdc1)
	lw	$t0, THREAD_CURR_RET_STACK($gp)
	sw	$t0, SLOT(19)($a0)
	jr	$ra
	 move	$v0, $zero
SYM_FUNC_END(setjmp)

SYM_FUNC_START(longjmp)
	FOR_EACH_REGISTER(LONG_L)
	FOR_EACH_DOUBLE(ldc1)
	lw	$t0, SLOT(19)($a0)
	sw	$t0, THREAD_CURR_RET_STACK($gp)
	sltiu	$v0, $a1, 1	/* the value, but never 0 */
	jr	$ra
	 or	$v0, $v0, $a1
SYM_FUNC_END(longjmp)
