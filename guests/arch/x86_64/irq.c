// SPDX-License-Identifier: MIT
/* Interrupt dispatch and IPIs: a local APIC per CPU. */
#include <asm/apic.h>
#include <asm/io.h>
#include <asm/ptrace.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

/* The 8259 interrupt controllers, which the firmware may have left unmasked: mask all inputs. */
#define PIC_MASK_FIRST		0x21
#define PIC_MASK_SECOND		0xa1

void arch_irq_init(void)
{
	outb(0xff, PIC_MASK_FIRST);
	outb(0xff, PIC_MASK_SECOND);
	writel(APIC_MASKED, APIC_LINT0);
	writel(APIC_MASKED, APIC_LINT1);
	writel(APIC_MASKED, APIC_TIMER);
	writel(APIC_ENABLE | VECTOR_SPURIOUS, APIC_SPURIOUS);
}

/* The highest vector in service is the current interrupt's: interrupts do not nest. */
static unsigned int in_service(void)
{
	unsigned long place = APIC + 0x170;
	int word;
	u32 bits;

	for (word = 7; word >= 0; word--, place -= 16) {
		bits = readl(place);
		if (bits)
			return 32 * word + 31 - __builtin_clz(bits);
	}
	return VECTOR_SPURIOUS;
}

void arch_handle_irq(void)
{
	unsigned int vector = in_service();

	if (vector == VECTOR_SPURIOUS)
		return;
	writel(0, APIC_EOI);
	switch (vector) {
	case VECTOR_TIMER:
		tick_interrupt();
		return;
	case VECTOR_IPI:
		smp_ipi_interrupt();
		return;
	case VECTOR_INJECTED:
		injected_interrupt();
		return;
	}
	panic("unexpected interrupt %u", vector);
}

/* A command is two writes: no interrupt handler may send another one between them. */
static void send_command(unsigned int cpu, u32 command)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	writel(cpu << 24, APIC_COMMAND_TO);
	writel(command, APIC_COMMAND);
	raw_local_irq_restore(flags);
}

void apic_start_cpu(unsigned int cpu, unsigned long address);

void apic_start_cpu(unsigned int cpu, unsigned long address)
{
	send_command(cpu, APIC_INIT);
	send_command(cpu, APIC_STARTUP | address >> 12);
}

void arch_send_ipi(unsigned int cpu)
{
	send_command(cpu, APIC_FIXED | VECTOR_IPI);
}
