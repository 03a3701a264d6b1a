// SPDX-License-Identifier: MIT
#include <asm/cacheflush.h>

void flush_icache_range(unsigned long start, unsigned long end)
{
	unsigned long line, address;

	/* The bytes per synci; 0: this CPU needs no synci. */
	__asm__ volatile("rdhwr %0, $1" : "=r"(line));
	if (line)
		for (address = start & -line; address < end; address += line)
			__asm__ volatile("synci 0(%0)" : : "r"(address) : "memory");
	/* Order stores before fetches; jr.hb discards prefetched instructions. */
	__asm__ volatile(
		".set push\n\t"
		".set noreorder\n\t"
		".set noat\n\t"
		"sync\n\t"
		"bal 1f\n\t"
		" nop\n"
		"1:\n\t"
#ifdef CONFIG_64BIT
		"daddiu $31, $31, 12\n\t"
#else
		"addiu $31, $31, 12\n\t"
#endif
		"jr.hb $31\n\t"
		" nop\n\t"
		".set pop"
		: : : "$31", "memory");
}

/* Called by gcc for trampolines of nested functions on the stack. */
void _flush_cache(void *address, int size, int caches);

void _flush_cache(void *address, int size, int caches)
{
	flush_icache_range((unsigned long)address, (unsigned long)address + size);
}
