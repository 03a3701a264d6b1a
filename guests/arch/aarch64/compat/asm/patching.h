/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCHING_H
#define _COMPAT_ASM_PATCHING_H

#include <linux/errno.h>
#include <linux/types.h>

#include <asm/asm-offsets.h>
#include <asm/barrier.h>
#include <asm/cacheflush.h>

static inline int aarch64_insn_read(void *address, u32 *instruction)
{
	*instruction = *(volatile u32 *)address;
	return 0;
}

static inline int aarch64_insn_patch_text_nosync(void *address, u32 instruction)
{
	if ((unsigned long)address & 3)
		return -EINVAL;
	*(volatile u32 *)address = instruction;
	flush_icache_range((unsigned long)address, (unsigned long)address + 4);
	return 0;
}

/* Linux writes text with a lock held, so what is written next is seen no earlier than this. */
static inline int aarch64_insn_write_literal_u64(void *address, u64 value)
{
	*(volatile u64 *)address = value;
	smp_wmb();
	return 0;
}

/* What asm/asm-offsets.h says of the port's own struct. */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#ifdef HAVE_ARCH_FTRACE_REGS
#define SAVED_REGS		struct __arch_ftrace_regs
#else
#define SAVED_REGS		struct ftrace_regs
#endif
#define CHECK_OFFSET(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), "asm/asm-offsets.h")

CHECK_OFFSET(SAVED_REGS, regs[0], FREGS_X0);
CHECK_OFFSET(SAVED_REGS, regs[8], FREGS_X8);
CHECK_OFFSET(SAVED_REGS, fp, FREGS_FP);
CHECK_OFFSET(SAVED_REGS, lr, FREGS_LR);
CHECK_OFFSET(SAVED_REGS, sp, FREGS_SP);
CHECK_OFFSET(SAVED_REGS, pc, FREGS_PC);
CHECK_OFFSET(struct ftrace_ops, func, FTRACE_OPS_FUNC);
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
CHECK_OFFSET(SAVED_REGS, direct_tramp, FREGS_DIRECT_TRAMP);
CHECK_OFFSET(struct ftrace_ops, direct_call, FTRACE_OPS_DIRECT_CALL);
#endif
_Static_assert(sizeof(SAVED_REGS) == FREGS_SIZE, "asm/asm-offsets.h");
#endif

#endif
