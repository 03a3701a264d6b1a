/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The port's part of ftrace's interface. Built with -fpatchable-function-entry=2, every function
 * begins with two nops, before its prologue and behind a landing pad if there is one:
 *
 *			mov	x9, x30			from ftrace_init_nop() on
 *	rec->ip:	bl	ftrace_caller		a nop while the site is off
 *
 * So rec->ip is the instruction that changes, and not the first one of the site.
 *
 * A module is beyond the reach of bl. Its sites call a trampoline in the module
 * (module/ftrace_trampoline.S).
 */
#define AARCH64_INSN_SIZE	4

/* What changes at rec->ip; ip = x30 - MCOUNT_INSN_SIZE (C2). */
#define MCOUNT_INSN_SIZE	AARCH64_INSN_SIZE

/* Tracers get an ops and the registers at the site (C18). */
#define ARCH_SUPPORTS_FTRACE_OPS	1

/*
 * C12. The return address is in no frame yet when it is replaced. retp is the stack pointer at the
 * entry of the traced function, whose frame will lie below it.
 */
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

/* The landing pad for indirect calls; a nop on CPUs without BTI. */
#define INSN_BTI_C		0xd503245f

/* The members of struct ftrace_regs, for mcount.S; ftrace.c compares them with the compiler's. */
#define FREGS_X0		0
#define FREGS_X8		64
#define FREGS_FP		80
#define FREGS_LR		88
#define FREGS_SP		96
#define FREGS_PC		104
#define FREGS_SIZE		112

#ifndef __ASSEMBLER__

struct module;
struct dyn_ftrace;

struct dyn_arch_ftrace {
	/* Empty: rec->ip is enough. */
};

/**
 * struct ftrace_regs - the registers at the call site
 * @regs:	x0..x7, the arguments and later the results, and x8, the address of a structure
 *		result
 * @fp:		x29, of the caller
 * @lr:		where the traced function returns to: x30 before the site
 * @sp:		the stack pointer at the site; a change of it has no effect
 * @pc:		where the stub returns to: behind the site
 *
 * What a tracer changes here is in the registers when the stub returns. @fp and @lr are a frame
 * record, the one that the traced function has not made yet.
 */
struct ftrace_regs {
	unsigned long regs[9];
	unsigned long unused;
	unsigned long fp;
	unsigned long lr;
	unsigned long sp;
	unsigned long pc;
};

#define FTRACE_REGS_ARGUMENTS	8

static inline unsigned long
ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return fregs->pc;
}

static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, unsigned long pc)
{
	fregs->pc = pc;
}

static inline unsigned long ftrace_regs_get_argument(const struct ftrace_regs *fregs,
						     unsigned int n)
{
	return n < FTRACE_REGS_ARGUMENTS ? fregs->regs[n] : 0;
}

static inline unsigned long ftrace_regs_get_return_address(const struct ftrace_regs *fregs)
{
	return fregs->lr;
}

static inline unsigned long ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs)
{
	return fregs->sp;
}

static inline unsigned long ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs)
{
	return fregs->fp;
}

static inline unsigned long ftrace_regs_get_return_value(const struct ftrace_regs *fregs)
{
	return fregs->regs[0];
}

static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, unsigned long value)
{
	fregs->regs[0] = value;
}

/* Nothing of the function has been executed: the stub returns to its caller in its stead. */
static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs)
{
	fregs->pc = fregs->lr;
}

/* As built, a site is two nops and not a call of _mcount, which this port does not have. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec);
#define ftrace_init_nop ftrace_init_nop

/*
 * From an entry of the table of call sites to rec->ip (C8): over the first word. gcc's table points
 * after a landing pad; if a compiler's table points to the function, that is skipped too.
 */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	if (*(const unsigned int *)addr == INSN_BTI_C)
		addr += AARCH64_INSN_SIZE;
	return addr + AARCH64_INSN_SIZE;
}

#ifdef CONFIG_SYSCALL_TRACEPOINTS
/* The functions of system calls have other names than the system calls. */
#define ARCH_HAS_SYSCALL_MATCH_SYM_NAME
_Bool arch_syscall_match_sym_name(const char *sym, const char *name);
#endif

#endif
#endif
