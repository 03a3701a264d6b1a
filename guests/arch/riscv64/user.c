// SPDX-License-Identifier: MIT
/*
 * User mode: its memory, and its exceptions. Its addresses are not used by the kernel, and it has
 * no access to the kernel's memory; the kernel cannot execute its pages.
 */
#include <asm/csr.h>
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

void enter_user(unsigned long entry, unsigned long sp) __noreturn;
void user_synchronous(struct pt_regs *regs);

void arch_user_init(void)
{
	char *page = __user_start;
	u64 rights;
	int i;

	/* All CPUs have the same tables. */
	if (!current->cpu) {
		for (i = 0; i < USER_SIZE / PAGE_SIZE; i++, page += PAGE_SIZE) {
			rights = page < __user_text_end ? PTE_R | PTE_X : PTE_R | PTE_W;
			page_table_user[i] = (unsigned long)page >> PTE_ADDRESS_SHIFT | rights |
					     PTE_V | PTE_U | PTE_A | PTE_D;
		}
		page_table_low[USER_BASE >> LEVEL2_SHIFT] =
			(unsigned long)page_table_user >> PTE_ADDRESS_SHIFT | PTE_V;
	}
	__asm__ volatile("sfence.vma" : : : "memory");
}

void arch_enter_user(unsigned long entry, unsigned long sp)
{
	enter_user(entry, sp);
}

/* Called by entry.S with interrupts enabled: synchronous exceptions from user mode. */
void user_synchronous(struct pt_regs *regs)
{
	if (regs->cause != CAUSE_USER_CALL)
		user_exception(regs, exception_name(regs->cause));
	regs->syscallno = (s32)PT_REG(regs, 17);
	regs->pc += 4;
	do_syscall(regs);
}
