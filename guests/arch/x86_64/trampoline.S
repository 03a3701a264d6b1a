/* SPDX-License-Identifier: MIT */
/*
 * The entry of secondary CPUs, in real mode with cs = TRAMPOLINE_ADDRESS >> 4: switches to 32-bit
 * protected mode and jumps to head.S. smp.c copies this code; it does not run in place.
 */
#include <asm/memory.h>
#include <asm/segment.h>

	.section .rodata
	.balign	16
	.code16
	.globl	trampoline
trampoline:
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	.Lpointer - trampoline
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$KERNEL_CS32, $(TRAMPOLINE_ADDRESS + .Lprotected - trampoline)
	.code32
.Lprotected:
	movl	$KERNEL_DS, %eax
	movl	%eax, %ds
	movl	%eax, %ss
	movl	$1, %esi
	movl	$protected_entry, %eax
	jmp	*%eax
	.balign	8
.Lpointer:
	.word	6 * 8 - 1
	.long	gdt
	.globl	trampoline_end
trampoline_end:
	.code64
