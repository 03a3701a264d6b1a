/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(riscv)

SECTIONS
{
	MODULE_SECTIONS
	/DISCARD/ : { *(.comment) *(.interp) *(.dynamic) }
}
