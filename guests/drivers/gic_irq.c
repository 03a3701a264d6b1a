// SPDX-License-Identifier: MIT
/* Dispatch of the interrupts of a GIC. */
#include <asm/irqflags.h>
#include <asm/ptrace.h>
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/gic.h>
#include <linux/irq.h>
#include <linux/sched.h>

void arch_irq_init(void)
{
	if (!current->cpu)
		gic_init();
	gic_init_cpu();
	/* FIQ is the NMI: always unmasked. */
	arch_local_fiq_enable();
}

static void handle_interrupt(u32 number)
{
	if (number == GIC_SGI_IPI)
		smp_ipi_interrupt();
	else if (number == GIC_PPI_VIRTUAL_TIMER)
		timer_interrupt();
	else if (number >= GIC_SPI_INJECTED && number < GIC_SPI_INJECTED + GIC_MESSAGES)
		injected_interrupt();
	else
		panic("unexpected interrupt %u", number);
}

void arch_handle_irq(void)
{
	u32 acknowledged = gic_acknowledge();
	u32 number = GIC_NUMBER(acknowledged);

	if (number >= GIC_SPURIOUS)
		return;
	/* An NMI is pending whose FIQ has not been taken yet: let it be taken. */
	if (gic_is_nmi(number)) {
		gic_return(acknowledged);
		return;
	}
	/*
	 * The next one may come before this one is handled, but stays pending: interrupts are
	 * masked. So a handler that switches threads leaves no interrupt active behind.
	 */
	gic_end(acknowledged);
	handle_interrupt(number);
}

void arch_send_ipi(unsigned int cpu)
{
	gic_send_sgi(cpu, GIC_SGI_IPI);
}
