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
#define SECTION_SHIFT		20
#define TABLE_ENTRIES		256
#define TABLE_SIZE		(TABLE_ENTRIES * 4)

extern char __user_start[], __user_text_end[];
extern u32 page_table[];

static u32 page_table_user[TABLE_ENTRIES] __aligned(TABLE_SIZE);

_Static_assert(USER_BASE % (1 << SECTION_SHIFT) == 0, "the user's addresses begin a table");
_Static_assert(USER_SIZE <= TABLE_ENTRIES * PAGE_SIZE, "one table is enough");

void enter_user(unsigned long entry, unsigned long sp, void *stack_end) __noreturn;
void user_system_call(struct pt_regs *regs);
void user_synchronous(struct pt_regs *regs, unsigned int vector);

void arch_user_init(void)
{
	char *page = __user_start;
	u32 rights;
	int i;

	/* All CPUs have the same tables. */
	if (current->cpu)
		return;
	for (i = 0; i < USER_SIZE / PAGE_SIZE; i++, page += PAGE_SIZE) {
		rights = page < __user_text_end ? PAGE_READ_ONLY : PAGE_XN;
		page_table_user[i] = (unsigned long)page | rights | PAGE | PAGE_USER | PAGE_B |
				     PAGE_C | PAGE_TEX0 | PAGE_S;
	}
	page_table[USER_BASE >> SECTION_SHIFT] = (unsigned long)page_table_user | TABLE | TABLE_PXN;
	/* Invalid entries are not in a TLB. */
	__asm__ volatile("dsb ishst\n\tisb" : : : "memory");
}

void arch_enter_user(unsigned long entry, unsigned long sp)
{
	enter_user(entry, sp, current->stack_end);
}

/* Both are called by entry.S with interrupts enabled. */
void user_system_call(struct pt_regs *regs)
{
	regs->syscallno = (long)regs->regs[7];
	do_syscall(regs);
}

void user_synchronous(struct pt_regs *regs, unsigned int vector)
{
	user_exception(regs, exception_name(vector));
}
