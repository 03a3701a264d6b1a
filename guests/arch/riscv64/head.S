/* SPDX-License-Identifier: MIT */
/*
 * Entry from QEMU's boot ROM (-bios none), for all CPUs at once: machine mode, a0 = number of the
 * CPU. Leaves for start_kernel() or secondary_start_kernel() in supervisor mode with translation
 * on, floating point enabled, stvec set and `current` the boot thread or the CPU's idle thread.
 * Machine mode is not used afterwards: every trap and interrupt is delegated.
 */
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

	.section .reset.text, "ax"
SYM_FUNC_START(_start)
	la	t0, machine_entry
	jr	t0
SYM_FUNC_END(_start)

	.section .head.text, "ax"
	.balign	4
SYM_FUNC_START(machine_entry)
	.cfi_startproc
	.cfi_undefined ra		/* a backtrace ends here */
	csrw	mie, zero
	csrci	mstatus, MSTATUS_MIE
	la	t0, machine_trap
	csrw	mtvec, t0
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, PMP_NAPOT_RWX
	csrw	pmpcfg0, t0
	li	t0, MEDELEG_ALL
	csrw	medeleg, t0
	li	t0, INT_ALL
	csrw	mideleg, t0
	li	t0, COUNTEREN_ALL
	csrw	mcounteren, t0
	li	t0, 1
	slli	t0, t0, MENVCFG_STCE_BIT
	csrs	CSR_MENVCFG, t0

	/* Without an IMSIC an access to its registers is an illegal instruction. */
	la	t0, 1f
	csrw	mtvec, t0
	la	t1, has_imsic
	csrr	t0, CSR_SISELECT
	li	t0, 1
	sd	t0, (t1)
	.balign	4
1:	la	t0, machine_trap
	csrw	mtvec, t0

	/* The other CPUs sleep until smp.c stores their idle thread and interrupts them. */
	csrr	s1, mhartid
	la	s2, secondary_thread
	slli	t0, s1, 3
	add	s2, s2, t0
	li	t0, MIE_MSIE
	csrw	mie, t0
1:	beqz	s1, 2f
	ld	t0, (s2)
	bnez	t0, 2f
	wfi
	j	1b
2:	csrw	mie, zero
	fence	rw, rw

	li	t0, 3 << 11
	csrc	mstatus, t0
	li	t0, MSTATUS_MPP_S | SSTATUS_FS | SSTATUS_SUM
	csrs	mstatus, t0
	la	t0, supervisor_entry
	csrw	mepc, t0
	mret

	/* Not reached: no trap enters machine mode. */
	.balign	4
machine_trap:
	j	machine_trap
	.cfi_endproc
SYM_FUNC_END(machine_entry)

/* supervisor_entry() - s1 = number of the CPU, s2 = where its idle thread is named */
SYM_FUNC_START(supervisor_entry)
	.cfi_startproc
	.cfi_undefined ra
	la	t0, page_table
	la	t1, page_table_low
	srli	t1, t1, PTE_ADDRESS_SHIFT
	ori	t1, t1, PTE_V
	sd	t1, (t0)
	srli	t0, t0, 12
	li	t1, SATP_SV39
	slli	t1, t1, SATP_MODE_SHIFT
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	la	t0, vectors
	csrw	stvec, t0
	csrw	fcsr, zero
	li	t0, EXCEPTION_STACK_SIZE
	mul	t0, t0, s1
	la	t1, exception_stacks
	add	t0, t0, t1
	li	t1, EXCEPTION_STACK_END
	add	t0, t0, t1
	csrw	sscratch, t0
	li	s0, 0
	li	ra, 0
	bnez	s1, secondary

	/* The linker script aligns both ends to 16 bytes. */
	la	t0, __bss_start
	la	t1, __bss_stop
1:	bgeu	t0, t1, 2f
	sd	zero, (t0)
	addi	t0, t0, 8
	j	1b
2:	la	sp, __boot_stack_end
	la	tp, init_thread
	call	start_kernel

secondary:
	ld	tp, (s2)
	lui	t0, %hi(THREAD_CONTEXT)		/* thread.c */
	addi	t0, t0, %lo(THREAD_CONTEXT)
	add	t0, t0, tp
	ld	sp, THREAD_SP(t0)
	call	secondary_start_kernel
	.cfi_endproc
SYM_FUNC_END(supervisor_entry)

	.data				/* not .bss, which is cleared later */
	.globl	has_imsic
	.balign	8
has_imsic:
	.quad	0
	.globl	secondary_thread
secondary_thread:
	.skip	8 * NR_CPUS, 0
	.quad	0
