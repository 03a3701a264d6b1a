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
 * _mcount and ftrace_caller are one address behind a gate of two words, `j ftrace_stub; nop` (M5).
 * Whoever switches tracing on first puts `jal tracer` into the slot at ftrace_call (C10), then a
 * nop over the gate's j. Call sites look the same whether the gate is open or closed (C8).
 */
#include <asm/asm.h>
#include <asm/ftrace.h>

	.set	noreorder
	.set	noat

/* Frame: $ra $at $v0 and the arguments; on o32 above the 16 bytes that the tracer owns. */
#if _MIPS_SIM == _ABI64
#define SAVED(n)	((n) * SZREG)
#define FRAME_SIZE	96			/* 11 registers, 16-byte aligned */
#else
#define SAVED(n)	(16 + (n) * SZREG)
#define FRAME_SIZE	48			/* 7 registers, 8-byte aligned */
#endif

	.macro	for_each_saved operation
	\operation $ra, SAVED(0)($sp)
	\operation $at, SAVED(1)($sp)
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

	.text
SYM_FUNC_START(_mcount)
SYM_INNER_LABEL(ftrace_caller)
	j	ftrace_stub			/* C3: at once, if there is nothing to do */
	 nop

	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	for_each_saved LONG_S
	LONG_ADDIU $a0, $ra, -MCOUNT_INSN_SIZE	/* C2: ip, the jal itself, */
SYM_INNER_LABEL(ftrace_call)
	nop					/* C10: jal tracer */
	 move	$a1, $at			/* C2: and parent_ip, in its delay slot */
	for_each_saved LONG_L
	LONG_ADDIU $sp, $sp, FRAME_SIZE

SYM_INNER_LABEL(ftrace_stub)
#if _MIPS_SIM == _ABIO32
	addiu	$sp, $sp, 8			/* C9: what the site's delay slot took */
#endif
	jr	$ra
	 move	$ra, $at
SYM_FUNC_END(_mcount)
