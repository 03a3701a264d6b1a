/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CFI_SECTIONS_H
#define _ASM_CFI_SECTIONS_H

/* Included in front of every C file, by ../../Makefile. */
#ifndef __ASSEMBLER__
__asm__(".cfi_sections .eh_frame, .debug_frame");
#endif

#endif
