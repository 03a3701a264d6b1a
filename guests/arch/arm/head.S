/* SPDX-License-Identifier: MIT */
/*
 * Entry from QEMU's loader for one CPU, and from PSCI's CPU_ON for the others: supervisor mode,
 * translation and caches off. Continues with start_kernel() or secondary_start_kernel(), with
 * translation and the caches on, floating point enabled, the exception vectors and stacks set and
 * `current` the boot thread or the CPU's idle thread.
 */
#include <asm/cp15.h>
#include <asm/ptrace.h>
#include <asm/thread.h>
#include <linux/linkage.h>

	.syntax unified

	.arch_extension virt
	.cfi_sections .eh_frame
	.section .head.text, "ax"
SYM_FUNC_START(_start)
	.cfi_startproc
	.cfi_undefined lr		/* end of backtraces */
	cpsid	if, #PSR_MODE_SVC
	bl	cpu_setup

	/* The linker script aligns both ends to 16 bytes. */
	ldr	r0, =__bss_start
	ldr	r1, =__bss_stop
	mov	r2, #0
	mov	r3, #0
1:	cmp	r0, r1
	strdlo	r2, r3, [r0], #8
	blo	1b

	ldr	sp, =__boot_stack_end
	ldr	r0, =init_thread
	mcr	p15, 0, r0, c13, c0, 4
	mov	fp, #0
	mov	lr, #0
	bl	uart_init
	bl	start_kernel
	.cfi_endproc
SYM_FUNC_END(_start)

/* secondary_entry - entry point for CPU_ON; r0 = the CPU's idle thread */
SYM_FUNC_START(secondary_entry)
	.cfi_startproc
	.cfi_undefined lr
	cpsid	if, #PSR_MODE_SVC
	mov	r4, r0
	bl	cpu_setup
	mcr	p15, 0, r4, c13, c0, 4
	movw	r0, #:lower16:THREAD_CONTEXT	/* kernel/thread.c */
	add	r0, r0, r4
	ldr	sp, [r0, #THREAD_SP]
	mov	fp, #0
	mov	lr, #0
	bl	secondary_start_kernel
	.cfi_endproc
SYM_FUNC_END(secondary_entry)

/* cpu_setup - set up translation, floating point, vectors and exception stacks; uses r0..r2 */
SYM_FUNC_START(cpu_setup)
	ldr	r0, =page_table
	orr	r0, r0, #TTBR_WALK_CACHED
	mov	r1, #0
	mcr	p15, 0, r1, c2, c0, 2		/* TTBCR: TTBR0 is for all addresses */
	mcr	p15, 0, r0, c2, c0, 0		/* TTBR0 */
	mov	r0, #DACR_CLIENT_0
	mcr	p15, 0, r0, c3, c0, 0		/* DACR */
	mcr	p15, 0, r1, c8, c7, 0		/* TLBIALL */
	mcr	p15, 0, r1, c7, c5, 0		/* ICIALLU */
	dsb
	isb
	mrc	p15, 0, r0, c1, c0, 0		/* SCTLR */
	ldr	r1, =SCTLR_A | SCTLR_V | SCTLR_TRE | SCTLR_AFE | SCTLR_TE
	bic	r0, r0, r1
	ldr	r1, =SCTLR_M | SCTLR_C | SCTLR_Z | SCTLR_I | SCTLR_KERNEL_TE
	orr	r0, r0, r1
	mcr	p15, 0, r0, c1, c0, 0
	isb

	ldr	r0, =vectors
	bic	r0, r0, #1			/* in the address of a function: T32 */
	mcr	p15, 0, r0, c12, c0, 0		/* VBAR */
	mov	r0, #CPACR_CP10_CP11
	mcr	p15, 0, r0, c1, c0, 2		/* CPACR */
	isb
	mov	r0, #FPEXC_EN
	vmsr	fpexc, r0
	mov	r0, #0
	vmsr	fpscr, r0

	mrc	p15, 0, r0, c0, c0, 5		/* MPIDR */
	and	r0, r0, #MPIDR_CPU
	add	r0, r0, #1
	ldr	r1, =exception_stacks
	add	r0, r1, r0, lsl #EXCEPTION_STACK_SHIFT
	cps	#PSR_MODE_ABT
	mov	sp, r0
	cps	#PSR_MODE_UND
	mov	sp, r0
	cps	#PSR_MODE_SVC
	bx	lr
	.ltorg
SYM_FUNC_END(cpu_setup)
