// SPDX-License-Identifier: MIT
/*
 * Starting CPUs: the Power State Coordination Interface (Arm DEN 0022). On QEMU's virt machine
 * without the extensions for security and virtualization, QEMU answers hvc.
 */
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/sched.h>

#define PSCI_CPU_ON_32	0x84000003ul

void secondary_entry(void);

static long psci_cpu_on(unsigned long mpidr, unsigned long entry, unsigned long context)
{
	register unsigned long r0 __asm__("r0") = PSCI_CPU_ON_32;
	register unsigned long r1 __asm__("r1") = mpidr;
	register unsigned long r2 __asm__("r2") = entry;
	register unsigned long r3 __asm__("r3") = context;

	__asm__ volatile(".arch_extension virt\n\thvc #0"
			 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
	return (long)r0;
}

int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	idle->thread.sp = (unsigned long)stack_end;
	__asm__ volatile("dsb ish" : : : "memory");
	return psci_cpu_on(cpu, (unsigned long)secondary_entry, (unsigned long)idle) ? -EIO : 0;
}
