/* SPDX-License-Identifier: MIT */
/*
 * Entry from the firmware by PVH: 32-bit protected mode, flat segments, no paging; and from smp.c's
 * trampoline, in the same state. Leaves for start_kernel() or secondary_start() in 64-bit mode with
 * translation and floating point on, and `current` the boot thread or the CPU's idle thread.
 * Source: the Xen project's "x86/HVM direct boot ABI".
 */
#include <asm/memory.h>
#include <asm/segment.h>
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

#define PHYS32_ENTRY		18

	.section .note.pvh, "a", @note
	.balign	4
	.long	4			/* bytes of the name */
	.long	8			/* bytes of the entry's address */
	.long	PHYS32_ENTRY
	.asciz	"Xen"
	.quad	_start

	.section .head.text, "ax"
	.code32
SYM_FUNC_START(_start)
	xorl	%esi, %esi
	jmp	protected_entry
SYM_FUNC_END(_start)

/* protected_entry() - esi = 0 on the CPU that boots, 1 on others */
SYM_FUNC_START(protected_entry)
	cli
	cld
	lgdt	gdt_pointer
	movl	$CR4_BOOT, %eax
	movl	%eax, %cr4
	movl	$page_table, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	movl	$(EFER_LME | EFER_NXE), %eax
	xorl	%edx, %edx
	wrmsr
	movl	$CR0_BOOT, %eax
	movl	%eax, %cr0
	ljmp	$KERNEL_CS, $long_entry
SYM_FUNC_END(protected_entry)

	.code64
/* long_entry() - esi as above */
SYM_FUNC_START(long_entry)
	.cfi_startproc
	.cfi_undefined rip		/* a backtrace ends here */
	movl	$KERNEL_DS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	xorl	%ebp, %ebp
	fninit
	testl	%esi, %esi
	jnz	.Lsecondary

	/* The linker script aligns both ends to 16 bytes. */
	movl	$__bss_start, %edi
	movl	$__bss_stop, %ecx
	subl	%edi, %ecx
	shrl	$3, %ecx
	xorl	%eax, %eax
	rep stosq
	movl	$init_thread, %eax
	movl	$__boot_stack_end, %esp
	call	.Lset_current
	call	start_kernel
	ud2

.Lsecondary:
	movq	secondary_thread, %rax
	movq	THREAD_CONTEXT + THREAD_SP(%rax), %rsp
	call	.Lset_current
	call	secondary_start
	ud2

	/* rax = current; its address below 4 GiB */
.Lset_current:
	movq	%rax, THREAD_CONTEXT + THREAD_SELF(%rax)
	xorl	%edx, %edx
	movl	$MSR_GS_BASE, %ecx
	wrmsr
	xorl	%eax, %eax
	movl	$MSR_KERNEL_GS_BASE, %ecx
	wrmsr
	ret
	.cfi_endproc
SYM_FUNC_END(long_entry)

	.data				/* not .bss, which is cleared later */
	.balign	16
	.globl	gdt
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* KERNEL_CS32 */
	.quad	0x00af9b000000ffff	/* KERNEL_CS */
	.quad	0x00cf93000000ffff	/* KERNEL_DS */
	.quad	0x00cff3000000ffff	/* USER_DS */
	.quad	0x00affb000000ffff	/* USER_CS */
	.skip	NR_CPUS * 16		/* TSS_SELECTOR(): traps.c */
gdt_end:
	.globl	gdt_pointer
gdt_pointer:
	.word	gdt_end - gdt - 1
	.quad	gdt
	.balign	8
	.globl	secondary_thread
secondary_thread:
	.quad	0
