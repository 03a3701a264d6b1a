/* SPDX-License-Identifier: MIT */
/*
 * The riscv64 stub of the tracers, which calls the one that the site's literal names. The form of
 * call site is in asm/ftrace.h.
 *
 * psABI: a0..a7 are arguments, ra the return address, s0 the frame pointer: of a function that has
 * one, ra and its caller's s0 lie in the two words below s0. sp is always a multiple of 16.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/*
 * Unwind information. The stub has two return addresses: its own in ra, and the traced function's
 * in t0, which will be in ra when the stub returns. So its own is in the column for pc.
 */
#define COLUMN_PC	64

	.cfi_sections .eh_frame		/* for stack traces, and the debugger */
	.text

/*
 * ftrace_caller - called by a site that is on
 *
 * In: ra = rec->ip + 8, t0 = the traced function's return address, s0 = its caller's frame pointer,
 * a0..a7 and t2 = live (C1): there is no call for the compiler here. t1 and t3..t6 are not live at
 * a function's entry. Floating-point registers can be arguments; they survive because all code
 * called from here has no floating point.
 *
 * The frame is struct ftrace_regs, with the stub's frame record in it, for unwinders without tables
 * (C14b). The tracer gets (C2, C18): a0 = ip = rec->ip, a1 = parent_ip = the traced function's
 * return address, a2 = op = what the site's literal points to (C22a), a3 = fregs.
 *
 * Out: a0..a7, t2, s0 and ra out of fregs, and on at its epc (C19), or at a trampoline.
 */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, ra
	.cfi_register ra, t0
	ld	t1, -LITERAL_OFFSET(ra)		/* the site's ops */
	ld	t3, FTRACE_OPS_DIRECT_CALL(t1)
	bnez	t3, ftrace_caller_direct
	addi	sp, sp, -FREGS_SIZE
	.cfi_def_cfa_offset FREGS_SIZE
	sd	t0, FREGS_RA(sp)
	.cfi_offset ra, FREGS_RA - FREGS_SIZE
	sd	a0, FREGS_A0(sp)
	sd	a1, FREGS_A0 + 8(sp)
	sd	a2, FREGS_A0 + 16(sp)
	sd	a3, FREGS_A0 + 24(sp)
	sd	a4, FREGS_A0 + 32(sp)
	sd	a5, FREGS_A0 + 40(sp)
	sd	a6, FREGS_A0 + 48(sp)
	sd	a7, FREGS_A0 + 56(sp)
	sd	t2, FREGS_T2(sp)
	addi	t2, sp, FREGS_SIZE		/* sp at the site, the end of the record there */
	sd	t2, FREGS_SP(sp)
	sd	zero, FREGS_DIRECT_TRAMP(sp)
	sd	t2, FREGS_RECORD(sp)
	sd	ra, FREGS_RECORD + 8(sp)
	.cfi_offset COLUMN_PC, FREGS_RECORD + 8 - FREGS_SIZE
	sd	ra, FREGS_EPC(sp)
	sd	s0, FREGS_S0(sp)
	.cfi_offset s0, FREGS_S0 - FREGS_SIZE
	addi	s0, sp, FREGS_S0		/* behind the stub's record */

	addi	a0, ra, -MCOUNT_INSN_SIZE
	mv	a1, t0
	mv	a2, t1
	mv	a3, sp
	ld	t1, FTRACE_OPS_FUNC(t1)
	jalr	t1

	ld	a0, FREGS_A0(sp)
	ld	a1, FREGS_A0 + 8(sp)
	ld	a2, FREGS_A0 + 16(sp)
	ld	a3, FREGS_A0 + 24(sp)
	ld	a4, FREGS_A0 + 32(sp)
	ld	a5, FREGS_A0 + 40(sp)
	ld	a6, FREGS_A0 + 48(sp)
	ld	a7, FREGS_A0 + 56(sp)
	ld	t2, FREGS_T2(sp)
	ld	t3, FREGS_DIRECT_TRAMP(sp)
	ld	s0, FREGS_S0(sp)
	.cfi_same_value s0
	ld	t0, FREGS_EPC(sp)
	ld	ra, FREGS_RA(sp)
	.cfi_same_value ra
	.cfi_register COLUMN_PC, t0
	addi	sp, sp, FREGS_SIZE
	.cfi_def_cfa_offset 0
	bnez	t3, ftrace_caller_direct_late
	jr	t0

/*
 * To the trampoline in t3, as if the site had called it (C23): after the tracers, with the way back
 * to the site in t0 and the traced function's return address in ra, which change places; or at
 * once, with all registers as they are.
 */
ftrace_caller_direct_late:
	mv	t1, ra
	mv	ra, t0
	mv	t0, t1
ftrace_caller_direct:
	.cfi_register COLUMN_PC, ra
	.cfi_register ra, t0
	jr	t3
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)
