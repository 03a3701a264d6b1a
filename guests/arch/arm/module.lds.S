/* SPDX-License-Identifier: MIT */

#include <asm/elf.lds.h>
#include <linux/module.lds.h>

OUTPUT_ARCH(arm)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS
	ELF_SECTION(.ARM.attributes)

	/DISCARD/ : { DISCARDED *(.ARM.exidx*) *(.ARM.extab*) }
}
