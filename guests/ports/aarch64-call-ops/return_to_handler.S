/* SPDX-License-Identifier: MIT */
/* Hijacked functions return here. */
#include <asm/ftrace.h>
#include <linux/linkage.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/*
 * The frame, from sp up: a frame record, a struct ftrace_regs up to the stack pointer, for the
 * results and the frame pointer (C24), q0..q7.
 */
#define FRAME_FREGS	16
#define FRAME_X0	(FRAME_FREGS + FREGS_X0)
#define FRAME_X8	(FRAME_FREGS + FREGS_X8)
#define FRAME_Q0	(FRAME_FREGS + FREGS_SP)
#define FRAME_SIZE	(FRAME_Q0 + 128)

	.cfi_sections .eh_frame
	.text

/*
 * An unwinder looks up a return address by the byte before it, in the call instruction. So the
 * unwind information begins before the function. It marks the outermost frame, until the original
 * return address has been read from the thread's ret_stack.
 */
	.type	return_to_handler_landing, @function
return_to_handler_landing:
	.cfi_startproc
	.cfi_undefined x30
	nop
	.size	return_to_handler_landing, . - return_to_handler_landing

/*
 * return_to_handler - report the return, then return to the caller (C5)
 *
 * In: x0..x7, x8 and q0..q7 = the function's result by AAPCS64, which all survive, in full width
 * (B23); x19..x29 and sp = the caller's; x30 = this address, so that an unwinder finds it in our
 * record and takes the original from the ret_stack. Reached by `ret` and left by `ret` (B35): no
 * landing pad is needed here, nor after the caller's call.
 *
 * The frame pointer is the caller's again, as at entry (C6). It is handed over
 * with the results, in a struct ftrace_regs in which nothing else has a value.
 */
SYM_FUNC_START(return_to_handler)
	stp	x29, x30, [sp, #-FRAME_SIZE]!
	.cfi_def_cfa_offset FRAME_SIZE
	.cfi_offset x29, -FRAME_SIZE
	stp	x0, x1, [sp, #FRAME_X0]
	stp	x2, x3, [sp, #FRAME_X0 + 16]
	stp	x4, x5, [sp, #FRAME_X0 + 32]
	stp	x6, x7, [sp, #FRAME_X0 + 48]
	str	x8, [sp, #FRAME_X8]
	stp	q0, q1, [sp, #FRAME_Q0]
	stp	q2, q3, [sp, #FRAME_Q0 + 32]
	stp	q4, q5, [sp, #FRAME_Q0 + 64]
	stp	q6, q7, [sp, #FRAME_Q0 + 96]

	str	x29, [sp, #FRAME_FREGS + FREGS_FP]
	add	x0, sp, #FRAME_FREGS
	mov	x29, sp
	bl	ftrace_return_to_handler
	.cfi_register x30, x0
	mov	x30, x0
	.cfi_same_value x30

	ldp	x0, x1, [sp, #FRAME_X0]
	ldp	x2, x3, [sp, #FRAME_X0 + 16]
	ldp	x4, x5, [sp, #FRAME_X0 + 32]
	ldp	x6, x7, [sp, #FRAME_X0 + 48]
	ldr	x8, [sp, #FRAME_X8]
	ldp	q0, q1, [sp, #FRAME_Q0]
	ldp	q2, q3, [sp, #FRAME_Q0 + 32]
	ldp	q4, q5, [sp, #FRAME_Q0 + 64]
	ldp	q6, q7, [sp, #FRAME_Q0 + 96]
	ldr	x29, [sp], #FRAME_SIZE
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
