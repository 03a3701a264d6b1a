// SPDX-License-Identifier: MIT
/* Coherence of data and instruction caches for text written by the kernel. */
#include <asm/cacheflush.h>
#include <linux/types.h>

#define CTR_IMINLINE(ctr)	((ctr) & 0xf)		/* log2 of the words in a line */
#define CTR_DMINLINE(ctr)	(((ctr) >> 16) & 0xf)

void flush_icache_range(unsigned long start, unsigned long end)
{
	unsigned long ctr, line, address;

	if (start >= end)
		return;
	__asm__("mrs %0, ctr_el0" : "=r"(ctr));

	line = 4ul << CTR_DMINLINE(ctr);
	for (address = start & ~(line - 1); address < end; address += line)
		__asm__ volatile("dc cvau, %0" : : "r"(address) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");

	line = 4ul << CTR_IMINLINE(ctr);
	for (address = start & ~(line - 1); address < end; address += line)
		__asm__ volatile("ic ivau, %0" : : "r"(address) : "memory");
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}
