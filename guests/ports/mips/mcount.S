/* SPDX-License-Identifier: MIT */
/*
 * What a call site jumps to. gcc -pg writes, after a function's prologue,
 *
 *	o32	move $at, $ra; jal _mcount; addiu $sp, $sp, -8		(_mcount adds the 8 again)
 *	n64	move $at, $ra; jal _mcount; (any instruction)
 *
 * and with -mmcount-ra-address, before or in the delay slot, $12 = where $ra is stored, or 0. So
 * on entry
 *
 *	$at	the caller of the traced function: goes back into $ra		(frompc)
 *	$ra	behind the call site, MCOUNT_INSN_SIZE from the jal		(selfpc)
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

/* Frame: $ra $at $v0, the arguments, $12; on o32 above the 16 bytes that the tracer owns. */
#if _MIPS_SIM == _ABI64
#define SAVED(n)	((n) * SZREG)
#define SAVED_12	SAVED(11)
#define FRAME_SIZE	96			/* 12 registers, 16-byte aligned */
#define SITE_STACK	0
#else
#define SAVED(n)	(16 + (n) * SZREG)
#define SAVED_12	SAVED(7)
#define FRAME_SIZE	48			/* 8 registers, 8-byte aligned */
#define SITE_STACK	8			/* what the site's delay slot took from $sp */
#endif
#define SAVED_RA	SAVED(0)
#define SAVED_AT	SAVED(1)

	.macro	for_each_saved operation
	\operation $ra, SAVED_RA($sp)
	\operation $at, SAVED_AT($sp)
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
	for_each_saved LONG_S
#if defined(KBUILD_MCOUNT_RA_ADDRESS) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
	LONG_S	$12, SAVED_12($sp)		/* the function tracer comes first and may use it */
#endif
	.endm

	.macro	restore_all
	for_each_saved LONG_L
	LONG_ADDIU $sp, $sp, FRAME_SIZE
	.endm

	.text
SYM_FUNC_START(_mcount)
#ifdef CONFIG_DYNAMIC_FTRACE
SYM_INNER_LABEL(ftrace_caller)
	j	ftrace_stub			/* C3: at once, if there is nothing to do */
	 nop

	save_all
	LONG_ADDIU $a0, $ra, -MCOUNT_INSN_SIZE	/* C2: ip, the jal itself, */
SYM_INNER_LABEL(ftrace_call)
	nop					/* C10: jal tracer */
	 move	$a1, $at			/* C2: and parent_ip, in its delay slot */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)
	nop					/* C11: j ftrace_graph_caller */
	 nop
#endif
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
	save_all
	LONG_ADDIU $a0, $ra, -MCOUNT_INSN_SIZE	/* C2: ip, the jal itself, */
	jalr	$25
	 move	$a1, $at			/* C2: and parent_ip */
#endif

.Lrestore:
	restore_all
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
	save_all
#endif
	LONG_L	$a1, SAVED_RA($sp)
	LONG_ADDIU $a0, $sp, SAVED_AT
#ifdef KBUILD_MCOUNT_RA_ADDRESS
	LONG_L	$a3, SAVED_12($sp)
#endif
	LONG_ADDIU $a1, $a1, -MCOUNT_INSN_SIZE
	jal	prepare_ftrace_return
	 LONG_ADDIU $a2, $sp, FRAME_SIZE + SITE_STACK
	b	.Lrestore			/* with $at as prepare_ftrace_return() left it */
	 nop
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
