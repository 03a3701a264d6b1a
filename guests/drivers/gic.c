// SPDX-License-Identifier: MIT
/*
 * The interrupt controller, a GICv2 without security extensions. Source: Arm Generic Interrupt
 * Controller Architecture Specification, version 2 (IHI 0048).
 *
 * Group 0 is for NMIs: the highest priority, signalled as FIQ. All others are in group 1, signalled
 * as IRQ, with lower priority, so that an NMI preempts interrupt handlers. GICC_IAR acknowledges
 * interrupts of both groups (AckCtl), because QEMU's GIC has no GICC_AIAR.
 */
#include <asm/io.h>
#include <linux/gic.h>
#include <linux/threads.h>

#define GICD			0x08000000ul
#define GICD_CTLR		(GICD + 0x000)
#define GICD_IGROUPR(number)	(GICD + 0x080 + (number) / 32 * 4)
#define GICD_ISENABLER(number)	(GICD + 0x100 + (number) / 32 * 4)
#define GICD_ISPENDR(number)	(GICD + 0x200 + (number) / 32 * 4)
#define GICD_IPRIORITYR(number)	(GICD + 0x400 + (number) / 4 * 4)
#define GICD_ITARGETSR(number)	(GICD + 0x800 + (number) / 4 * 4)
#define GICD_ICFGR(number)	(GICD + 0xc00 + (number) / 16 * 4)
#define GICD_SGIR		(GICD + 0xf00)
#define GICD_SGIR_TARGET(cpu)	(1u << (16 + (cpu)))

#define GICC			0x08010000ul
#define GICC_CTLR		(GICC + 0x00)
#define GICC_PMR		(GICC + 0x04)
#define GICC_IAR		(GICC + 0x0c)
#define GICC_EOIR		(GICC + 0x10)

/* GICD_CTLR has the first two, GICC_CTLR has all */
#define GIC_GROUP0		(1 << 0)
#define GIC_GROUP1		(1 << 1)
#define GICC_CTLR_ACKCTL	(1 << 2)
#define GICC_CTLR_FIQEN		(1 << 3)

#define PRIORITY_NMI		0x00000000u	/* of four interrupts */
#define PRIORITY_IRQ		0x80808080u
#define ICFGR_EDGE		0xaaaaaaaau	/* of sixteen */

#define BIT(number)		(1u << (number) % 32)
#define FIRST_SPI		32

_Static_assert(GIC_SPI_NMI == GIC_SPI_INJECTED + GIC_MESSAGES, "both kinds of messages");
_Static_assert(GIC_SPI_INJECTED % 16 == 0 && NR_CPUS <= GIC_MESSAGES, "messages");

void gic_init(void)
{
	const u32 nmi = 0xffu << GIC_SPI_NMI % 32;
	u32 number;

	writel(0, GICD_CTLR);
	for (number = GIC_SPI_INJECTED; number < GIC_SPI_INJECTED + GIC_MESSAGES; number += 4) {
		u32 targets = 0x08040201u << number % 8;

		writel(PRIORITY_IRQ, GICD_IPRIORITYR(number));
		writel(targets, GICD_ITARGETSR(number));
		writel(PRIORITY_NMI, GICD_IPRIORITYR(number + GIC_MESSAGES));
		writel(targets, GICD_ITARGETSR(number + GIC_MESSAGES));
	}
	writel(ICFGR_EDGE, GICD_ICFGR(GIC_SPI_INJECTED));
	writel(~nmi, GICD_IGROUPR(GIC_SPI_INJECTED));
	writel(nmi | nmi >> GIC_MESSAGES, GICD_ISENABLER(GIC_SPI_INJECTED));
	writel(GIC_GROUP0 | GIC_GROUP1, GICD_CTLR);
}

/* The registers of interrupts below FIRST_SPI are banked. */
void gic_init_cpu(void)
{
	u32 number;

	for (number = 0; number < FIRST_SPI; number += 4)
		writel(PRIORITY_IRQ, GICD_IPRIORITYR(number));
	writel(PRIORITY_IRQ & ~(0xffu << GIC_PPI_PHYSICAL_TIMER % 4 * 8),
	       GICD_IPRIORITYR(GIC_PPI_PHYSICAL_TIMER));
	writel(~BIT(GIC_PPI_PHYSICAL_TIMER), GICD_IGROUPR(0));
	writel(BIT(GIC_SGI_IPI) | BIT(GIC_PPI_VIRTUAL_TIMER) | BIT(GIC_PPI_PHYSICAL_TIMER),
	       GICD_ISENABLER(0));
	writel(0xff, GICC_PMR);
	writel(GIC_GROUP0 | GIC_GROUP1 | GICC_CTLR_ACKCTL | GICC_CTLR_FIQEN, GICC_CTLR);
}

u32 gic_acknowledge(void)
{
	return readl(GICC_IAR);
}

void gic_end(u32 acknowledged)
{
	writel(acknowledged, GICC_EOIR);
}

bool gic_is_nmi(u32 number)
{
	return number == GIC_PPI_PHYSICAL_TIMER ||
	       (number >= GIC_SPI_NMI && number < GIC_SPI_NMI + GIC_MESSAGES);
}

/* An MSI is edge-triggered and must be made pending again; a timer's level is still asserted. */
void gic_return(u32 acknowledged)
{
	u32 number = GIC_NUMBER(acknowledged);

	if (number >= FIRST_SPI)
		writel(BIT(number), GICD_ISPENDR(number));
	gic_end(acknowledged);
}

void gic_send_sgi(unsigned int cpu, u32 number)
{
	/* Complete this CPU's stores before the interrupt. */
	__asm__ volatile("dsb ishst" : : : "memory");
	writel(GICD_SGIR_TARGET(cpu) | number, GICD_SGIR);
}
