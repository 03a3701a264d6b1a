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
 * IP0 is a software interrupt, raised by a debugger that sets the bit in `cause`. QEMU's gdbstub
 * writes it like an mtc0, so the interrupt is taken as soon as the CPU runs with interrupts
 * enabled.
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
	/* Count has been running since reset; the boot CPU's arch_timer_init() is done. */
	if (current->cpu)
		arch_timer_stop();
#endif
}

static __always_inline u32 pending_lines(void)
{
	/* IP and IM have the same bit positions. */
	return read_c0_32(CP0_CAUSE) & read_c0_32(CP0_STATUS);
}

/* From entry.S. A timer interrupt only for reading the clock is handled here, not by do_irq(). */
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
