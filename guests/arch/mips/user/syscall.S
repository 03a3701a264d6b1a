/* SPDX-License-Identifier: MIT */
/* The part of a user program that is not C. */
#include <asm/asm.h>

	.set	noreorder

	.text
/*
 * user_syscall() - $4 = number, then six arguments, o32's last three on the stack; out: $2 =
 * result or negative error number.
 *
 * For the kernel, o32's last two are on the stack behind the room for the first four.
 */
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
#else
	lw	$7, 16($sp)
	lw	$8, 20($sp)
	lw	$9, 24($sp)
	addiu	$sp, $sp, -24
	sw	$8, 16($sp)
	sw	$9, 20($sp)
	syscall
	addiu	$sp, $sp, 24
#endif
	beqz	$7, 1f
	 nor	$3, $2, $zero
	LONG_ADDIU $2, $3, 1
1:	jr	$ra
	 nop
SYM_FUNC_END(user_syscall)
