/* SPDX-License-Identifier: MIT */
/* Hijacked functions return here. */
#include <linux/linkage.h>

	.syntax unified

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

	.cfi_sections .eh_frame
	.text

/*
 * An unwinder looks up a return address by the byte before it, in the call instruction. So the
 * unwind information begins before the function. It marks the outermost frame, until the original
 * return address has been read from the thread's ret_stack.
 */
	.type	return_to_handler_landing, %function
return_to_handler_landing:
	.cfi_startproc
	.cfi_undefined lr
	nop
	.size	return_to_handler_landing, . - return_to_handler_landing

/*
 * return_to_handler - report the return, then return to the caller (C5)
 *
 * In: r0, r1 and d0..d7 = the function's result as the AAPCS returns it, which all survive; sp and
 * the saved registers as its caller left them. fp is the caller's again (C6).
 */
SYM_FUNC_START(return_to_handler)
	push	{r0, r1}
	.cfi_def_cfa_offset 8
	vpush	{d0-d7}
	.cfi_def_cfa_offset 72
	mov	r0, fp
	bl	ftrace_return_to_handler
	.cfi_register lr, r0
	mov	lr, r0
	.cfi_same_value lr
	vpop	{d0-d7}
	.cfi_def_cfa_offset 8
	pop	{r0, r1}
	.cfi_def_cfa_offset 0
	bx	lr
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
