/* SPDX-License-Identifier: MIT */
/*
 * From QEMU's boot stub to start_kernel(). Nothing is expected of the registers.
 */
#include <asm/asm.h>
#include <asm/mipsregs.h>

#if _MIPS_SIM == _ABI64
#define STATUS_KERNEL	(ST0_CU0 | ST0_CU1 | ST0_FR | ST0_KX | ST0_SX | ST0_UX)
#else
#define STATUS_KERNEL	(ST0_CU0 | ST0_CU1)
#endif

	.set	noreorder

	.text
SYM_FUNC_START(kernel_entry)
	/* The vectors can only be moved while exceptions go to the boot ROM. */
	li	$a0, STATUS_KERNEL | ST0_BEV
	mtc0	$a0, CP0_STATUS
	ehb
	la	$a1, exception_vectors
	mtc0	$a1, CP0_EBASE
	ehb
	li	$a0, STATUS_KERNEL
	mtc0	$a0, CP0_STATUS
	mtc0	$zero, CP0_CAUSE
	ehb

	la	$a0, __bss_start
	la	$a1, __bss_stop
1:	LONG_S	$zero, 0($a0)
	LONG_ADDIU $a0, $a0, SZREG
	bne	$a0, $a1, 1b
	 nop

	la	$sp, __boot_stack_end - 32	/* o32 callees own 16 bytes above sp */
	la	$gp, init_thread
	jal	start_kernel
	 move	$ra, $zero
SYM_FUNC_END(kernel_entry)
