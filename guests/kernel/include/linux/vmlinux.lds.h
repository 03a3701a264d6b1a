/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_VMLINUX_LDS_H
#define _LINUX_VMLINUX_LDS_H

/*
 * The neutral part of every arch's vmlinux.lds.S.
 *
 * Text comes first: whatever lies behind it, above all the table of call sites, may grow between
 * the two links without moving a single instruction.
 */
#include <linux/ring_buffer.h>

#ifndef HEAP_SIZE
#define HEAP_SIZE 0x2000000
#endif

#define KERNEL_TEXT						\
	.text : {						\
		_text = .;					\
		PROVIDE(_stext = .);				\
		KEEP(*(.head.text))				\
		*(.text .text.* .init.text)			\
		. = ALIGN(4096);				\
		*(.breakpoint.text)				\
		_etext = .;					\
	}

#define KERNEL_RODATA						\
	.note.gnu.build-id : { KEEP(*(.note.gnu.build-id)) }	\
	.rodata : ALIGN(16) { *(.rodata .rodata.*) }		\
	.mcount_loc : ALIGN(8) {				\
		__start_mcount_loc = .;				\
		KEEP(*(.mcount_loc))				\
		KEEP(*(__patchable_function_entries))		\
		__stop_mcount_loc = .;				\
	}

/* What an arch wants in .bss that C cannot size. */
#ifndef ARCH_BSS
#define ARCH_BSS
#endif

#define KERNEL_DATA						\
	.data : ALIGN(16) { *(.data .data.* .sdata .sdata.*) }	\
	.bss : ALIGN(16) {					\
		__bss_start = .;				\
		*(.sbss .sbss.* .bss .bss.* COMMON)		\
		ARCH_BSS					\
		. = ALIGN(16);					\
		__bss_stop = .;					\
	}

/* In no section: nothing to load, nothing to clear. */
#define KERNEL_RESERVED						\
	. = ALIGN(RING_BUFFER_PAGE_SIZE);			\
	__ring_buffer_pages = .;				\
	. = . + NR_CPUS * RING_BUFFER_MAX_PAGES * RING_BUFFER_PAGE_SIZE; \
	__heap_start = .;					\
	. = . + HEAP_SIZE;					\
	__heap_end = .;						\
	_end = .;

#endif
