// SPDX-License-Identifier: MIT
/* The report of an unhandled exception. */
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/traps.h>
#include <linux/arch.h>
#include <linux/printk.h>
#include <linux/traps.h>

/* Arm ARM (DDI 0487), ESR_EL1. */
static const char *const exception_classes[64] = {
	[0x00] = "unknown reason (undefined instruction)",
	[0x01] = "trapped WFI or WFE",
	[0x03] = "trapped MCR or MRC (coprocessor 15)",
	[0x04] = "trapped MCRR or MRRC (coprocessor 15)",
	[0x05] = "trapped MCR or MRC (coprocessor 14)",
	[0x06] = "trapped LDC or STC",
	[0x07] = "trapped floating point or SIMD",
	[0x0a] = "trapped LD64B or ST64B",
	[0x0c] = "trapped MRRC (coprocessor 14)",
	[0x0d] = "branch target (BTI)",
	[0x0e] = "illegal execution state",
	[0x11] = "SVC (AArch32)",
	[0x15] = "SVC",
	[0x16] = "HVC",
	[0x17] = "SMC",
	[0x18] = "trapped MSR, MRS or system instruction",
	[0x19] = "trapped SVE",
	[0x1c] = "pointer authentication failure",
	[0x20] = "instruction abort from a lower level",
	[0x21] = "instruction abort",
	[0x22] = "pc alignment fault",
	[0x24] = "data abort from a lower level",
	[0x25] = "data abort",
	[0x26] = "sp alignment fault",
	[0x28] = "floating point (AArch32)",
	[0x2c] = "floating point",
	[0x2f] = "SError",
	[0x30] = "breakpoint from a lower level",
	[0x31] = "breakpoint",
	[0x32] = "software step from a lower level",
	[0x33] = "software step",
	[0x34] = "watchpoint from a lower level",
	[0x35] = "watchpoint",
	[0x38] = "BKPT (AArch32)",
	[0x3c] = "BRK",
};

/* Fault status below 0x10; the two lowest bits are the level of the table. */
static const char *const fault_kinds[] = {
	"address size fault", "translation fault", "access flag fault", "permission fault",
};

static const char *const vector_sources[] = { "EL1t", "EL1h", "EL0", "EL0 (AArch32)" };
static const char *const vector_kinds[] = { "synchronous", "IRQ", "FIQ", "SError" };

const char *exception_name(unsigned long esr)
{
	const char *name = exception_classes[ESR_EC(esr)];

	return name ? name : "reserved exception class";
}

static void print_fault_status(unsigned long esr)
{
	unsigned long status = ESR_FSC(esr);

	console_puts("fault status ");
	console_digits(status, 2);
	if (status < 0x10) {
		const char level[] = { '0' + (status & 3), '\0' };

		console_puts(": ");
		console_puts(fault_kinds[status >> 2]);
		console_puts(", level ");
		console_puts(level);
	} else if (status == 0x10) {
		console_puts(": external abort, nothing answers there");
	} else if (status == 0x21) {
		console_puts(": alignment fault");
	}
	if (esr & ESR_FNV)
		console_puts(" (far is not valid)");
	console_puts("\n");
}

/* Without FEAT_FPAC a failed aut* gives a non-canonical address. */
static bool failed_authentication(unsigned long address)
{
	return (address >> 61 & 3) == 1 && !(address >> 55 & 1);
}

static void print_registers(const struct pt_regs *regs)
{
	int i;

	for (i = 0; i < 31; i++) {
		const char name[] = { 'x', i < 10 ? '0' + i : '0' + i / 10,
				      i < 10 ? '\0' : '0' + i % 10, '\0' };

		console_register(name, regs->regs[i], i % 3 == 2);
	}
	console_register("sp", regs->sp, true);
	console_register("spsr", regs->pstate, true);
}

static void print_syndrome(unsigned long esr, unsigned long far)
{
	console_register("esr", esr, false);

	/* FAR is not valid for the other classes. */
	switch (ESR_EC(esr)) {
	case ESR_EC_IABT:
	case ESR_EC_IABT_LOWER:
		console_register("far", far, false);
		console_puts("instruction fetch\n");
		if (failed_authentication(far))
			console_puts("the address has failed authentication with an A key\n");
		print_fault_status(esr);
		break;
	case ESR_EC_DABT:
	case ESR_EC_DABT_LOWER:
		console_register("far", far, false);
		console_puts(esr & ESR_WNR ? "write\n" : "read\n");
		print_fault_status(esr);
		break;
	case ESR_EC_PC_ALIGNMENT:
	case ESR_EC_WATCHPOINT:
	case ESR_EC_WATCHPOINT_LOWER:
		console_register("far", far, true);
		break;
	default:
		console_puts("\n");
	}
}

/* The vectors are set since head.S. */
void arch_trap_init(void)
{
}

/**
 * unhandled_exception - report an exception and stop (called by vectors.S)
 * @regs: the interrupted registers, on the exception stack
 * @vector: number of the vector, 0 to 15
 * @esr: ESR_EL1, the reason
 * @far: FAR_EL1, the faulting address, if ESR_EL1 says it is valid
 */
__noreturn void unhandled_exception(struct pt_regs *regs, unsigned int vector, unsigned long esr,
				    unsigned long far);

void unhandled_exception(struct pt_regs *regs, unsigned int vector, unsigned long esr,
			 unsigned long far)
{
	const char *reason = vector & 3 ? vector_kinds[vector & 3] : exception_name(esr);

	_Static_assert(sizeof(*regs) == S_FRAME_SIZE, "S_FRAME_SIZE");
	_Static_assert(offsetof(struct pt_regs, sp) == S_SP, "S_SP");
	_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "S_PC");
	_Static_assert(offsetof(struct pt_regs, orig_x0) == S_ORIG_X0, "S_ORIG_X0");
	_Static_assert(offsetof(struct pt_regs, record) == S_RECORD, "S_RECORD");

	oops_enter(reason, regs);
	console_puts("in ");
	console_puts(vector_sources[vector >> 2 & 3]);
	console_puts("\n");
	print_syndrome(esr, far);
	print_registers(regs);
	die(reason, regs);
}
