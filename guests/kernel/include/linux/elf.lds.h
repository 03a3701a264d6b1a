/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_ELF_LDS_H
#define _LINUX_ELF_LDS_H

/*
 * What is not loaded, of the kernel and of modules. The scripts have to name all sections: any
 * other one is an error of the link, for ld would load it where it finds room.
 */
#define ELF_SECTION(name) name 0 : { *(name) }

#define ELF_DETAILS						\
	ELF_SECTION(.debug_abbrev)				\
	ELF_SECTION(.debug_addr)				\
	ELF_SECTION(.debug_aranges)				\
	ELF_SECTION(.debug_frame)				\
	ELF_SECTION(.debug_info)				\
	ELF_SECTION(.debug_line)				\
	ELF_SECTION(.debug_line_str)				\
	ELF_SECTION(.debug_loc)					\
	ELF_SECTION(.debug_loclists)				\
	ELF_SECTION(.debug_macinfo)				\
	ELF_SECTION(.debug_macro)				\
	ELF_SECTION(.debug_names)				\
	ELF_SECTION(.debug_pubnames)				\
	ELF_SECTION(.debug_pubtypes)				\
	ELF_SECTION(.debug_ranges)				\
	ELF_SECTION(.debug_rnglists)				\
	ELF_SECTION(.debug_str)					\
	ELF_SECTION(.debug_str_offsets)				\
	ELF_SECTION(.debug_types)

/* Of compilers, and for a run-time linker. */
#define DISCARDED						\
	*(.comment) *(.note.GNU-stack) *(.llvm_addrsig)		\
	*(.interp) *(.dynamic) *(.plt) *(.iplt) *(.rel.*) *(.rela.*)

/* For an arch: text that ld makes. */
#ifndef ARCH_STUBS_TEXT
#define ARCH_STUBS_TEXT
#endif

/* A table that ld makes for itself; static code has no use for it. */
#define GOT *(.got) *(.got.plt) *(.igot) *(.igot.plt)

#endif
