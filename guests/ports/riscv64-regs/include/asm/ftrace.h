/* SPDX-License-Identifier: MIT */
/*
 * The port's part of ftrace's interface. Built with -fpatchable-function-entry=2, every function
 * begins with two nops, before its prologue:
 *
 *	rec->ip:	mv	t0, ra			from ftrace_init_nop() on
 *			jal	ftrace_caller		a nop while the site is off, or a call of
 *							ftrace_regs_caller
 *
 * A module is beyond the reach of jal. Its sites call trampolines in the module
 * (module/ftrace_trampoline.S).
 */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#include <asm/ptrace.h>

#define RISCV_INSN_SIZE		4

/* The size of a site, as rec->ip is its first word; ip = ra - MCOUNT_INSN_SIZE (C2). */
#define MCOUNT_INSN_SIZE	(2 * RISCV_INSN_SIZE)

/* Tracers get an ops and the registers at the site (C18). */
#define ARCH_SUPPORTS_FTRACE_OPS	1

#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

/*
 * The members of struct ftrace_regs behind its struct pt_regs, for mcount.S (ftrace.c checks them).
 */
#define FREGS_RECORD		S_FRAME_SIZE
#define FREGS_CALLER		(S_FRAME_SIZE + 16)
#define FREGS_SIZE		(S_FRAME_SIZE + 32)

#ifndef __ASSEMBLER__

struct module;
struct dyn_ftrace;

struct dyn_arch_ftrace {
	/* Empty: rec->ip is enough. */
};

/**
 * struct ftrace_regs - the registers at the call site, and the frame records of a stub
 * @regs:	from ftrace_caller a0..a7, t2, s0, ra, sp and pc are valid; status is 0, which is
 *		user mode and never the mode at a site. From ftrace_regs_caller all registers are,
 *		but t0 holds the return address by then, and of status there is the mode only.
 * @record:	the stub's frame record
 * @caller:	that of the traced function, which has not made it yet
 *
 * @regs has in ra where the traced function returns to and in pc where the stub returns to, behind
 * the site. What a tracer changes of a0..a7, t2, s0, ra and pc is in the registers when the stub
 * returns. The others are preserved by all functions, or may be changed by any.
 */
struct ftrace_regs {
	struct pt_regs regs;
	unsigned long record[2];
	unsigned long caller[2];
};

#define FTRACE_REGS_ARGUMENTS	NR_REG_ARGUMENTS

static inline struct pt_regs *arch_ftrace_get_regs(struct ftrace_regs *fregs)
{
	return user_mode(&fregs->regs) ? (struct pt_regs *)0 : &fregs->regs;
}

static inline unsigned long
ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return instruction_pointer(&fregs->regs);
}

static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, unsigned long pc)
{
	instruction_pointer_set(&fregs->regs, pc);
}

static inline unsigned long ftrace_regs_get_argument(const struct ftrace_regs *fregs,
						     unsigned int n)
{
	return regs_get_kernel_argument(&fregs->regs, n);
}

static inline unsigned long ftrace_regs_get_return_address(const struct ftrace_regs *fregs)
{
	return procedure_link_pointer(&fregs->regs);
}

static inline unsigned long ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs)
{
	return kernel_stack_pointer(&fregs->regs);
}

static inline unsigned long ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs)
{
	return frame_pointer(&fregs->regs);
}

static inline unsigned long ftrace_regs_get_return_value(const struct ftrace_regs *fregs)
{
	return regs_return_value(&fregs->regs);
}

static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, unsigned long value)
{
	regs_set_return_value(&fregs->regs, value);
}

/* Nothing of the function has been executed: the stub returns to its caller in its stead. */
static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs)
{
	instruction_pointer_set(&fregs->regs, procedure_link_pointer(&fregs->regs));
}

/* As built, a site is two nops and not a call of _mcount, which this port does not have. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec);
#define ftrace_init_nop ftrace_init_nop

static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

#endif
#endif
