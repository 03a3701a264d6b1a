/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(riscv)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS
	ELF_SECTION(.riscv.attributes)

	/DISCARD/ : { DISCARDED }
}
