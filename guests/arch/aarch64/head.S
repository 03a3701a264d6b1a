/* SPDX-License-Identifier: MIT */
/*
 * Entry from QEMU's loader for one CPU, and from PSCI's CPU_ON for the others: MMU and caches off,
 * at EL1, or at EL2 with `-machine virt,virtualization=on`. Continues with start_kernel() or
 * secondary_start_kernel() at EL1, with the MMU and the caches on, floating point enabled, the
 * exception vectors set and `current` the boot thread or the CPU's idle thread.
 */
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame
	.section .head.text, "ax"
SYM_FUNC_START(_start)
	.cfi_startproc
	.cfi_undefined x30		/* end of backtraces */
	msr	daifset, #DAIF_ALL
	mrs	x19, CurrentEL
	bl	enter_el1
	bl	cpu_setup

	/* The linker script aligns both ends to 16 bytes. */
	ldr	x0, =__bss_start
	ldr	x1, =__bss_stop
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b

2:	adrp	x0, booted_at_el2
	cmp	x19, #CURRENT_EL2
	cset	w1, eq
	str	w1, [x0, #:lo12:booted_at_el2]
	ldr	x0, =__boot_stack_end
	mov	sp, x0
	ldr	x0, =init_thread
	msr	sp_el0, x0
	mov	x29, xzr		/* the outermost frame record */
	mov	x30, xzr
	bl	uart_init
	bl	start_kernel
	.cfi_endproc
SYM_FUNC_END(_start)

/* secondary_entry - entry point for CPU_ON; x0 = the CPU's idle thread */
SYM_FUNC_START(secondary_entry)
	.cfi_startproc
	.cfi_undefined x30
	msr	daifset, #DAIF_ALL
	mov	x19, x0
	bl	enter_el1
	bl	cpu_setup
	msr	sp_el0, x19
	movz	x0, #:abs_g0:THREAD_CONTEXT	/* kernel/thread.c */
	add	x0, x0, x19
	ldr	x0, [x0, #THREAD_SP]
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	bl	secondary_start_kernel
	.cfi_endproc
SYM_FUNC_END(secondary_entry)

/* enter_el1() - return at EL1, from any level; uses x0, x1 */
SYM_FUNC_START(enter_el1)
	mrs	x0, CurrentEL
	cmp	x0, #CURRENT_EL2
	b.eq	1f
	cmp	x0, #CURRENT_EL1
	b.ne	.			/* EL3 is not supported */
	ret
1:	ldr	x0, =HCR_RW | HCR_APK | HCR_API
	msr	hcr_el2, x0
	mov	x0, #CNTHCTL_EL1PCTEN | CNTHCTL_EL1PCEN
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	mov	x0, #CPTR_EL2_RES1
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0
	ldr	x0, =SCTLR_RES1		/* EL1's value is unknown at reset */
	msr	sctlr_el1, x0
	mov	x0, #PSR_DAIF | PSR_MODE_EL1H
	msr	spsr_el2, x0
	msr	elr_el2, x30
	eret
SYM_FUNC_END(enter_el1)

/*
 * cpu_setup - set up translation, floating point, vectors and the exception stack of a CPU; uses
 * x0..x5 and x20
 */
SYM_FUNC_START(cpu_setup)
	mov	x20, x30
	bl	branch_protection_init
	mov	x1, x0			/* bits for SCTLR_EL1 */
	ldr	x0, =MAIR_VALUE
	msr	mair_el1, x0
	ldr	x0, =TCR_VALUE
	msr	tcr_el1, x0
	adrp	x0, page_table
	msr	ttbr0_el1, x0
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	ldr	x0, =SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_I | SCTLR_SA | SCTLR_SA0
	orr	x0, x0, x1
	msr	sctlr_el1, x0
	isb

	mov	x0, #CPACR_FPEN
	msr	cpacr_el1, x0
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	mrs	x0, mpidr_el1
	and	x0, x0, #MPIDR_AFF0
	mov	x1, #EXCEPTION_STACK_SIZE
	ldr	x2, =exception_stacks + EXCEPTION_STACK_END
	madd	x0, x0, x1, x2
	msr	tpidr_el1, x0
	isb
	ret	x20
SYM_FUNC_END(cpu_setup)
