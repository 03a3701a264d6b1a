/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_MODULE_LDS_H
#define _LINUX_MODULE_LDS_H

/*
 * The neutral part of every arch's module.lds.S, and where vmlinux.lds.S leaves room for modules.
 * The build gives MODULE_SLOT, the number of the module among those that are built with it, and
 * MODULES_START, vmlinux's symbol __modules_start.
 *
 * The file contains .bss too, so the loader only copies segments. The table of call sites comes
 * last, for the reason given in vmlinux.lds.h.
 */
#include <linux/elf.lds.h>

#include <asm/module.h>

/*
 * Modules begin anywhere in a megabyte, and two share an even and an odd one: a port may keep data
 * for each megabyte, and must tell them apart.
 */
#define MODULE_SIZE		0x180000
#define MODULE_ADDRESS		(MODULES_START + MODULES_OFFSET + MODULE_SLOT * MODULE_SIZE)

/* Behind the kernel's own memory; there may be none. */
#define KERNEL_MODULES						\
	. = ALIGN(2 * 0x100000);				\
	__modules_start = .;

/* For an arch: text before the first function. */
#ifndef ARCH_MODULE_TEXT
#define ARCH_MODULE_TEXT
#endif

#define MODULE_SECTIONS						\
	. = MODULE_ADDRESS;					\
	.text : {						\
		_text = .;					\
		ARCH_MODULE_TEXT				\
		*(.text .text.* .init.text)			\
		*(.text.ftrace_trampoline)			\
		ARCH_STUBS_TEXT					\
		_etext = .;					\
	}							\
	.note.gnu.build-id : { KEEP(*(.note.gnu.build-id)) }	\
	.rodata : ALIGN(16) { *(.rodata .rodata.*) }		\
	.eh_frame_hdr : {					\
		__eh_frame_hdr = .;				\
		*(.eh_frame_hdr)				\
	}							\
	.eh_frame : ALIGN(8) {					\
		KEEP(*(.eh_frame))				\
		__eh_frame_end = .;				\
	}							\
	.data : ALIGN(16) {					\
		*(.data .data.* .sdata .sdata.*)		\
		GOT						\
		KEEP(*(.this_module))				\
		*(.sbss .sbss.* .bss .bss.* COMMON)		\
	}							\
	.mcount_loc : ALIGN(8) {				\
		__start_mcount_loc = .;				\
		KEEP(*(.mcount_loc))				\
		KEEP(*(__patchable_function_entries))		\
		__stop_mcount_loc = .;				\
	}							\
	_end = .;						\
	__module_limit = MODULE_ADDRESS + MODULE_SIZE;		\
	ASSERT(_end <= __module_limit, "the module is larger than its slot")

#endif
