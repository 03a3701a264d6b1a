/* SPDX-License-Identifier: MIT */
#include <linux/module.lds.h>

OUTPUT_ARCH(i386:x86-64)

SECTIONS
{
	MODULE_SECTIONS
	/DISCARD/ : { *(.comment) *(.interp) *(.dynamic) *(.note.gnu.property) }
}
