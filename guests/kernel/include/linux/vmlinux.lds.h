/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_VMLINUX_LDS_H
#define _LINUX_VMLINUX_LDS_H

/*
 * The neutral part of every arch's vmlinux.lds.S.
 *
 * Text comes first, so that the sections behind it, above all the table of call sites, can grow
 * between the two links without moving any instruction.
 */
#include <linux/elf.lds.h>
#include <linux/ring_buffer.h>

#include <asm/user.h>

#ifndef HEAP_SIZE
#define HEAP_SIZE 0x2000000
#endif

/* With gaps around it, so that the two symbols do not have the addresses of functions. */
#define IRQENTRY_TEXT						\
		__irqentry_text_start = .;			\
		. = . + 16;					\
		*(.irqentry.text)				\
		__irqentry_text_end = .;			\
		. = . + 16;

#define KERNEL_TEXT						\
	.text : {						\
		_text = .;					\
		PROVIDE(_stext = .);				\
		KEEP(*(.head.text))				\
		__entry_text_start = .;				\
		*(.entry.text)					\
		__entry_text_end = .;				\
		IRQENTRY_TEXT					\
		EXCLUDE_FILE(*.user.o) *(.text .text.* .init.text .fixup) \
		ARCH_STUBS_TEXT					\
		. = ALIGN(4096);				\
		*(.breakpoint.text)				\
		_etext = .;					\
	}

#define KERNEL_RODATA						\
	.note.gnu.build-id : { KEEP(*(.note.gnu.build-id)) }	\
	.rodata : ALIGN(16) {					\
		EXCLUDE_FILE(*.user.o) *(.rodata .rodata.*)	\
		. = ALIGN(8);					\
		__start_user_programs = .;			\
		KEEP(*(user_programs))				\
		__stop_user_programs = .;			\
	}							\
	.mcount_loc : ALIGN(8) {				\
		__start_mcount_loc = .;				\
		KEEP(*(.mcount_loc))				\
		KEEP(*(__patchable_function_entries))		\
		__stop_mcount_loc = .;				\
	}							\
	__ex_table : { KEEP(*(__ex_table)) }

/* For an arch whose programs for user mode have tables too. */
#ifndef ARCH_EH_FRAME
#define ARCH_EH_FRAME .eh_frame
#endif

/* The tables for stack traces: linux/unwind.h. */
#define KERNEL_EH_FRAME						\
	.eh_frame_hdr : {					\
		__eh_frame_hdr = .;				\
		*(.eh_frame_hdr)				\
	}							\
	.eh_frame : ALIGN(8) {					\
		KEEP(*(ARCH_EH_FRAME))				\
		__eh_frame_end = .;				\
	}

/* For an arch: memory in .bss whose size C does not know. */
#ifndef ARCH_BSS
#define ARCH_BSS
#endif

#define KERNEL_DATA						\
	.data : ALIGN(16) {					\
		EXCLUDE_FILE(*.user.o) *(.data .data.* .sdata .sdata.*)	\
		GOT						\
		. = ALIGN(8);					\
		__start_syscalls_metadata = .;			\
		KEEP(*(.syscalls_metadata))			\
		__stop_syscalls_metadata = .;			\
	}							\
	.bss : ALIGN(16) {					\
		__bss_start = .;				\
		ARCH_BSS					\
		__arch_bss_stop = .;				\
		EXCLUDE_FILE(*.user.o) *(.sbss .sbss.* .bss .bss.* COMMON) \
		. = ALIGN(16);					\
		__bss_stop = .;					\
	}

/*
 * The programs for user mode, which run at USER_BASE. They are loaded to where USER_SIZE is set
 * aside for them and their stacks; arch_user_init() maps that.
 */
#define KERNEL_USER						\
	. = ALIGN(USER_SIZE);					\
	__user_start = .;					\
	.user USER_BASE : AT(__user_start) {			\
		*.user.o(.text .text.* .rodata .rodata.*)	\
		. = ALIGN(4096);				\
		__user_text_size = . - USER_BASE;		\
		*.user.o(.data .data.* .sdata .sdata.* .sbss .sbss.* .bss .bss.* COMMON) \
	}							\
	__user_text_end = __user_start + __user_text_size;	\
	. = __user_start + USER_SIZE;

/* In no section: nothing to load, nothing to clear. */
#define KERNEL_RESERVED						\
	KERNEL_USER						\
	. = ALIGN(RING_BUFFER_PAGE_SIZE);			\
	__ring_buffer_pages = .;				\
	. = . + NR_CPUS * RING_BUFFER_MAX_PAGES * RING_BUFFER_PAGE_SIZE; \
	__max_buffer_pages = .;					\
	. = . + MAX_BUFFER_PAGES * RING_BUFFER_PAGE_SIZE;	\
	__heap_start = .;					\
	. = . + HEAP_SIZE;					\
	__heap_end = .;						\
	. = ALIGN(16);						\
	__thread_stacks = .;					\
	. = . + NR_THREADS * THREAD_SIZE;			\
	_end = .;

#endif
