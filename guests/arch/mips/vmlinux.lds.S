/* SPDX-License-Identifier: MIT */
/* A u32 for each instruction of the kernel's text, for the graph tracer. */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define ARCH_BSS						\
		. = ALIGN(4);					\
		__prologues = .;				\
		. = . + (_etext - _text);			\
		. = ALIGN(16);
#endif

#include <linux/module.lds.h>
#include <linux/vmlinux.lds.h>

OUTPUT_ARCH(mips)
ENTRY(kernel_entry)

SECTIONS
{
	/*
	 * kseg0: unmapped and cached. The boot stack takes the first megabyte, for below kseg0
	 * there is nothing: a stack that overflows is an exception and not a corrupted kernel.
	 */
#ifdef CONFIG_64BIT
	. = 0xffffffff80000000;
#else
	. = 0x80000000;
#endif
	__boot_stack_start = .;
	. = . + 0x100000;
	__boot_stack_end = .;

	KERNEL_TEXT
	KERNEL_RODATA
	KERNEL_EH_FRAME
	KERNEL_DATA
	KERNEL_RESERVED
	KERNEL_MODULES
	ASSERT(__modules_start - __boot_stack_start <= 0x7000000,
	       "no room in the port's prologue_map")
	ELF_DETAILS
	ELF_SECTION(.gnu.attributes)

	/DISCARD/ : { DISCARDED *(.reginfo) *(.MIPS.*) *(.pdr) *(.options) *(.mdebug.*) }
}
