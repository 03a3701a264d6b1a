// SPDX-License-Identifier: MIT
/*
 * The interrupt lines of the CPU: Cause.IP0 to IP7.
 */
#include <linux/arch.h>
#include <linux/irq.h>

#include <asm/mipsregs.h>
#include <asm/ptrace.h>
#include <asm/timer.h>

/*
 * IP0 is raised by software: by a debugger that sets the bit in `cause`. QEMU's stub takes that
 * as an mtc0, so the interrupt comes as soon as the CPU runs with interrupts open.
 */
#define LINE_INJECTED	0
#define LINE_IPI	3	/* pin 1 of the interrupt controller: cps.c */
#define LINE_TIMER	7	/* IntCtl.IPTI of all of QEMU's CPUs */

void handle_interrupt(struct pt_regs *regs);

void arch_irq_init(void)
{
	write_c0_32(CP0_STATUS, read_c0_32(CP0_STATUS) | ST0_IM(LINE_INJECTED) | ST0_IM(LINE_IPI) |
				ST0_IM(LINE_TIMER));
#if NR_CPUS > 1
	gic_init_cpu(current->cpu);
	/* Count has been running since the CPU was reset; the boot CPU's arch_timer_init() is done. */
	if (current->cpu)
		arch_timer_stop();
#endif
}

static __always_inline u32 pending_lines(void)
{
	/* Lines and masks lie in the same places. */
	return read_c0_32(CP0_CAUSE) & read_c0_32(CP0_STATUS);
}

/* From entry.S: the clock that wants to be read is nobody's business, all else is do_irq()'s. */
__section(".entry.text") void handle_interrupt(struct pt_regs *regs)
{
	u32 lines = pending_lines() & 0xff00;

	if (lines == CAUSE_IP(LINE_TIMER) && !timer_ticks())
		timer_interrupt();
	else
		do_irq(regs);
}

void arch_handle_irq(void)
{
	u32 lines = pending_lines();

	if (lines & CAUSE_IP(LINE_TIMER) && timer_interrupt())
		tick_interrupt();
#if NR_CPUS > 1
	if (lines & CAUSE_IP(LINE_IPI)) {
		gic_lower_ipi(current->cpu);
		smp_ipi_interrupt();
	}
#endif
	if (lines & CAUSE_IP(LINE_INJECTED)) {
		write_c0_32(CP0_CAUSE, read_c0_32(CP0_CAUSE) & ~CAUSE_IP(LINE_INJECTED));
		injected_interrupt();
	}
}
