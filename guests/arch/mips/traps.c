// SPDX-License-Identifier: MIT
/*
 * Exceptions: their names, and the registers for the report.
 */
#include <linux/arch.h>
#include <linux/traps.h>

#include <asm/mipsregs.h>
#include <asm/ptrace.h>
#include <asm/traps.h>

#define SZREG	sizeof(long)
_Static_assert(offsetof(struct pt_regs, lo) == PT_LO, "ptrace.h");
_Static_assert(offsetof(struct pt_regs, badvaddr) == PT_BADVADDR, "ptrace.h");
_Static_assert(offsetof(struct pt_regs, syscall) == PT_SYSCALL, "ptrace.h");
_Static_assert(sizeof(struct pt_regs) == PT_SIZE, "ptrace.h");

void do_exception(const struct pt_regs *regs) __noreturn;

/* Cause.ExcCode, MIPS Architecture For Programmers, volume III. */
static const char *const exception_names[32] = {
	[0] = "Int (interrupt)",
	[1] = "Mod (store to a read-only page)",
	[2] = "TLBL (load or fetch from an unmapped address)",
	[3] = "TLBS (store to an unmapped address)",
	[4] = "AdEL (load or fetch from an unaligned or forbidden address)",
	[5] = "AdES (store to an unaligned or forbidden address)",
	[6] = "IBE (bus error on a fetch)",
	[7] = "DBE (bus error on a load or store)",
	[8] = "Sys (system call)",
	[9] = "Bp (breakpoint)",
	[10] = "RI (reserved instruction)",
	[11] = "CpU (coprocessor unusable)",
	[12] = "Ov (arithmetic overflow)",
	[13] = "Tr (trap, as for a division by zero)",
	[15] = "FPE (floating point)",
	[23] = "WATCH (watchpoint)",
	[24] = "MCheck (machine check)",
};

static const char register_names[32][5] = {
	"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
#ifdef CONFIG_64BIT
	"a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3",
#else
	"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7",
#endif
	"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7",
	"t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra",
};

const char *exception_name(const struct pt_regs *regs)
{
	const char *name = exception_names[(regs->cause & CAUSE_EXCCODE) >> CAUSE_EXCCODE_SHIFT];

	return name ? name : "reserved exception code";
}

void do_exception(const struct pt_regs *regs)
{
	const char *name = exception_name(regs);
	int i;

	oops_enter(name, regs);
	console_register("status", regs->status, false);
	console_register("cause", regs->cause, false);
	console_register("badvaddr", regs->badvaddr, true);
	console_register("hi", regs->hi, false);
	console_register("lo", regs->lo, true);
	for (i = 0; i < 32; i++)
		console_register(register_names[i], regs->regs[i], i % 4 == 3);
	die(name, regs);
}

void arch_trap_init(void)
{
	/* head.S has set EBase already. */
}
