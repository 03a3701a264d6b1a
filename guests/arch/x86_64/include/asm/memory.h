/* SPDX-License-Identifier: MIT */
/* The address map: mmu.S, vmlinux.lds.S and user.c agree on it. */
#ifndef _ASM_MEMORY_H
#define _ASM_MEMORY_H

#define TRAMPOLINE_ADDRESS	0x8000		/* where other CPUs begin, below 1 MiB: smp.c */
#define RAM_MAPPED		0x400000	/* from here on memory is mapped */
#define BOOT_STACK_SIZE		0x100000
#define LINK_ADDRESS		0x600000

/* Entries of page tables: AMD64 Architecture Programmer's Manual, volume 2, chapter 5. */
#define PTE_P			0x001
#define PTE_W			0x002
#define PTE_U			0x004
#define PTE_PCD			0x010
#define PTE_A			0x020
#define PTE_D			0x040
#define PTE_PS			0x080
#define PTE_NX			(1ull << 63)

#endif
