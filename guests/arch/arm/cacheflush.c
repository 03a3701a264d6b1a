// SPDX-License-Identifier: MIT
/* Coherence of data and instruction caches for text written by the kernel: DDI 0406, B2.2.9. */
#include <asm/cacheflush.h>
#include <linux/types.h>

#define CTR_IMINLINE(ctr)	((ctr) & 0xf)		/* log2 of the words in a line */
#define CTR_DMINLINE(ctr)	(((ctr) >> 16) & 0xf)

void __clear_cache(void *start, void *end);

void flush_icache_range(unsigned long start, unsigned long end)
{
	unsigned long ctr, line, address;

	if (start >= end)
		return;
	__asm__("mrc p15, 0, %0, c0, c0, 1" : "=r"(ctr));

	line = 4ul << CTR_DMINLINE(ctr);
	for (address = start & ~(line - 1); address < end; address += line)
		__asm__ volatile("mcr p15, 0, %0, c7, c11, 1" : : "r"(address) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");

	line = 4ul << CTR_IMINLINE(ctr);
	for (address = start & ~(line - 1); address < end; address += line)
		__asm__ volatile("mcr p15, 0, %0, c7, c5, 1" : : "r"(address) : "memory");
	/* Branch predictors, of all CPUs. */
	__asm__ volatile("mcr p15, 0, %0, c7, c1, 6\n\tdsb ish\n\tisb" : : "r"(0) : "memory");
}

/* For nested functions: gcc writes code to the stack. libgcc's is a system call. */
void __clear_cache(void *start, void *end)
{
	flush_icache_range((unsigned long)start, (unsigned long)end);
}
