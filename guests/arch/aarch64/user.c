// SPDX-License-Identifier: MIT
/*
 * User mode: its memory, and its exceptions. Its addresses are not used by the kernel, and it has
 * no access to the kernel's memory; the kernel cannot execute its pages.
 */
#include <asm/ptrace.h>
#include <asm/traps.h>
#include <asm/user.h>
#include <linux/arch.h>
#include <linux/sched.h>
#include <linux/syscalls.h>

#define PAGE_SIZE		4096
#define LEVEL2_SHIFT		21
#define LEVEL3_ENTRIES		512

extern char __user_start[], __user_text_end[];
extern u64 page_table_low[];

static u64 page_table_user[LEVEL3_ENTRIES] __aligned(PAGE_SIZE);

_Static_assert(USER_BASE % (1 << LEVEL2_SHIFT) == 0, "the user's addresses begin a table");
_Static_assert(USER_SIZE <= LEVEL3_ENTRIES * PAGE_SIZE, "one table is enough");

void enter_user(unsigned long entry, unsigned long sp, void *stack_end) __noreturn;
void user_synchronous(struct pt_regs *regs, unsigned long esr, unsigned long far);

void arch_user_init(void)
{
	char *page = __user_start;
	u64 rights;
	int i;

	/* All CPUs have the same tables. */
	if (current->cpu)
		return;
	for (i = 0; i < USER_SIZE / PAGE_SIZE; i++, page += PAGE_SIZE) {
		rights = page < __user_text_end ? DESC_READ_ONLY : DESC_UXN;
		page_table_user[i] = (unsigned long)page | rights | DESC_USER | DESC_PXN |
				     PAGE_NORMAL;
	}
	page_table_low[USER_BASE >> LEVEL2_SHIFT] = (unsigned long)page_table_user | DESC_TABLE;
	/* Invalid entries are not in a TLB. */
	__asm__ volatile("dsb ishst\n\tisb" : : : "memory");
}

void arch_enter_user(unsigned long entry, unsigned long sp)
{
	enter_user(entry, sp, current->stack_end);
}

/* Called by entry.S with interrupts enabled: synchronous exceptions from user mode. */
void user_synchronous(struct pt_regs *regs, unsigned long esr, unsigned long far)
{
	if (ESR_EC(esr) != ESR_EC_SVC)
		user_exception(regs, exception_name(esr));
	regs->syscallno = (s32)regs->regs[8];
	do_syscall(regs);
}
