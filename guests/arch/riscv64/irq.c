// SPDX-License-Identifier: MIT
/* Interrupt dispatch and IPIs: an IMSIC per CPU, or the SSWI device without AIA. */
#include <asm/aclint.h>
#include <asm/csr.h>
#include <asm/imsic.h>
#include <asm/io.h>
#include <asm/ptrace.h>
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/sched.h>

#define EIDELIVERY	0x70
#define EITHRESHOLD	0x72
#define EIE0		0xc0

extern unsigned long has_imsic;		/* head.S */

static void imsic_write(unsigned long selected, unsigned long value)
{
	__asm__ volatile("csrw %0, %2\n\tcsrw %1, %3"
			 : : "i"(CSR_SISELECT), "i"(CSR_SIREG), "r"(selected), "r"(value));
}

void arch_irq_init(void)
{
	if (!has_imsic) {
		__asm__ volatile("csrs sie, %0" : : "r"(1ul << INT_SOFTWARE));
		return;
	}
	imsic_write(EIE0, 1ul << IMSIC_IPI | 1ul << IMSIC_INJECTED);
	imsic_write(EITHRESHOLD, 0);
	imsic_write(EIDELIVERY, 1);
	__asm__ volatile("csrs sie, %0" : : "r"(1ul << INT_EXTERNAL));
}

static void handle_message(void)
{
	unsigned long top;

	/* Reading gives the interrupt, writing acknowledges it. */
	__asm__ volatile("csrrw %0, %1, zero" : "=r"(top) : "i"(CSR_STOPEI) : "memory");
	switch (top >> 16) {
	case 0:
		return;
	case IMSIC_IPI:
		smp_ipi_interrupt();
		return;
	case IMSIC_INJECTED:
		injected_interrupt();
		return;
	}
	panic("unexpected message %lu", top >> 16);
}

/*
 * The pending bit is cleared first: a later request raises the interrupt again. The debugger's mark
 * is read and cleared by one instruction, so that no later mark is lost.
 */
static void handle_software_interrupt(void)
{
	u32 injected;

	__asm__ volatile("csrc sip, %0\n\tfence iorw, iorw"
			 : : "r"(1ul << INT_SOFTWARE) : "memory");
	__asm__ volatile("amoswap.w %0, zero, (%1)"
			 : "=r"(injected) : "r"(PLIC_INJECTED(current->cpu)) : "memory");
	if (injected)
		injected_interrupt();
	smp_ipi_interrupt();
}

void arch_handle_irq(void)
{
	unsigned long cause;

	__asm__ volatile("csrr %0, scause" : "=r"(cause));
	switch (cause & ~CAUSE_INTERRUPT) {
	case INT_EXTERNAL:
		handle_message();
		return;
	case INT_SOFTWARE:
		handle_software_interrupt();
		return;
	case INT_TIMER:
		timer_interrupt();
		return;
	}
	panic("unexpected interrupt %lu", cause & ~CAUSE_INTERRUPT);
}

void arch_send_ipi(unsigned int cpu)
{
	/* Complete this CPU's stores before the interrupt. */
	__asm__ volatile("fence rw, rw" : : : "memory");
	if (has_imsic)
		writel(IMSIC_IPI, IMSIC_PAGE(cpu));
	else
		writel(1, SSWI(cpu));
}
