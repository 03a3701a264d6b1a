/* SPDX-License-Identifier: MIT */
/*
 * Division of 64 bits, which the EABI has under its own names and with a convention of its own:
 * the quotient in r0 and r1, the remainder in r2 and r3 (Run-time ABI for the Arm Architecture,
 * "Integer (32/32 -> 32) division functions"). ../../lib/libgcc.c divides.
 */
#include <linux/linkage.h>

	.syntax unified

	.cfi_sections .eh_frame
	.text

	/* r0, r1 = dividend, r2, r3 = divisor; \function also takes the remainder's address. */
	.macro	divide name, function
SYM_FUNC_START(\name)
	.cfi_startproc
	sub	sp, sp, #8			/* the remainder */
	mov	ip, sp
	push	{ip, lr}			/* the fifth argument, and lr */
	.cfi_def_cfa_offset 16
	.cfi_offset lr, -12
	bl	\function
	ldr	lr, [sp, #4]
	.cfi_same_value lr
	ldrd	r2, r3, [sp, #8]
	add	sp, sp, #16
	.cfi_def_cfa_offset 0
	bx	lr
	.cfi_endproc
SYM_FUNC_END(\name)
	.endm

	divide	__aeabi_uldivmod, __udivmoddi4
	divide	__aeabi_ldivmod, __divmoddi4
