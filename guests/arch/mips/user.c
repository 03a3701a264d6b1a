// SPDX-License-Identifier: MIT
/*
 * Memory of user programs: one wired TLB entry. The rest below kseg0 is unmapped.
 */
#include <linux/arch.h>

#include <asm/mipsregs.h>
#include <asm/user.h>

#define PAGE		(USER_SIZE / 2)
#define PAGEMASK	((PAGE - 1) >> 12 << 13)

#define ENTRYLO_GLOBAL	1
#define ENTRYLO_VALID	2
#define ENTRYLO_DIRTY	4		/* writable */
#define ENTRYLO_CACHED	(3 << 3)
#define ENTRYLO(physical) \
	((physical) >> 6 | ENTRYLO_CACHED | ENTRYLO_DIRTY | ENTRYLO_VALID | ENTRYLO_GLOBAL)

extern const char __user_start[];

/* For entry.S: a CPU's thread in user mode, and the end of its kernel stack. */
struct {
	struct thread_info *thread;
	void *stack_end;
} user_return[NR_CPUS];

static void write_tlb_entry(u32 index, u32 mask, u32 hi, u32 lo0, u32 lo1)
{
	write_c0_32(CP0_INDEX, index);
	write_c0_32(CP0_PAGEMASK, mask);
	write_c0_32(CP0_ENTRYHI, hi);
	write_c0_32(CP0_ENTRYLO0, lo0);
	write_c0_32(CP0_ENTRYLO1, lo1);
	__asm__ volatile("tlbwi; ehb" : : : "memory");
}

void arch_user_init(void)
{
	u32 last = read_c0_32(CP0_CONFIG1) >> 25 & 63;
	u32 physical = (u32)(unsigned long)__user_start & 0x1fffffff;
	u32 i;

	/* Invalidate all other entries: unmapped and different addresses. */
	for (i = 1; i <= last; i++)
		write_tlb_entry(i, 0, 0x80000000 + i * 0x2000, 0, 0);
	write_tlb_entry(0, PAGEMASK, USER_BASE, ENTRYLO(physical), ENTRYLO(physical + PAGE));
	write_c0_32(CP0_WIRED, 1);
}
