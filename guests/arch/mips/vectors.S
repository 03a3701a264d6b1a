/* SPDX-License-Identifier: MIT */
/*
 * Exception vectors, and the handler of fatal exceptions: all registers are saved in a struct
 * pt_regs on a separate stack, because the current one may be invalid, and do_exception() prints
 * them.
 *
 * Only k0 and k1 are free until entry.S has saved the registers.
 */
#include <linux/threads.h>

#include <asm/stackframe.h>

#define EXCEPTION_STACK_SHIFT 14

	.set	noreorder
	.set	noat

	/* EBase takes multiples of 4 KiB; the offsets are the architecture's. */
	.section .entry.text, "ax"
	.balign	0x1000
SYM_FUNC_START(exception_vectors)
	.org	0x000		/* TLB refill */
	b	exception_entry
	 mfc0	$k0, CP0_CAUSE
	.org	0x080		/* 64-bit TLB refill */
	b	exception_entry
	 mfc0	$k0, CP0_CAUSE
	.org	0x100		/* cache error */
	b	fatal_exception
	 nop
	.org	0x180		/* all others */
	b	exception_entry
	 mfc0	$k0, CP0_CAUSE
	.org	0x200		/* interrupt, when Cause.IV is set, which it is not */
	b	exception_entry
	 mfc0	$k0, CP0_CAUSE
SYM_FUNC_END(exception_vectors)

/* k0: Cause. Interrupts and exceptions from user mode go to entry.S, with k1 = Status. */
SYM_FUNC_START(exception_entry)
	mfc0	$k1, CP0_STATUS
	andi	$k0, $k0, CAUSE_EXCCODE
	beqz	$k0, interrupt_entry
	 andi	$k1, $k1, ST0_UM
	bnez	$k1, user_exception_entry
	 nop
	b	fatal_exception
	 nop
SYM_FUNC_END(exception_entry)

/*
 * k0: the interrupted sp; sp: this CPU's end of fatal_exception_stacks, less a frame. A second
 * fault uses it again, because the first one never returns.
 */
	.cfi_sections .eh_frame
SYM_FUNC_START(fatal_exception)
	unwind_pt_regs
	mfc0	$k1, CP0_EBASE
	ext	$k1, $k1, 0, EBASE_CPU_BITS
	addiu	$k1, $k1, 1
	sll	$k1, $k1, EXCEPTION_STACK_SHIFT
	move	$k0, $sp
	LONG_LA	$sp, fatal_exception_stacks - FRAME_SIZE
	LONG_ADDU $sp, $sp, $k1
	LONG_S	$k0, FRAME(PT_R(29))($sp)
	LONG_S	$gp, FRAME(PT_R(28))($sp)
	save_registers
	jal	do_exception		/* does not return, but gdb looks up the unwind */
	 LONG_ADDIU $a0, $sp, FRAME_REGS	/* information of this address */
	b	.
	 nop
	.cfi_endproc
SYM_FUNC_END(fatal_exception)

	.bss
	.balign	16
fatal_exception_stacks:
	.space	NR_CPUS << EXCEPTION_STACK_SHIFT
