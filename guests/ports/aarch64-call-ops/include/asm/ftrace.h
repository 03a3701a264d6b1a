/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The port's part of ftrace's interface. Built with -fpatchable-function-entry=4,2, every function
 * has two nops in front of it and begins with two more, before its prologue and behind a landing
 * pad if there is one:
 *
 *			.quad	ops			the literal, from ftrace_init_nop() on
 *	function:	bti	c			if there is one
 *			mov	x9, x30			from ftrace_init_nop() on
 *	rec->ip:	bl	ftrace_caller		a nop while the site is off
 *
 * So rec->ip is the instruction that changes, and not the first one of the site. The literal is
 * aligned, so that it changes in one store, and it is found from rec->ip and from x30 whether there
 * is a landing pad or not. Functions whose nops are not aligned have no call site.
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

/*
 * The literal of a site, from x30 and from rec->ip, which are behind the site and one word before.
 */
#define LITERAL_SIZE		8
#define LITERAL_ALIGN		(LITERAL_SIZE - 1)
#define LITERAL_OFFSET		16		/* from x30, rounded down */

/* Of struct ftrace_ops, for mcount.S; ftrace.c compares them with the compiler's. */
#define FTRACE_OPS_FUNC		0
#define FTRACE_OPS_DIRECT_CALL	48

/* The members of struct ftrace_regs, for mcount.S; ftrace.c compares them with the compiler's. */
#define FREGS_X0		0
#define FREGS_X8		64
#define FREGS_DIRECT_TRAMP	72
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
 * @direct_tramp: where the stub goes in place of @pc, as if the site had called that; 0: nowhere
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
	unsigned long direct_tramp;
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

/* C23b: a trampoline for the stub to go to, when all tracers have been called. */
static inline void arch_ftrace_set_direct_caller(struct ftrace_regs *fregs, unsigned long addr)
{
	fregs->direct_tramp = addr;
}

/* As built, a site is two nops and not a call of _mcount, which this port does not have. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec);
#define ftrace_init_nop ftrace_init_nop

/*
 * From an entry of the table of call sites, the nops in front of a function, to rec->ip (C8, C22d):
 * 0 if there is no room for a literal.
 */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	if (addr & LITERAL_ALIGN)
		return 0;
	addr += LITERAL_SIZE;
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
