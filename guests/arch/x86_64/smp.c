// SPDX-License-Identifier: MIT
/* Starting CPUs: they begin in real mode, below 1 MiB, where a copy of trampoline.S lies. */
#include <asm/memory.h>
#include <asm/traps.h>
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/smp.h>

extern const u8 trampoline[], trampoline_end[];
extern struct thread_info *secondary_thread;

void apic_start_cpu(unsigned int cpu, unsigned long address);
void secondary_start(void) __noreturn;

/* One CPU at a time: the kernel waits until it is online. */
int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	volatile u8 *to = (u8 *)TRAMPOLINE_ADDRESS;
	const u8 *from;

	/* For gcc a small constant is not the address of an object. */
	__asm__("" : "+r"(to));
	for (from = trampoline; from < trampoline_end; from++)
		*to++ = *from;
	idle->thread.sp = (unsigned long)stack_end;
	WRITE_ONCE(secondary_thread, idle);
	apic_start_cpu(cpu, TRAMPOLINE_ADDRESS);
	return 0;
}

/* Called by head.S. */
void secondary_start(void)
{
	cpu_init_traps(current->cpu);
	secondary_start_kernel();
}
