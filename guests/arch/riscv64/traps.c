// SPDX-License-Identifier: MIT
/* The reports of fatal exceptions. */
#include <asm/ptrace.h>
#include <asm/traps.h>
#include <linux/arch.h>
#include <linux/printk.h>
#include <linux/traps.h>
#include <linux/types.h>

/* The RISC-V Instruction Set Manual, volume II, scause. */
static const char *const exception_names[] = {
	"instruction address misaligned", "instruction access fault", "illegal instruction",
	"breakpoint", "load address misaligned", "load access fault",
	"store address misaligned", "store access fault", "environment call from user mode",
	"environment call from supervisor mode", "reserved", "environment call from machine mode",
	"instruction page fault", "load page fault", "reserved", "store page fault",
};

static const char *const register_names[] = {
	"ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3",
	"a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
	"s11", "t3", "t4", "t5", "t6",
};

const char *exception_name(unsigned long cause)
{
	if (cause >= sizeof(exception_names) / sizeof(exception_names[0]))
		return "reserved";
	return exception_names[cause];
}

static void print_registers(const struct pt_regs *regs)
{
	int i;

	for (i = 0; i < 31; i++)
		console_register(register_names[i], regs->regs[i], i % 3 == 2 || i == 30);
	console_register("sstatus", regs->status, false);
	console_register("scause", regs->cause, false);
	console_register("stval", regs->value, true);
}

/* stvec is set since head.S. */
void arch_trap_init(void)
{
}

/**
 * unhandled_exception() - report an exception and stop (called by entry.S)
 * @regs: the interrupted registers, on the exception stack
 */
__noreturn void unhandled_exception(struct pt_regs *regs);

void unhandled_exception(struct pt_regs *regs)
{
	const char *reason = exception_name(regs->cause);

	_Static_assert(sizeof(*regs) == S_FRAME_SIZE, "S_FRAME_SIZE");
	_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "S_PC");
	_Static_assert(offsetof(struct pt_regs, regs) == S_X(1), "S_X");
	_Static_assert(offsetof(struct pt_regs, status) == S_STATUS, "S_STATUS");
	_Static_assert(offsetof(struct pt_regs, cause) == S_CAUSE, "S_CAUSE");
	_Static_assert(offsetof(struct pt_regs, value) == S_VALUE, "S_VALUE");
	_Static_assert(offsetof(struct pt_regs, orig_a0) == S_ORIG_A0, "S_ORIG_A0");
	_Static_assert(offsetof(struct pt_regs, syscallno) == S_SYSCALLNO, "S_SYSCALLNO");

	oops_enter(reason, regs);
	print_registers(regs);
	die(reason, regs);
}
