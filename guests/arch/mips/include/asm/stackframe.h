/* SPDX-License-Identifier: MIT */
#ifndef _ASM_STACKFRAME_H
#define _ASM_STACKFRAME_H

/*
 * For assembler files: a struct pt_regs on a stack. $sp points to the argument area of o32 callees,
 * with room for the fifth and sixth argument; the registers are above it.
 */
#include <asm/asm.h>
#include <asm/mipsregs.h>
#include <asm/ptrace.h>

#if _MIPS_SIM == _ABI64
#define FRAME_REGS	0
#else
#define FRAME_REGS	24
#endif
#define FRAME_SIZE	(FRAME_REGS + PT_SIZE)
#define FRAME(offset)	(FRAME_REGS + (offset))

	.macro	for_each_general operation
	.irp	n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, \
		24, 25, 30, 31
	\operation $\n, FRAME(PT_R(\n))($sp)
	.endr
	.endm

/*
 * Begins the unwind information of a function that has saved the registers, for stack traces and
 * gdb: the caller of a function called from there is the interrupted code in struct pt_regs.
 */
	.macro	unwind_pt_regs
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	.cfi_def_cfa $29, FRAME_SIZE
	.cfi_offset DWARF_PC, PT_EPC - PT_SIZE
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 28, 29, 30, 31
	.cfi_offset \n, PT_R(\n) - PT_SIZE
	.endr
	.endm

/*
 * All registers except $sp and $gp, which the caller saves. $k1 is used to move coprocessor
 * registers; all others have the interrupted code's values.
 */
	.macro	save_registers
	.set	push
	.set	noat
	LONG_S	$0, FRAME(PT_R(0))($sp)
	LONG_S	$1, FRAME(PT_R(1))($sp)
	for_each_general LONG_S
	LONG_S	$0, FRAME(PT_R(26))($sp)
	LONG_S	$0, FRAME(PT_R(27))($sp)
#if __mips_isa_rev < 6
	mflo	$k1
	LONG_S	$k1, FRAME(PT_LO)($sp)
	mfhi	$k1
	LONG_S	$k1, FRAME(PT_HI)($sp)
#else
	LONG_S	$0, FRAME(PT_LO)($sp)
	LONG_S	$0, FRAME(PT_HI)($sp)
#endif
	LONG_MFC0 $k1, CP0_EPC
	LONG_S	$k1, FRAME(PT_EPC)($sp)
	LONG_MFC0 $k1, CP0_BADVADDR
	LONG_S	$k1, FRAME(PT_BADVADDR)($sp)
	mfc0	$k1, CP0_CAUSE
	LONG_S	$k1, FRAME(PT_CAUSE)($sp)
	LONG_ADDIU $k1, $0, -1
	LONG_S	$k1, FRAME(PT_SYSCALL)($sp)
	LONG_S	$0, FRAME(PT_SYSCALL + SZREG)($sp)
	mfc0	$k1, CP0_STATUS
	LONG_S	$k1, FRAME(PT_STATUS)($sp)

	/* Kernel mode instead of exception mode, interrupts masked: faults are reported. */
	ins	$k1, $0, 0, 5
	mtc0	$k1, CP0_STATUS
	ehb
	.set	pop
	.endm

/*
 * Return from the exception; \label is at the last instruction. Sets ST0_EXL first, to mask
 * interrupts; $k0, $k1 as above.
 */
	.macro	restore_registers_and_return label
	.set	push
	.set	noat
	LONG_L	$k1, FRAME(PT_STATUS)($sp)
	mtc0	$k1, CP0_STATUS			/* with ST0_EXL */
	ehb
	LONG_L	$k1, FRAME(PT_EPC)($sp)
	LONG_MTC0 $k1, CP0_EPC
#if __mips_isa_rev < 6
	LONG_L	$k1, FRAME(PT_LO)($sp)
	mtlo	$k1
	LONG_L	$k1, FRAME(PT_HI)($sp)
	mthi	$k1
#endif
	for_each_general LONG_L
	LONG_L	$1, FRAME(PT_R(1))($sp)
	LONG_L	$28, FRAME(PT_R(28))($sp)
	LONG_L	$29, FRAME(PT_R(29))($sp)
	ehb
	.ifnb	\label
SYM_INNER_LABEL(\label)
	.endif
	eret
	.set	pop
	.endm

#endif
