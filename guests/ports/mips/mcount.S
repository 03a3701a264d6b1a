/* SPDX-License-Identifier: MIT */
/*
 * What a call site jumps to. gcc -pg writes, after a function's prologue,
 *
 *	o32	move $at, $ra; jal _mcount; addiu $sp, $sp, -8		(_mcount adds the 8 again)
 *	n64	move $at, $ra; jal _mcount; (any instruction)
 *
 * and with -mmcount-ra-address, before or in the delay slot, $12 = where $ra is stored, or 0.
 * Modules load _mcount's address into $v1 and use jalr (long_call.h). So on entry
 *
 *	$at	the caller of the traced function: goes back into $ra		(frompc)
 *	$ra	behind the call site, MCOUNT_INSN_SIZE from the jal or jalr	(selfpc)
 *	$v0	the static chain of a nested function
 *	$a0-$a3 (o32), $a0-$a7 (n64), $f12 and up: arguments of the traced function
 *
 * and everything else that a call may destroy is free, except floating point, which the kernel
 * does not use (C1).
 *
 * Dynamic: _mcount and ftrace_caller are one address behind a gate of two words, `j ftrace_stub;
 * nop` (M5). Whoever switches tracing on first puts `jal tracer` into the slot at ftrace_call
 * (C10) or `j ftrace_graph_caller` into the one at ftrace_graph_call (C11), then a nop over the
 * gate's j. Call sites look the same whether the gate is open or closed (C8).
 *
 * Static: _mcount looks at the pointers to the tracers instead (C3, C4).
 */
#include <asm/asm.h>
#include <asm/ftrace.h>

	.set	noreorder
	.set	noat

/* Frame: $ra $at $v0, the arguments, $12, ip; on o32 above the 16 bytes that the tracer owns. */
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
#define SITE_STACK	8			/* what the site's delay slot took from $sp */
#endif
#define SAVED_RA	SAVED(0)
#define SAVED_AT	SAVED(1)

/* What a long call has in front of its jalr at least; on n64 what sets $12 is in the delay slot. */
#if defined(KBUILD_MCOUNT_RA_ADDRESS) && _MIPS_SIM == _ABIO32
#define SHORTEST_LOAD	16			/* lui, addiu, move at,ra, move $12,zero */
#else
#define SHORTEST_LOAD	12			/* lui, addiu or daddiu, move at,ra */
#endif

/* From the return address to the byte with the call's opcode: 3 of a jal, 0 of the jalr $v1. */
#ifdef __MIPSEB__
#define CALL_OPCODE	-MCOUNT_INSN_SIZE
#else
#define CALL_OPCODE	(3 - MCOUNT_INSN_SIZE)
#endif

/* From an instruction to its upper half, and what a long call has there: lui v1, or off a branch. */
#ifdef __MIPSEB__
#define UPPER_HALF	0
#else
#define UPPER_HALF	2
#endif
#define UPPER_LUI_V1	0x3c03
#define UPPER_BRANCH	0x1000

	.macro	for_each_saved operation
	\operation $2, SAVED(2)($sp)
	\operation $4, SAVED(3)($sp)
	\operation $5, SAVED(4)($sp)
	\operation $6, SAVED(5)($sp)
	\operation $7, SAVED(6)($sp)
#if _MIPS_SIM == _ABI64
	\operation $8, SAVED(7)($sp)
	\operation $9, SAVED(8)($sp)
	\operation $10, SAVED(9)($sp)
	\operation $11, SAVED(10)($sp)
#endif
	.endm

	.macro	save_all
	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	LONG_S	$ra, SAVED_RA($sp)
	LONG_S	$at, SAVED_AT($sp)
	for_each_saved LONG_S
#if defined(KBUILD_MCOUNT_RA_ADDRESS) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
	LONG_S	$12, SAVED_12($sp)		/* the function tracer comes first and may use it */
#endif
	.endm

	/* In: $25 = the saved $ra. C9: the 8 that the site's delay slot took go with the frame. */
	.macro	restore_all_and_return
	LONG_L	$ra, SAVED_AT($sp)
	for_each_saved LONG_L
	jr	$25
	 LONG_ADDIU $sp, $sp, FRAME_SIZE + SITE_STACK
	.endm

	/*
	 * C2, M2c: save everything; $a0 and SAVED_IP = the jal, or the first word of a long call, which
	 * is looked for backwards from the jalr: nothing in between looks like it. Uses $3.
	 */
	.macro	save_all_and_site
	lbu	$3, CALL_OPCODE($ra)
	save_all
	bnez	$3, 2f
	 LONG_ADDIU $a0, $ra, -MCOUNT_INSN_SIZE
	lhu	$3, UPPER_HALF - SHORTEST_LOAD($a0)
	LONG_ADDIU $a0, $a0, 4 - SHORTEST_LOAD
1:	LONG_ADDIU $a0, $a0, -4
	xori	$3, $3, UPPER_LUI_V1
	beqz	$3, 2f
	 xori	$3, $3, UPPER_LUI_V1 ^ UPPER_BRANCH
	bnez	$3, 1b
	 lhu	$3, UPPER_HALF - 4($a0)
2:
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	LONG_S	$a0, SAVED_IP($sp)
#endif
	.endm

	.text
SYM_FUNC_START(_mcount)
#ifdef CONFIG_DYNAMIC_FTRACE
SYM_INNER_LABEL(ftrace_caller)
	j	ftrace_stub			/* C3: at once, if there is nothing to do */
	 nop

	save_all_and_site			/* C2: $a0 = ip, */
SYM_INNER_LABEL(ftrace_call)
	nop					/* C10: jal tracer */
	 move	$a1, $at			/* C2: and parent_ip, in its delay slot */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)
	nop					/* C11: j ftrace_graph_caller */
#endif
	 LONG_L	$25, SAVED_RA($sp)
	restore_all_and_return
#else
	/* C3, C4: free are $v1, $t9 and the temporaries that neither ABI gives another meaning. */
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	lw	$3, function_trace_stop
	bnez	$3, ftrace_stub
	 nop
#endif
	LONG_L	$25, ftrace_trace_function
	la	$24, ftrace_stub
	bne	$25, $24, function_trace
	 nop
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	LONG_L	$3, ftrace_graph_return
	bne	$3, $24, ftrace_graph_caller
	 nop
	LONG_L	$3, ftrace_graph_entry
	la	$24, ftrace_graph_entry_stub
	bne	$3, $24, ftrace_graph_caller
	 nop
#endif
	b	ftrace_stub
	 nop

function_trace:
	save_all_and_site			/* C2: $a0 = ip, */
	jalr	$25
	 move	$a1, $at			/* C2: and parent_ip */
	LONG_L	$25, SAVED_RA($sp)
	restore_all_and_return
#endif

SYM_INNER_LABEL(ftrace_stub)
#if _MIPS_SIM == _ABIO32
	addiu	$sp, $sp, SITE_STACK		/* C9: what the site's delay slot took */
#endif
	jr	$ra
	 move	$ra, $at
SYM_FUNC_END(_mcount)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/*
 * C4: four arguments for prepare_ftrace_return(): where the caller's address is saved here, the
 * call site, the traced function's $sp, and $12. From the slot in ftrace_caller it comes with
 * everything saved.
 */
SYM_FUNC_START(ftrace_graph_caller)
#ifndef CONFIG_DYNAMIC_FTRACE
	save_all_and_site
#endif
	LONG_ADDIU $a0, $sp, SAVED_AT
	LONG_L	$a1, SAVED_IP($sp)
#ifdef KBUILD_MCOUNT_RA_ADDRESS
	LONG_L	$a3, SAVED_12($sp)
#endif
	jal	prepare_ftrace_return
	 LONG_ADDIU $a2, $sp, FRAME_SIZE + SITE_STACK
	LONG_L	$25, SAVED_RA($sp)
	restore_all_and_return			/* with $at as prepare_ftrace_return() left it */
SYM_FUNC_END(ftrace_graph_caller)

/*
 * C5: a hijacked function comes here with its frame gone and its result in $v0, $v1, $f0, $f2 (on
 * o32 sdc1 takes the odd halves along). $sp is what it was when the function was entered, and on
 * o32 the 16 bytes above it are the caller's: all that is stored lies below. The site's call of
 * _mcount does not count here: there is no 8 to give back.
 */
#if _MIPS_SIM == _ABI64
#define RETURN_SAVED(n)		((n) * 8)
#else
#define RETURN_SAVED(n)		(16 + (n) * 8)
#endif
#define RETURN_FRAME_SIZE	48

SYM_FUNC_START(return_to_handler)
	LONG_ADDIU $sp, $sp, -RETURN_FRAME_SIZE
	LONG_S	$2, RETURN_SAVED(0)($sp)
	LONG_S	$3, RETURN_SAVED(1)($sp)
	sdc1	$f0, RETURN_SAVED(2)($sp)
	sdc1	$f2, RETURN_SAVED(3)($sp)
	jal	ftrace_return_to_handler
	 LONG_ADDIU $a0, $sp, RETURN_FRAME_SIZE	/* C6: what prepare_ftrace_return() worked out */
	move	$ra, $2
	LONG_L	$2, RETURN_SAVED(0)($sp)
	LONG_L	$3, RETURN_SAVED(1)($sp)
	ldc1	$f0, RETURN_SAVED(2)($sp)
	ldc1	$f2, RETURN_SAVED(3)($sp)
	jr	$ra
	 LONG_ADDIU $sp, $sp, RETURN_FRAME_SIZE
SYM_FUNC_END(return_to_handler)

#endif
