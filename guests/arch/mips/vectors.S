/* SPDX-License-Identifier: MIT */
/*
 * Exception vectors. Every exception is fatal: the whole CPU goes into a struct pt_regs on a stack
 * of its own, for the one in use may be what broke, and do_exception() prints it.
 */
#include <asm/asm.h>
#include <asm/mipsregs.h>
#include <asm/ptrace.h>

#define EXCEPTION_STACK_SIZE 0x4000

	.set	noreorder
	.set	noat

	/* EBase takes multiples of 4 KiB; the offsets are the architecture's. */
	.section .head.text, "ax"
	.balign	0x1000
SYM_FUNC_START(exception_vectors)
	.org	0x000		/* TLB refill */
	b	exception_entry
	 nop
	.org	0x080		/* 64-bit TLB refill */
	b	exception_entry
	 nop
	.org	0x100		/* cache error */
	b	exception_entry
	 nop
	.org	0x180		/* all others */
	b	exception_entry
	 nop
	.org	0x200		/* interrupt, when Cause.IV is set */
	b	exception_entry
	 nop
SYM_FUNC_END(exception_vectors)

	.text
/*
 * k0 is the struct pt_regs; k1 goes between coprocessor and memory. All other registers are the
 * interrupted code's until they are saved.
 */
SYM_FUNC_START(exception_entry)
	la	$k0, exception_stack_end - PT_SIZE
	LONG_S	$0, PT_R(0)($k0)
	LONG_S	$1, PT_R(1)($k0)
	LONG_S	$2, PT_R(2)($k0)
	LONG_S	$3, PT_R(3)($k0)
	LONG_S	$4, PT_R(4)($k0)
	LONG_S	$5, PT_R(5)($k0)
	LONG_S	$6, PT_R(6)($k0)
	LONG_S	$7, PT_R(7)($k0)
	LONG_S	$8, PT_R(8)($k0)
	LONG_S	$9, PT_R(9)($k0)
	LONG_S	$10, PT_R(10)($k0)
	LONG_S	$11, PT_R(11)($k0)
	LONG_S	$12, PT_R(12)($k0)
	LONG_S	$13, PT_R(13)($k0)
	LONG_S	$14, PT_R(14)($k0)
	LONG_S	$15, PT_R(15)($k0)
	LONG_S	$16, PT_R(16)($k0)
	LONG_S	$17, PT_R(17)($k0)
	LONG_S	$18, PT_R(18)($k0)
	LONG_S	$19, PT_R(19)($k0)
	LONG_S	$20, PT_R(20)($k0)
	LONG_S	$21, PT_R(21)($k0)
	LONG_S	$22, PT_R(22)($k0)
	LONG_S	$23, PT_R(23)($k0)
	LONG_S	$24, PT_R(24)($k0)
	LONG_S	$25, PT_R(25)($k0)
	LONG_S	$0, PT_R(26)($k0)
	LONG_S	$0, PT_R(27)($k0)
	LONG_S	$28, PT_R(28)($k0)
	LONG_S	$29, PT_R(29)($k0)
	LONG_S	$30, PT_R(30)($k0)
	LONG_S	$31, PT_R(31)($k0)
	mflo	$k1
	LONG_S	$k1, PT_LO($k0)
	mfhi	$k1
	LONG_S	$k1, PT_HI($k0)
	LONG_MFC0 $k1, CP0_EPC
	LONG_S	$k1, PT_EPC($k0)
	LONG_MFC0 $k1, CP0_BADVADDR
	LONG_S	$k1, PT_BADVADDR($k0)
	mfc0	$k1, CP0_STATUS
	LONG_S	$k1, PT_STATUS($k0)
	mfc0	$k1, CP0_CAUSE
	LONG_S	$k1, PT_CAUSE($k0)

	/* Out of exception mode, interrupts still masked: a second fault is to come here as well. */
	mfc0	$k1, CP0_STATUS
	ins	$k1, $zero, 0, 5
	mtc0	$k1, CP0_STATUS
	ehb
	move	$a0, $k0
	jal	do_exception
	 LONG_ADDIU $sp, $k0, -32
SYM_FUNC_END(exception_entry)

	.bss
	.balign	16
	.space	EXCEPTION_STACK_SIZE
exception_stack_end:
