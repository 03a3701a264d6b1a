/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_INSN_H
#define _COMPAT_ASM_INSN_H

#define AARCH64_INSN_SIZE	4

/* Modules have what Linux makes for them when it loads them: module/plt.S. */
#define CONFIG_MODULES			1
#define CONFIG_ARM64_MODULE_PLTS	1
#define init_ftrace_trampolines		ftrace_trampolines

/* Functions begin with a landing pad. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define CONFIG_ARM64_BTI_KERNEL		1
#endif

#ifndef __ASSEMBLER__

#include <asm/ptrace.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/types.h>

#define PSR_MODE_EL1h		PSR_MODE_EL1H

#define SZ_128M			0x08000000l

/* In place of a branch that is out of reach: brk, which faults. */
#define AARCH64_BREAK_FAULT	0xd4202000u

enum aarch64_insn_branch_type {
	AARCH64_INSN_BRANCH_NOLINK,
	AARCH64_INSN_BRANCH_LINK,
};

enum aarch64_insn_register {
	AARCH64_INSN_REG_9 = 9,
	AARCH64_INSN_REG_LR = 30,
};

enum aarch64_insn_variant {
	AARCH64_INSN_VARIANT_32BIT,
	AARCH64_INSN_VARIANT_64BIT,
};

/* mov, which is orr with the zero register. */
static inline u32 aarch64_insn_gen_move_reg(enum aarch64_insn_register dst,
					    enum aarch64_insn_register src,
					    enum aarch64_insn_variant variant)
{
	u32 wide = variant == AARCH64_INSN_VARIANT_64BIT ? 1u << 31 : 0;

	return wide | 0x2a0003e0u | (u32)src << 16 | (u32)dst;
}

static inline u32 aarch64_insn_gen_nop(void)
{
	return 0xd503201fu;
}

/* hint #32, #34, #36 and #38: bti, for no, calls', jumps' and both kinds of branches. */
static inline bool aarch64_insn_is_bti(u32 instruction)
{
	return (instruction & ~0xc0u) == 0xd503241fu;
}

static inline u32 aarch64_insn_gen_branch_imm(unsigned long pc, unsigned long address,
					      enum aarch64_insn_branch_type type)
{
	u32 opcode = type == AARCH64_INSN_BRANCH_LINK ? 0x94000000u : 0x14000000u;
	long offset = (long)address - (long)pc;

	if ((pc | address) & 3 || offset < -SZ_128M || offset >= SZ_128M)
		return AARCH64_BREAK_FAULT;
	return opcode | ((u32)(offset >> 2) & 0x03ffffffu);
}

#endif
#endif
