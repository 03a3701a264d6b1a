// SPDX-License-Identifier: MIT
/*
 * Starting CPUs: the Power State Coordination Interface (Arm DEN 0022). QEMU's firmware interface
 * of the virt machine uses hvc at EL1; with virtualization=on, smc.
 */
#include <asm/sysreg.h>
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/sched.h>

#define PSCI_CPU_ON_64	0xc4000003ul

/* Set by head.S. */
u32 booted_at_el2;

void secondary_entry(void);

static long psci_cpu_on(unsigned long mpidr, unsigned long entry, unsigned long context)
{
	register unsigned long x0 __asm__("x0") = PSCI_CPU_ON_64;
	register unsigned long x1 __asm__("x1") = mpidr;
	register unsigned long x2 __asm__("x2") = entry;
	register unsigned long x3 __asm__("x3") = context;

	if (booted_at_el2)
		__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
	else
		__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
	return (int)x0;
}

int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	idle->thread.sp = (unsigned long)stack_end;
	__asm__ volatile("dsb ish" : : : "memory");
	return psci_cpu_on(cpu, (unsigned long)secondary_entry, (unsigned long)idle) ? -EIO : 0;
}
