/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CPS_H
#define _ASM_CPS_H

/*
 * A coherent processing system: several CPUs with a coherence manager (GCR), an interrupt
 * controller (GIC) and a power controller (CPC). Register names are those of the I6400 and P5600
 * manuals, for the registers that QEMU implements. QEMU's "cores" are virtual processors of one
 * core.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/io.h>

#define GCR_BASE		KSEG1ADDR(0x1fbf8000)
#define GCR_GIC_BASE		0x0080		/* address of the GIC; bit 0: enable */
#define GCR_CPC_BASE		0x0088
#define GCR_CL_OTHER		0x2018		/* whose registers the next one is of */
#define GCR_CO_RESET_BASE	0x4020		/* reset address of that CPU */

#define GIC_PHYSICAL		0x1bdc0000
#define GIC_BASE		KSEG1ADDR(GIC_PHYSICAL)
#define GIC_SH_CONFIG		0x0000
#define GIC_SH_COUNTERLO	0x0010
#define GIC_SH_WEDGE		0x0280		/* raise or lower an interrupt */
#define GIC_SH_SMASK(n)		(0x0380 + (n) / 32 * 4)
#define GIC_SH_MAP_PIN(n)	(0x0500 + (n) * 4)
#define GIC_SH_MAP_VP(n)	(0x2000 + (n) * 32)
#define GIC_VL_OTHER		0x8080		/* whose registers the next one is of */
#define GIC_VO_COMPARELO	0xc0a0

#define GIC_CONFIG_COUNTSTOP	0x10000000
#define GIC_WEDGE_RAISE		0x80000000
#define GIC_MAP_TO_PIN		0x80000000
#define GIC_COUNT_NS		10

#define CPC_PHYSICAL		0x1bde0000
#define CPC_BASE		KSEG1ADDR(CPC_PHYSICAL)
#define CPC_VP_RUN		0x2028		/* a bit for each CPU */

static __always_inline u32 gic_read(unsigned long offset)
{
	return readl(GIC_BASE + offset);
}

static __always_inline void gic_write(u32 value, unsigned long offset)
{
	writel(value, GIC_BASE + offset);
}

/*
 * Each CPU also has an unused timer in the GIC. If the counter reaches its compare value while time
 * does not advance, as with -icount, QEMU (7.2 to 10.0) hangs. So any CPU keeps the compare values
 * of all CPUs ahead of the counter: with -icount each stop in a debugger may take milliseconds, in
 * which other CPUs do not run.
 */
static __always_inline void gic_postpone_timers(void)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		gic_write(cpu, GIC_VL_OTHER);
		gic_write(gic_read(GIC_SH_COUNTERLO) - 1, GIC_VO_COMPARELO);
	}
}

/** cps_init - once, on the boot CPU: map the controllers and start the counter */
void cps_init(void);

/** gic_init_cpu - route a CPU's IPI to its interrupt line 3 */
void gic_init_cpu(unsigned int cpu);

/** gic_lower_ipi - lower this CPU's IPI, so that it can be sent again */
void gic_lower_ipi(unsigned int cpu);

#endif
