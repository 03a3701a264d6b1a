// SPDX-License-Identifier: MIT
/*
 * The sources of NMIs: a message to the local APIC, which a debugger can store, and the APIC's
 * timer, for which QEMU supports the delivery mode NMI. Ticks use that timer too, so a CPU with an
 * armed NMI has no ticks.
 */
#include <asm/apic.h>
#include <asm/io.h>
#include <linux/arch.h>
#include <linux/nmi.h>

bool arch_nmi_arm(u64 ns)
{
	arch_timer_stop();
	writel(APIC_DIVIDE_BY_1, APIC_TIMER_DIVIDE);
	writel(APIC_NMI, APIC_TIMER);
	writel(ns * (APIC_TIMER_HZ / 1000000000), APIC_TIMER_INITIAL);
	return true;
}

void arch_nmi_disarm(void)
{
	arch_timer_stop();
}
