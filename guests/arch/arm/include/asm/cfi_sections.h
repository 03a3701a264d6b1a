/* SPDX-License-Identifier: MIT */
/* Included in front of every C file, by ../../Makefile. */
#ifndef __ASSEMBLER__
__asm__(".cfi_sections .eh_frame, .debug_frame");
#endif
