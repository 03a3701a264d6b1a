/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(aarch64)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS

	/DISCARD/ : { DISCARDED }
}
