/* SPDX-License-Identifier: MIT */
#ifndef _ASM_ELF_LDS_H
#define _ASM_ELF_LDS_H

/* Calls between the modes of old CPUs, and what mends their errata: empty. */
#define ARCH_STUBS_TEXT *(.glue_7) *(.glue_7t) *(.vfp11_veneer) *(.v4_bx)

#endif
