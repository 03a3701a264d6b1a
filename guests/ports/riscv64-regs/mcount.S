/* SPDX-License-Identifier: MIT */
/*
 * The riscv64 stubs of the tracers, with one slot: ftrace_caller saves what a function may be given
 * in registers, and ftrace_regs_caller all registers. The form of call site is in asm/ftrace.h.
 *
 * psABI: a0..a7 are arguments, t2 the static chain of nested functions, ra the return address, s0
 * the frame pointer: the two words below it are a function's frame record, its caller's s0 and its
 * return address, which lies behind. sp is always a multiple of 16.
 */
#include <asm/csr.h>
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <linux/linkage.h>

/*
 * The frame is struct ftrace_regs, with two frame records behind the registers, so that an unwinder
 * finds the stub, the traced function, and its caller.
 */
#define S_RA		S_X(1)
#define S_SP		S_X(2)
#define S_T0		S_X(5)
#define S_T2		S_X(7)
#define S_S0		S_X(8)
#define S_A(n)		S_X(10 + (n))

/*
 * Unwind information. A stub has two return addresses: its own in ra, and the traced function's in
 * t0, which will be in ra when the stub returns. So its own is in a column of its own.
 */
#define COLUMN_PC	DWARF_PC

	.cfi_sections .eh_frame		/* for stack traces, and the debugger */
	.text

	/* At the entry of a stub. */
	.macro	unwind_entry
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, ra
	.cfi_register ra, t0
	.endm

	/* With the frame of save_arguments. */
	.macro	unwind_frame
	.cfi_def_cfa_offset FREGS_SIZE
	.cfi_offset ra, S_RA - FREGS_SIZE
	.cfi_offset s0, S_S0 - FREGS_SIZE
	.cfi_offset COLUMN_PC, FREGS_RECORD + 8 - FREGS_SIZE
	.endm

/*
 * What both stubs save (C1, C18). In: ra = rec->ip + 8, t0 = the traced function's return address,
 * s0 = its caller's frame pointer, a0..a7 and t2 = live: there is no call for the compiler here.
 * Out: the same, and t3 is changed.
 */
	.macro	save_arguments
	addi	sp, sp, -FREGS_SIZE
	.cfi_def_cfa_offset FREGS_SIZE
	sd	t3, S_X(28)(sp)
	sd	t0, S_RA(sp)
	.cfi_offset ra, S_RA - FREGS_SIZE
	sd	t2, S_T2(sp)
	sd	s0, S_S0(sp)
	.cfi_offset s0, S_S0 - FREGS_SIZE
	sd	a0, S_A(0)(sp)
	sd	a1, S_A(1)(sp)
	sd	a2, S_A(2)(sp)
	sd	a3, S_A(3)(sp)
	sd	a4, S_A(4)(sp)
	sd	a5, S_A(5)(sp)
	sd	a6, S_A(6)(sp)
	sd	a7, S_A(7)(sp)
	sd	ra, S_PC(sp)
	addi	t3, sp, FREGS_SIZE		/* sp at the site, behind the function's record */
	sd	t3, S_SP(sp)
	sd	t3, FREGS_RECORD(sp)
	sd	ra, FREGS_RECORD + 8(sp)
	.cfi_offset COLUMN_PC, FREGS_RECORD + 8 - FREGS_SIZE
	sd	s0, FREGS_CALLER(sp)
	sd	t0, FREGS_CALLER + 8(sp)
	.endm

/*
 * ftrace_regs_caller - called by a site that is on, for tracers that want all registers (C21)
 *
 * Registers: see save_arguments. s1..s11 are preserved by what is called from here, gp and tp by
 * everyone; t1 and t3..t6 are not live.
 */
SYM_FUNC_START(ftrace_regs_caller)
	.cfi_startproc
	unwind_entry
	save_arguments
	sd	gp, S_X(3)(sp)
	sd	tp, S_X(4)(sp)
	sd	t0, S_T0(sp)
	sd	t1, S_X(6)(sp)
	sd	s1, S_X(9)(sp)
	sd	s2, S_X(18)(sp)
	sd	s3, S_X(19)(sp)
	sd	s4, S_X(20)(sp)
	sd	s5, S_X(21)(sp)
	sd	s6, S_X(22)(sp)
	sd	s7, S_X(23)(sp)
	sd	s8, S_X(24)(sp)
	sd	s9, S_X(25)(sp)
	sd	s10, S_X(26)(sp)
	sd	s11, S_X(27)(sp)
	sd	t4, S_X(29)(sp)
	sd	t5, S_X(30)(sp)
	sd	t6, S_X(31)(sp)
	li	t3, SSTATUS_SPP
	sd	t3, S_STATUS(sp)
	j	ftrace_common
	.cfi_endproc
SYM_FUNC_END(ftrace_regs_caller)

/* ftrace_caller - called by a site that is on; registers: see save_arguments */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	unwind_entry
	save_arguments
	sd	zero, S_STATUS(sp)
	j	ftrace_common
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

/*
 * ftrace_common - the slot, and the way back, of both stubs
 *
 * In: the frame and the registers of save_arguments. The tracer gets (C2, C18): a0 = ip = rec->ip,
 * a1 = parent_ip = the traced function's return address, a2 = op = what function_trace_op points
 * to, a3 = fregs. Out: a0..a7, t2, s0 and ra out of fregs, and on at its pc (C19).
 */
SYM_FUNC_START(ftrace_common)
	.cfi_startproc
	unwind_entry
	unwind_frame
	addi	s0, sp, FREGS_CALLER		/* behind the stub's record */
	addi	a0, ra, -MCOUNT_INSN_SIZE
	mv	a1, t0
	ld	a2, function_trace_op
	mv	a3, sp

SYM_INNER_LABEL(ftrace_call)			/* nop or `jal tracer` (C10) */
	nop

	ld	a0, S_A(0)(sp)
	ld	a1, S_A(1)(sp)
	ld	a2, S_A(2)(sp)
	ld	a3, S_A(3)(sp)
	ld	a4, S_A(4)(sp)
	ld	a5, S_A(5)(sp)
	ld	a6, S_A(6)(sp)
	ld	a7, S_A(7)(sp)
	ld	t2, S_T2(sp)
	ld	s0, S_S0(sp)
	.cfi_same_value s0
	ld	t0, S_PC(sp)
	ld	ra, S_RA(sp)
	.cfi_same_value ra
	.cfi_register COLUMN_PC, t0
	addi	sp, sp, FREGS_SIZE
	.cfi_def_cfa_offset 0
	jr	t0
	.cfi_endproc
SYM_FUNC_END(ftrace_common)

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)
