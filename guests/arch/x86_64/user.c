// SPDX-License-Identifier: MIT
/*
 * User mode: its memory, and its exceptions. Its addresses are not used by the kernel, and it has
 * no access to the kernel's memory; the kernel cannot execute its pages (SMEP).
 */
#include <asm/memory.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/traps.h>
#include <asm/user.h>
#include <linux/arch.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/syscalls.h>

#define PAGE_SIZE		4096
#define LARGE_SHIFT		21
#define ENTRIES			512

extern char __user_start[], __user_text_end[];
extern u64 page_table_low[];

static u64 page_table_user[ENTRIES] __aligned(PAGE_SIZE);

_Static_assert(USER_BASE >> LARGE_SHIFT == 1, "mmu.S keeps one entry free");
_Static_assert(USER_SIZE <= ENTRIES * PAGE_SIZE, "one table is enough");

void enter_user(unsigned long entry, unsigned long sp) __noreturn;
void user_synchronous(struct pt_regs *regs);
void exit_to_user(void);

void arch_user_init(void)
{
	char *page = __user_start;
	u64 rights, root;
	int i;

	/* All CPUs have the same tables. */
	if (!current->cpu) {
		for (i = 0; i < USER_SIZE / PAGE_SIZE; i++, page += PAGE_SIZE) {
			rights = page < __user_text_end ? 0 : PTE_W | PTE_NX;
			page_table_user[i] = (unsigned long)page | rights | PTE_P | PTE_U |
					     PTE_A | PTE_D;
		}
		page_table_low[USER_BASE >> LARGE_SHIFT] =
			(unsigned long)page_table_user | PTE_P | PTE_W | PTE_U | PTE_A;
	}
	__asm__ volatile("movq %%cr3, %0\n\tmovq %0, %%cr3" : "=r"(root) : : "memory");
}

void arch_enter_user(unsigned long entry, unsigned long sp)
{
	raw_local_irq_disable();
	set_user_entry_stack(current->cpu, current->stack_end);
	enter_user(entry, sp);
}

/* Called by entry.S with interrupts enabled: system calls, and exceptions from user mode. */
void user_synchronous(struct pt_regs *regs)
{
	if (regs->vector != USER_CALL_VECTOR)
		user_exception(regs, exception_name(regs->vector));
	regs->syscallno = (s32)regs->ax;
	do_syscall(regs);
}

/* Called by entry.S: this thread may have come to another CPU. */
void exit_to_user(void)
{
	prepare_return_to_user();
	set_user_entry_stack(current->cpu, current->stack_end);
}
