// SPDX-License-Identifier: MIT
/*
 * For an arch that is not complete: a guest with one thread on one CPU works without all this.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/errno.h>

void __weak arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
}

__weak struct thread_info *__switch_to(struct thread_info *prev, struct thread_info *next)
{
	panic("this arch has no threads");
}

void __weak arch_irq_init(void)
{
}

void __weak arch_handle_irq(void)
{
	panic("this arch has no interrupts");
}

void __weak arch_timer_start(u32 hz)
{
}

void __weak arch_timer_stop(void)
{
}


int __weak arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	return -EINVAL;
}

void __weak arch_send_ipi(unsigned int cpu)
{
}

void __weak arch_user_init(void)
{
}

void __weak arch_enter_user(unsigned long entry, unsigned long sp)
{
	panic("this arch has no user mode");
}
