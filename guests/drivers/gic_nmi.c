// SPDX-License-Identifier: MIT
/*
 * NMIs: interrupts of group 0, which the GIC signals as FIQ. They come from the physical timer,
 * armed by the guest, or from a debugger's MSI. They interrupt all code except other NMIs and the
 * few instructions of an arch's entry.S with FIQ masked.
 */
#include <asm/arch_timer.h>
#include <asm/ptrace.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/gic.h>
#include <linux/nmi.h>

#define TIMER_ENABLE	1	/* and IMASK clear */

void handle_fiq(struct pt_regs *regs);

bool arch_nmi_arm(u64 ns)
{
	u64 count = physical_timer_count();

	count += ns * (timer_frequency() / 1000) / 1000000;
	physical_timer_set_deadline(count);
	physical_timer_set_control(TIMER_ENABLE);
	return true;
}

void arch_nmi_disarm(void)
{
	physical_timer_set_control(0);
}

/* Called by entry.S with interrupts and NMIs masked. */
void handle_fiq(struct pt_regs *regs)
{
	u32 acknowledged = gic_acknowledge();
	u32 number = GIC_NUMBER(acknowledged);

	if (number >= GIC_SPURIOUS)
		return;
	if (!gic_is_nmi(number))
		panic("FIQ, but the most urgent interrupt is %u", number);
	if (number == GIC_PPI_PHYSICAL_TIMER)
		arch_nmi_disarm();
	gic_end(acknowledged);
	do_nmi(regs);
}
