/* SPDX-License-Identifier: MIT */
/*
 * The port's part of ftrace's interface. Built with -fpatchable-function-entry=2, every function
 * begins with two nops, before its prologue:
 *
 *	rec->ip:	mv	t0, ra			from ftrace_init_nop() on
 *			jal	ftrace_caller		a nop while the site is off
 *
 * A module is beyond the reach of jal. Its sites call a trampoline in the module
 * (module/ftrace_trampoline.S).
 */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#define RISCV_INSN_SIZE		4

/* The size of a site, as rec->ip is its first word; ip = ra - MCOUNT_INSN_SIZE (C2). */
#define MCOUNT_INSN_SIZE	(2 * RISCV_INSN_SIZE)

/* Tracers get an ops and the registers at the site (C18). */
#define ARCH_SUPPORTS_FTRACE_OPS	1

#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

/* The members of struct ftrace_regs, for mcount.S; ftrace.c compares them with the compiler's. */
#define FREGS_A0		0
#define FREGS_T2		64
#define FREGS_SP		72
#define FREGS_EPC		80
#define FREGS_RECORD		96
#define FREGS_S0		112
#define FREGS_RA		120
#define FREGS_SIZE		128

#ifndef __ASSEMBLER__

struct module;
struct dyn_ftrace;

struct dyn_arch_ftrace {
	/* Empty: rec->ip is enough. */
};

/**
 * struct ftrace_regs - the registers at the call site, and the stub's frame
 * @a:		a0..a7, the arguments and later the results
 * @t2:		the static chain of nested functions
 * @sp:		the stack pointer at the site; a change of it has no effect
 * @epc:	where the stub returns to: behind the site
 * @record:	the stub's frame record
 * @s0:		the frame pointer, of the caller
 * @ra:		where the traced function returns to
 *
 * What a tracer changes here is in the registers when the stub returns. @s0 and @ra are a frame
 * record, the one that the traced function has not made yet.
 */
struct ftrace_regs {
	unsigned long a[8];
	unsigned long t2;
	unsigned long sp;
	unsigned long epc;
	unsigned long unused;
	unsigned long record[2];
	unsigned long s0;
	unsigned long ra;
};

#define FTRACE_REGS_ARGUMENTS	8

static inline unsigned long
ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return fregs->epc;
}

static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, unsigned long pc)
{
	fregs->epc = pc;
}

static inline unsigned long ftrace_regs_get_argument(const struct ftrace_regs *fregs,
						     unsigned int n)
{
	return n < FTRACE_REGS_ARGUMENTS ? fregs->a[n] : 0;
}

static inline unsigned long ftrace_regs_get_return_address(const struct ftrace_regs *fregs)
{
	return fregs->ra;
}

static inline unsigned long ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs)
{
	return fregs->sp;
}

static inline unsigned long ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs)
{
	return fregs->s0;
}

static inline unsigned long ftrace_regs_get_return_value(const struct ftrace_regs *fregs)
{
	return fregs->a[0];
}

static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, unsigned long value)
{
	fregs->a[0] = value;
}

/* Nothing of the function has been executed: the stub returns to its caller in its stead. */
static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs)
{
	fregs->epc = fregs->ra;
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
