/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_OPCODES_H
#define _COMPAT_ASM_OPCODES_H

/* No bytes are swapped: the guests are little endian. */
#define __opcode_to_mem_arm(instruction)	(instruction)

/* Of T32: the half that comes first is stored first. */
#define __opcode_to_mem_thumb32(instruction)	((instruction) << 16 | (instruction) >> 16)
#define __opcode_thumb32_compose(first, second)	((first) << 16 | (second))

#endif
