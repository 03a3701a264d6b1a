/* SPDX-License-Identifier: MIT */
/*
 * The assembly part of user programs.
 *
 * long user_syscall(long number, long argument[6]...);
 *
 * in:	the arguments of a C function
 * out:	v0 = the result, or a negative error number
 *
 * The system call takes the number in v0 and the arguments in a0-a3 and on the stack (o32) or in
 * a0-a5 (n64); it returns with a3 = 1 if v0 is an error number.
 */
#include <asm/asm.h>

	.set	noreorder

	.text
SYM_FUNC_START(user_syscall)
	move	$2, $4
	move	$4, $5
	move	$5, $6
	move	$6, $7
#if _MIPS_SIM == _ABI64
	move	$7, $8
	move	$8, $9
	move	$9, $10
	syscall
	beqz	$7, 1f
	 nop
	dnegu	$2, $2
#else
	lw	$7, 16($sp)
	lw	$8, 20($sp)
	lw	$9, 24($sp)
	addiu	$sp, $sp, -24
	sw	$8, 16($sp)
	sw	$9, 20($sp)
	syscall
	beqz	$7, 1f
	 addiu	$sp, $sp, 24
	negu	$2, $2
#endif
1:	jr	$ra
	 nop
SYM_FUNC_END(user_syscall)
