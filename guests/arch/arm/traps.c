// SPDX-License-Identifier: MIT
/* The report of an unhandled exception. */
#include <asm/ptrace.h>
#include <asm/traps.h>
#include <linux/arch.h>
#include <linux/printk.h>
#include <linux/traps.h>
#include <linux/types.h>

/* DDI 0406, B3.13.3: the fault status of short descriptors. */
static const char *const fault_kinds[32] = {
	[0x01] = "alignment fault",
	[0x02] = "debug event",
	[0x03] = "access flag fault, section",
	[0x05] = "translation fault, section",
	[0x06] = "access flag fault, page",
	[0x07] = "translation fault, page",
	[0x08] = "external abort, nothing answers there",
	[0x09] = "domain fault, section",
	[0x0b] = "domain fault, page",
	[0x0d] = "permission fault, section",
	[0x0f] = "permission fault, page",
};

static u32 read_dfsr(void)
{
	u32 status;

	__asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status));
	return status;
}

static u32 read_ifsr(void)
{
	u32 status;

	__asm__ volatile("mrc p15, 0, %0, c5, c0, 1" : "=r"(status));
	return status;
}

static unsigned long fault_address(unsigned int vector)
{
	unsigned long address;

	if (vector == VECTOR_DATA_ABORT)
		__asm__ volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(address));
	else
		__asm__ volatile("mrc p15, 0, %0, c6, c0, 2" : "=r"(address));
	return address;
}

const char *exception_name(unsigned int vector)
{
	switch (vector) {
	case VECTOR_UNDEFINED:
		return "undefined instruction";
	case VECTOR_SVC:
		return "SVC";
	case VECTOR_PREFETCH_ABORT:
		return "prefetch abort";
	}
	return read_dfsr() & DFSR_WNR ? "data abort, write" : "data abort, read";
}

static void print_registers(const struct pt_regs *regs)
{
	int i;

	for (i = 0; i < 13; i++) {
		const char name[] = { 'r', i < 10 ? '0' + i : '1', i < 10 ? '\0' : '0' + i % 10,
				      '\0' };

		console_register(name, regs->regs[i], i % 4 == 3);
	}
	console_register("sp", regs->sp, false);
	console_register("lr", regs->lr, false);
	console_register("cpsr", regs->cpsr, true);
}

static void print_abort(unsigned int vector)
{
	u32 status = vector == VECTOR_DATA_ABORT ? read_dfsr() : read_ifsr();
	const char *kind = fault_kinds[FSR_STATUS(status)];

	console_register("address", fault_address(vector), false);
	console_register("status", status, true);
	console_puts(kind ? kind : "reserved fault status");
	console_puts("\n");
}

/* The vectors are set since head.S. */
void arch_trap_init(void)
{
}

/**
 * unhandled_exception - report an exception and stop (called by entry.S)
 * @regs: the interrupted registers, on the stack of the exception's mode
 * @vector: VECTOR_*
 */
__noreturn void unhandled_exception(struct pt_regs *regs, unsigned int vector);

void unhandled_exception(struct pt_regs *regs, unsigned int vector)
{
	const char *reason = exception_name(vector);

	_Static_assert(sizeof(*regs) == S_FRAME_SIZE, "S_FRAME_SIZE");
	_Static_assert(offsetof(struct pt_regs, sp) == S_SP, "S_SP");
	_Static_assert(offsetof(struct pt_regs, lr) == S_LR, "S_LR");
	_Static_assert(offsetof(struct pt_regs, orig_r0) == S_ORIG_R0, "S_ORIG_R0");
	_Static_assert(offsetof(struct pt_regs, syscallno) == S_SYSCALLNO, "S_SYSCALLNO");
	_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "S_PC");
	_Static_assert(offsetof(struct pt_regs, cpsr) == S_CPSR, "S_CPSR");

	oops_enter(reason, regs);
	if (vector == VECTOR_DATA_ABORT || vector == VECTOR_PREFETCH_ABORT)
		print_abort(vector);
	print_registers(regs);
	die(reason, regs);
}
