/* SPDX-License-Identifier: MIT */
/* Calls between the modes of old CPUs, and what mends their errata: empty. */
#define ARCH_STUBS_TEXT *(.glue_7) *(.glue_7t) *(.vfp11_veneer) *(.v4_bx)

#include <linux/module.lds.h>

OUTPUT_ARCH(arm)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS
	ELF_SECTION(.ARM.attributes)

	/DISCARD/ : { DISCARDED *(.ARM.exidx*) *(.ARM.extab*) }
}
