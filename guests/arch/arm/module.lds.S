/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(arm)

SECTIONS
{
	MODULE_SECTIONS
	/DISCARD/ : { *(.comment) *(.interp) *(.dynamic) *(.ARM.exidx*) *(.ARM.extab*) }
}
