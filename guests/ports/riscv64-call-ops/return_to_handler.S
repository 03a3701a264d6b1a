/* SPDX-License-Identifier: MIT */
/* Hijacked functions return here. */
#include <asm/ftrace.h>
#include <linux/linkage.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/*
 * The frame, from sp up: struct ftrace_regs, for the results and the frame pointer (C24), fa0 and
 * fa1.
 */
#define FRAME_FA0	FREGS_SIZE
#define FRAME_FA1	(FREGS_SIZE + 8)
#define FRAME_SIZE	(FREGS_SIZE + 16)

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
	.cfi_undefined ra
	nop
	.size	return_to_handler_landing, . - return_to_handler_landing

/*
 * return_to_handler - report the return, then return to the caller (C5)
 *
 * In: a0, a1, fa0 and fa1 = the function's result by the psABI, which all survive; sp and the saved
 * registers = the caller's. The frame pointer is the caller's again, as at entry (C6). It is handed
 * over with the results, in a struct ftrace_regs in which nothing else has a value.
 */
SYM_FUNC_START(return_to_handler)
	addi	sp, sp, -FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	sd	a0, FREGS_A0(sp)
	sd	a1, FREGS_A0 + 8(sp)
	sd	s0, FREGS_S0(sp)
	fsd	fa0, FRAME_FA0(sp)
	fsd	fa1, FRAME_FA1(sp)
	mv	a0, sp
	call	ftrace_return_to_handler
	.cfi_register ra, a0
	mv	ra, a0
	.cfi_same_value ra
	ld	a0, FREGS_A0(sp)
	ld	a1, FREGS_A0 + 8(sp)
	fld	fa0, FRAME_FA0(sp)
	fld	fa1, FRAME_FA1(sp)
	addi	sp, sp, FRAME_SIZE
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
