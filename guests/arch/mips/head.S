/* SPDX-License-Identifier: MIT */
/*
 * From QEMU's boot stub to start_kernel(), and from reset to secondary_start_kernel(). It does not
 * depend on the initial registers.
 */
#include <linux/threads.h>

#include <asm/asm.h>
#include <asm/mipsregs.h>

#if _MIPS_SIM == _ABI64
#define STATUS_KERNEL	(ST0_CU0 | ST0_CU1 | ST0_FR | ST0_KX | ST0_SX | ST0_UX)
#else
#define STATUS_KERNEL	(ST0_CU0 | ST0_CU1)
#endif

	.set	noreorder

/* Uses a0, a1. */
	.macro	set_up_cpu
	/* EBase can only be written while Status.BEV is set. */
	li	$a0, STATUS_KERNEL | ST0_BEV
	mtc0	$a0, CP0_STATUS
	ehb
	LONG_LA	$a1, exception_vectors
	mtc0	$a1, CP0_EBASE
	ehb
	li	$a0, STATUS_KERNEL
	mtc0	$a0, CP0_STATUS
	mtc0	$zero, CP0_CAUSE
	ehb
	.endm

	.text
SYM_FUNC_START(kernel_entry)
	/* Some machines start all CPUs at once: stop the others. */
	mfc0	$a0, CP0_EBASE
	ext	$a0, $a0, 0, EBASE_CPU_BITS
1:	beqz	$a0, 2f
	 nop
	wait
	b	1b
	 nop

2:	set_up_cpu
	LONG_LA	$a0, __bss_start
	LONG_LA	$a1, __bss_stop
3:	LONG_S	$zero, 0($a0)
	LONG_ADDIU $a0, $a0, SZREG
	bne	$a0, $a1, 3b
	 nop

	LONG_LA	$sp, __boot_stack_end - 32	/* o32 callees own 16 bytes above sp */
	LONG_LA	$gp, init_thread
	jal	start_kernel
	 move	$ra, $zero
SYM_FUNC_END(kernel_entry)

#if NR_CPUS > 1
	/* The entry of a CPU: a multiple of 4 KiB, in kseg1. */
	.balign	0x1000
SYM_FUNC_START(secondary_reset)
	LONG_LA	$a0, 1f
	jr	$a0
	 nop
1:	set_up_cpu
	LONG_LA	$a0, secondary			/* smp.c: the thread, the end of its stack */
	LONG_L	$gp, 0($a0)
	LONG_L	$sp, SZREG($a0)
	sync
	LONG_S	$zero, 0($a0)
	jal	secondary_start_kernel
	 LONG_ADDIU $sp, $sp, -32
SYM_FUNC_END(secondary_reset)
#endif
