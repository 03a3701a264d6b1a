/* SPDX-License-Identifier: MIT */
/* Where a function returns to whose return address the graph tracer has replaced. */
#include <linux/linkage.h>

	.syntax unified

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

	.cfi_sections .eh_frame
	.text

/*
 * An unwinder looks up the byte before a return address, where the call should be. So the unwind
 * information begins before the function; it says that the walk ends here, until the original
 * return address has come back from the thread's ret_stack.
 */
	.type	return_to_handler_landing, %function
return_to_handler_landing:
	.cfi_startproc
	.cfi_undefined lr
	nop
	.size	return_to_handler_landing, . - return_to_handler_landing

/*
 * return_to_handler - report the return, then return to where the function was called from (C5)
 *
 * In: r0, r1 and d0..d7 = the function's result as the AAPCS returns it, which all survive; sp and
 * the saved registers as its caller left them. sp is the caller's again (C6).
 */
SYM_FUNC_START(return_to_handler)
	mov	ip, sp
	push	{r0, r1}
	.cfi_def_cfa_offset 8
	vpush	{d0-d7}
	.cfi_def_cfa_offset 72
	mov	r0, ip
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
