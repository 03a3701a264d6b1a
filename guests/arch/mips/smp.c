// SPDX-License-Identifier: MIT
/*
 * Several CPUs: a coherent processing system. QEMU starts one CPU; the others wait in the power
 * controller until they are started.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/errno.h>

#include <asm/mipsregs.h>
#include <asm/processor.h>
#include <asm/timer.h>

#if NR_CPUS > 1

#define IPI(cpu)	(48 + (cpu))	/* of the GIC's shared interrupts, one for each CPU */
#define IPI_PIN		1		/* line 3: pin 0 is line 2 */

/* The thread of a starting CPU. head.S reads both and sets the thread to NULL. */
struct secondary {
	struct thread_info *thread;
	void *stack_end;
};

struct secondary secondary;

void secondary_reset(void);

void cps_init(void)
{
	if (!(read_c0_32(CP0_CONFIG3) & CONFIG3_CMGCR))
		panic("this CPU is no part of a coherent processing system");
	writel(GIC_PHYSICAL | 1, GCR_BASE + GCR_GIC_BASE);
	writel(CPC_PHYSICAL | 1, GCR_BASE + GCR_CPC_BASE);
	gic_write(gic_read(GIC_SH_CONFIG) & ~GIC_CONFIG_COUNTSTOP, GIC_SH_CONFIG);
}

void gic_init_cpu(unsigned int cpu)
{
	gic_write(GIC_MAP_TO_PIN | IPI_PIN, GIC_SH_MAP_PIN(IPI(cpu)));
	gic_write(1u << cpu, GIC_SH_MAP_VP(IPI(cpu)));
	gic_write(1u << IPI(cpu) % 32, GIC_SH_SMASK(IPI(cpu)));
}

void arch_send_ipi(unsigned int cpu)
{
	gic_write(GIC_WEDGE_RAISE | IPI(cpu), GIC_SH_WEDGE);
}

void gic_lower_ipi(unsigned int cpu)
{
	gic_write(IPI(cpu), GIC_SH_WEDGE);
}

int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	secondary.stack_end = stack_end;
	__atomic_store_n(&secondary.thread, idle, __ATOMIC_RELEASE);

	writel(cpu, GCR_BASE + GCR_CL_OTHER);
	writel(KSEG1ADDR((u32)(unsigned long)secondary_reset & 0x1fffffff),
	       GCR_BASE + GCR_CO_RESET_BASE);
	writel(1u << cpu, CPC_BASE + CPC_VP_RUN);

	while (__atomic_load_n(&secondary.thread, __ATOMIC_ACQUIRE))
		cpu_relax();
	return 0;
}

#endif
