/* SPDX-License-Identifier: MIT */
/*
 * Kernel entry and exit: interrupts, system calls, and other exceptions from user mode.
 * exception_entry has put Status.UM into k1.
 *
 * The registers are saved in a struct pt_regs: below sp on the stack of the interrupted thread, or,
 * from user mode, at the end of its kernel stack. User mode does not have the kernel's $gp, so on
 * return to user mode this CPU's entry of user_return saves $gp and the end of the stack.
 */
#include <linux/threads.h>

#include <asm/stackframe.h>

	.set	noreorder

/* k1: this CPU's entry of user_return: the thread, and the end of its kernel stack. */
	.macro	this_user_return
	mfc0	$k1, CP0_EBASE
	ext	$k1, $k1, 0, EBASE_CPU_BITS
	sll	$k1, $k1, LONG_SHIFT + 1
	LONG_LA	$k0, user_return
	LONG_ADDU $k1, $k1, $k0
	.endm

/* sp, gp: the kernel's, with those of user mode saved; k0, k1 free. */
	.macro	save_user
	.set	push
	.set	noat
	this_user_return
	move	$k0, $sp
	LONG_L	$sp, SZREG($k1)
	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	LONG_S	$k0, FRAME(PT_R(29))($sp)
	LONG_S	$gp, FRAME(PT_R(28))($sp)
	LONG_L	$gp, 0($k1)
	save_registers
	.set	pop
	.endm

	.section .entry.text, "ax"

	.cfi_sections .eh_frame

SYM_FUNC_START(interrupt_entry)
	unwind_pt_regs
	beqz	$k1, 1f
	 move	$k0, $sp
	save_user
	b	2f
	 nop
1:	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	LONG_S	$k0, FRAME(PT_R(29))($sp)
	LONG_S	$gp, FRAME(PT_R(28))($sp)
	save_registers
2:	jal	handle_interrupt
	 LONG_ADDIU $a0, $sp, FRAME_REGS
SYM_INNER_LABEL(interrupt_return)
	LONG_L	$k0, FRAME(PT_STATUS)($sp)
	andi	$k0, $k0, ST0_UM
	bnez	$k0, return_to_user
	 nop
	restore_registers_and_return interrupt_exit
	.cfi_endproc
SYM_FUNC_END(interrupt_entry)

/* handle_user_exception() returns from system calls, to what follows. */
SYM_FUNC_START(user_exception_entry)
	save_user
	jal	handle_user_exception
	 LONG_ADDIU $a0, $sp, FRAME_REGS
SYM_FUNC_END(user_exception_entry)

/* sp: the struct pt_regs to return with; interrupts are masked. */
SYM_FUNC_START(return_to_user)
	this_user_return
	LONG_S	$gp, 0($k1)
	LONG_ADDIU $k0, $sp, FRAME_SIZE
	LONG_S	$k0, SZREG($k1)
	restore_registers_and_return
SYM_FUNC_END(return_to_user)

/*
 * void arch_enter_user(unsigned long entry, unsigned long sp);		a0, a1
 *
 * Enter user mode for the first time, with all registers 0 except t9, the entry. The frame for the
 * return replaces the contents of the current stack; t0 is Status.
 */
SYM_FUNC_START(arch_enter_user)
	di
	ehb
	LONG_L	$sp, THREAD_STACK_END($gp)
	LONG_ADDIU $sp, $sp, -FRAME_SIZE
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 26, 27, 28, 30, 31
	LONG_S	$0, FRAME(PT_R(\n))($sp)
	.endr
	LONG_S	$0, FRAME(PT_LO)($sp)
	LONG_S	$0, FRAME(PT_HI)($sp)
	LONG_S	$a0, FRAME(PT_EPC)($sp)
	LONG_S	$a0, FRAME(PT_R(25))($sp)
	LONG_ADDIU $a1, $a1, -32		/* o32 callees own 16 bytes above sp */
	LONG_S	$a1, FRAME(PT_R(29))($sp)
	mfc0	$t0, CP0_STATUS
	ori	$t0, $t0, ST0_UM | ST0_EXL | ST0_IE
	b	return_to_user
	 LONG_S	$t0, FRAME(PT_STATUS)($sp)
SYM_FUNC_END(arch_enter_user)
