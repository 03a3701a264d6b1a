/* SPDX-License-Identifier: MIT */
/* `break`: ends the backward search for the first function's beginning (prologue.c). */
#define ARCH_MODULE_TEXT LONG(0x0000000d)

#include <linux/module.lds.h>

OUTPUT_ARCH(mips)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS
	ELF_SECTION(.gnu.attributes)

	/DISCARD/ : { DISCARDED *(.reginfo) *(.MIPS.*) *(.pdr) *(.options) *(.mdebug.*) }
}
