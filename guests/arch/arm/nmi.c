// SPDX-License-Identifier: MIT
/*
 * NMIs: interrupts of group 0, which the GIC signals as FIQ. They come from the physical timer,
 * armed by the guest, or from a debugger's MSI. They interrupt all code except other NMIs: FIQ is
 * masked from its own exception to the return from it, and nowhere else.
 */
#include <asm/ptrace.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/gic.h>
#include <linux/nmi.h>

#define TIMER_ENABLE	1	/* and IMASK clear */

void handle_fiq(struct pt_regs *regs);

/* CNTP_CTL */
static void set_control(u32 control)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c2, 1\n\tisb" : : "r"(control) : "memory");
}

bool arch_nmi_arm(u64 ns)
{
	u32 frequency;
	u64 count;

	__asm__ volatile("isb\n\tmrrc p15, 0, %Q0, %R0, c14" : "=r"(count) : : "memory");
	__asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
	count += ns * (frequency / 1000) / 1000000;
	__asm__ volatile("mcrr p15, 2, %Q0, %R0, c14" : : "r"(count));	/* CNTP_CVAL */
	set_control(TIMER_ENABLE);
	return true;
}

void arch_nmi_disarm(void)
{
	set_control(0);
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
