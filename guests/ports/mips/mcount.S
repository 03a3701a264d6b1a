/* SPDX-License-Identifier: MIT */
/*
 * The stubs, which call sites call. gcc -pg emits, after a function's prologue,
 *
 *	o32	move $at, $ra; jal _mcount; addiu $sp, $sp, -8		(_mcount adds the 8 again)
 *	n64	move $at, $ra; jal _mcount; (any instruction)
 *
 * and with -mmcount-ra-address, before or in the delay slot, $12 = the address of the stored $ra,
 * or 0. Modules load _mcount's address into $v1 and use jalr (long_call.h). So on entry
 *
 *	$at	the traced function's return address, to be restored to $ra	(frompc)
 *	$ra	after the call site, MCOUNT_INSN_SIZE from the jal or jalr	(selfpc)
 *	$v0	the static chain of a nested function
 *	$a0-$a3 (o32), $a0-$a7 (n64), $f12 and up: arguments of the traced function
 *
 * and all other caller-saved registers are free, except floating-point registers, which the kernel
 * does not use (C1).
 *
 * Dynamic: _mcount and ftrace_caller are one address, which begins with a gate of two words,
 * `j ftrace_stub; nop` (M5). To switch tracing on, the port first writes `jal tracer` into the slot
 * at ftrace_call (C10) or `j ftrace_graph_caller` into the one at ftrace_graph_call (C11), then a
 * nop over the gate's j. Call sites are the same with an open and a closed gate (C8).
 *
 * Static: _mcount tests the pointers to the tracers instead (C3, C4).
 *
 * $12 is $t4 on o32 and $t0 on n64; gcc's manual calls it $12.
 */
#include <asm/asm.h>
#include <asm/ftrace.h>
#include <asm/ptrace.h>

	.set	noreorder
	.set	noat

/* Frame: $ra $at $v0, the arguments, $12, ip; on o32 above the tracer's home area of 16 bytes. */
#if _MIPS_SIM == _ABI64
#define SAVED(n)	((n) * SZREG)
#define SAVED_12	SAVED(11)
#define SAVED_IP	SAVED(12)
#define FRAME_SIZE	112			/* 13 registers, 16-byte aligned */
#define SITE_STACK	0
#else
#define SAVED(n)	(16 + (n) * SZREG)
#define SAVED_12	SAVED(7)
#define SAVED_IP	SAVED(8)
#define FRAME_SIZE	56			/* 9 registers, 8-byte aligned */
#define SITE_STACK	8			/* subtracted from $sp in the site's delay slot */
#endif
#define SAVED_RA	SAVED(0)
#define SAVED_AT	SAVED(1)

/* The least bytes of a long call before its jalr; on n64 $12 is set in the delay slot. */
#if defined(KBUILD_MCOUNT_RA_ADDRESS) && _MIPS_SIM == _ABIO32
#define SHORTEST_LOAD	16			/* lui, addiu, move at,ra, move $12,zero */
#else
#define SHORTEST_LOAD	12			/* lui, addiu or daddiu, move at,ra */
#endif

/* From the return address to the byte with the call's opcode: 3 for a jal, 0 for jalr $v1. */
#ifdef __MIPSEB__
#define CALL_OPCODE	-MCOUNT_INSN_SIZE
#else
#define CALL_OPCODE	(3 - MCOUNT_INSN_SIZE)
#endif

/* From an instruction to its upper half, and its values in a long call: lui v1, or b when off. */
#ifdef __MIPSEB__
#define UPPER_HALF	0
#else
#define UPPER_HALF	2
#endif
#define UPPER_LUI_V1	0x3c03
#define UPPER_BRANCH	0x1000

	.macro	for_each_saved operation
	\operation $v0, SAVED(2)($sp)
	\operation $a0, SAVED(3)($sp)
	\operation $a1, SAVED(4)($sp)
	\operation $a2, SAVED(5)($sp)
	\operation $a3, SAVED(6)($sp)
#if _MIPS_SIM == _ABI64
	\operation $a4, SAVED(7)($sp)
	\operation $a5, SAVED(8)($sp)
	\operation $a6, SAVED(9)($sp)
	\operation $a7, SAVED(10)($sp)
#endif
	.endm

	.macro	save_all
	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	LONG_S	$ra, SAVED_RA($sp)
	.cfi_rel_offset DWARF_PC, SAVED_RA
	LONG_S	$at, SAVED_AT($sp)
	.cfi_rel_offset $ra, SAVED_AT
	for_each_saved LONG_S
#if defined(KBUILD_MCOUNT_RA_ADDRESS) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
	LONG_S	$12, SAVED_12($sp)		/* the function tracer may change it before */
#endif
	.endm

	/* In: $t9 = the saved $ra. C9: releases the 8 bytes of the site's delay slot too. */
	.macro	restore_all_and_return
	LONG_L	$ra, SAVED_AT($sp)
	.cfi_same_value $ra
	for_each_saved LONG_L
	jr	$t9
	 LONG_ADDIU $sp, $sp, FRAME_SIZE + SITE_STACK
	.endm

/*
 * The site of a call (M2c): $a0 and SAVED_IP = the jal, or the first word of a long call. In: $ra,
 * and $v1 = the byte with the call's opcode, which is 3 for a jal. A long call may have other
 * instructions between its first word and the jalr, so the first word is searched backwards,
 * beginning with the shortest long call: `lui v1`, or the branch that switches it off. The words in
 * between are neither. $v1 = the upper half of a word, xor the value it is compared with.
 *
 * A macro and not a function: a function would need its return address in another register than
 * $ra, and so one more instruction at the jal of every kernel site. A dynamic stub expands it once.
 */
	.macro	find_site
	bnez	$v1, 2f
	 LONG_ADDIU $a0, $ra, -MCOUNT_INSN_SIZE
	lhu	$v1, UPPER_HALF - SHORTEST_LOAD($a0)
	LONG_ADDIU $a0, $a0, 4 - SHORTEST_LOAD
1:	LONG_ADDIU $a0, $a0, -4
	xori	$v1, $v1, UPPER_LUI_V1
	beqz	$v1, 2f
	 xori	$v1, $v1, UPPER_LUI_V1 ^ UPPER_BRANCH
	bnez	$v1, 1b
	 lhu	$v1, UPPER_HALF - 4($a0)
2:
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	LONG_S	$a0, SAVED_IP($sp)
#endif
	.endm

	/* C4: branch if either pointer of the graph tracer is set. In: $t8 = ftrace_stub. */
	.macro	branch_if_graph there
	LONG_L	$v1, ftrace_graph_return
	bne	$v1, $t8, \there
	 nop
	LONG_L	$v1, ftrace_graph_entry
	la	$t8, ftrace_graph_entry_stub
	bne	$v1, $t8, \there
	 nop
	.endm

/*
 * Unwind information, for stack traces and for gdb. A stub has two return addresses: its own in
 * $ra, and the traced function's in $at, which will be in $ra when the stub returns. So its own is
 * in the column for the pc of an interrupt. The site's delay slot has already allocated its part of
 * the frame.
 */
	.macro	unwind_entry
	.cfi_startproc
	.cfi_return_column DWARF_PC
	.cfi_def_cfa $sp, SITE_STACK
	.cfi_register DWARF_PC, $ra
	.cfi_register $ra, $at
	.endm

	/* With the frame of save_all. */
	.macro	unwind_frame
	.cfi_startproc
	.cfi_return_column DWARF_PC
	.cfi_def_cfa $sp, FRAME_SIZE + SITE_STACK
	.cfi_rel_offset DWARF_PC, SAVED_RA
	.cfi_rel_offset $ra, SAVED_AT
	.endm

	.cfi_sections .eh_frame
	.text
SYM_FUNC_START(_mcount)
	unwind_entry
#ifdef CONFIG_DYNAMIC_FTRACE
SYM_INNER_LABEL(ftrace_caller)
	j	ftrace_stub			/* C3: return at once without a tracer */
	 nop

	.cfi_remember_state
	lbu	$v1, CALL_OPCODE($ra)
	save_all
	find_site				/* C2: $a0 = ip, */
SYM_INNER_LABEL(ftrace_call)
	nop					/* C10: jal tracer */
	 move	$a1, $at			/* C2: and parent_ip, in its delay slot */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)
	nop					/* C11: j ftrace_graph_caller */
#endif
	 LONG_L	$t9, SAVED_RA($sp)
	restore_all_and_return
#else
	/* C3, C4: $v1, $t9 and the temporaries without another use in either ABI are free. */
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	lw	$v1, function_trace_stop
	bnez	$v1, ftrace_stub
	 nop
#endif
	LONG_L	$t9, ftrace_trace_function
	la	$t8, ftrace_stub
	bne	$t9, $t8, function_trace
	 nop
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	branch_if_graph ftrace_graph_caller
#endif
	b	ftrace_stub
	 nop

function_trace:
	.cfi_remember_state
	lbu	$v1, CALL_OPCODE($ra)
	save_all
	find_site				/* C2: $a0 = ip, */
	jalr	$t9
	 move	$a1, $at			/* C2: and parent_ip */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	la	$t8, ftrace_stub
	branch_if_graph 3f			/* C4: both tracers may be on */
#endif
	LONG_L	$t9, SAVED_RA($sp)
	restore_all_and_return
#endif

	.cfi_restore_state
SYM_INNER_LABEL(ftrace_stub)
#if _MIPS_SIM == _ABIO32
	addiu	$sp, $sp, SITE_STACK		/* C9: subtracted in the site's delay slot */
	.cfi_def_cfa_offset 0
#endif
	jr	$ra
	 move	$ra, $at
	.cfi_endproc
SYM_FUNC_END(_mcount)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/*
 * C4: four arguments for prepare_ftrace_return(): the address of the saved $at, the call site, the
 * traced function's $sp, and $12. The slot in ftrace_caller jumps here with all registers saved.
 */
SYM_FUNC_START(ftrace_graph_caller)
#ifdef CONFIG_DYNAMIC_FTRACE
	unwind_frame
#else
	unwind_entry
	lbu	$v1, CALL_OPCODE($ra)
	save_all
	find_site
3:						/* from function_trace, with all registers saved */
#endif
	LONG_ADDIU $a0, $sp, SAVED_AT
	LONG_L	$a1, SAVED_IP($sp)
#ifdef KBUILD_MCOUNT_RA_ADDRESS
	LONG_L	$a3, SAVED_12($sp)
#endif
	jal	prepare_ftrace_return
	 LONG_ADDIU $a2, $sp, FRAME_SIZE + SITE_STACK
	LONG_L	$t9, SAVED_RA($sp)
	restore_all_and_return			/* with $at as changed by prepare_ftrace_return() */
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)

/*
 * C5: a hijacked function returns here, with its frame released and its result in $v0, $v1, $f0,
 * $f2 (on o32 sdc1 also stores the odd halves). $sp is its value at the function's entry, and on
 * o32 the 16 bytes above it are the caller's: everything is stored below. No delay slot has
 * subtracted 8 here.
 */
#if _MIPS_SIM == _ABI64
#define RETURN_SAVED(n)		((n) * 8)
#else
#define RETURN_SAVED(n)		(16 + (n) * 8)
#endif
#define RETURN_FRAME_SIZE	48

SYM_FUNC_START(return_to_handler)
	.cfi_startproc
	.cfi_undefined $ra			/* in the thread's ret_stack until the call below */
	LONG_ADDIU $sp, $sp, -RETURN_FRAME_SIZE
	.cfi_def_cfa_offset RETURN_FRAME_SIZE
	LONG_S	$v0, RETURN_SAVED(0)($sp)
	LONG_S	$v1, RETURN_SAVED(1)($sp)
	sdc1	$f0, RETURN_SAVED(2)($sp)
	sdc1	$f2, RETURN_SAVED(3)($sp)
	jal	ftrace_return_to_handler
	 LONG_ADDIU $a0, $sp, RETURN_FRAME_SIZE	/* C6: the value from prepare_ftrace_return() */
	.cfi_register $ra, $v0
	move	$ra, $v0
	.cfi_same_value $ra
	LONG_L	$v0, RETURN_SAVED(0)($sp)
	LONG_L	$v1, RETURN_SAVED(1)($sp)
	ldc1	$f0, RETURN_SAVED(2)($sp)
	ldc1	$f2, RETURN_SAVED(3)($sp)
	jr	$ra
	 LONG_ADDIU $sp, $sp, RETURN_FRAME_SIZE
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
