/* SPDX-License-Identifier: MIT */
/* Hijacked functions return here. */
#include <linux/linkage.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* The frame, from sp up: ra, s0, a0 and a1, fa0 and fa1. */
#define FRAME_RA	0
#define FRAME_A0	8
#define FRAME_A1	16
#define FRAME_FA0	24
#define FRAME_FA1	32
#define FRAME_SIZE	48

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
 * return_to_handler() - report the return, then return to the caller (C5)
 *
 * In: a0, a1, fa0 and fa1 = the function's result as the psABI passes it, which all survive; sp and
 * the saved registers as its caller left them. The frame pointer is the caller's again (C6).
 */
SYM_FUNC_START(return_to_handler)
	addi	sp, sp, -FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	sd	a0, FRAME_A0(sp)
	sd	a1, FRAME_A1(sp)
	fsd	fa0, FRAME_FA0(sp)
	fsd	fa1, FRAME_FA1(sp)
	mv	a0, s0
	call	ftrace_return_to_handler
	.cfi_register ra, a0
	mv	ra, a0
	.cfi_same_value ra
	ld	a0, FRAME_A0(sp)
	ld	a1, FRAME_A1(sp)
	fld	fa0, FRAME_FA0(sp)
	fld	fa1, FRAME_FA1(sp)
	addi	sp, sp, FRAME_SIZE
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
