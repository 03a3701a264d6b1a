/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(i386:x86-64)

SECTIONS
{
	MODULE_SECTIONS
	ELF_DETAILS

	/DISCARD/ : { DISCARDED *(.note.gnu.property) }
}
