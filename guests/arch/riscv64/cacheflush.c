// SPDX-License-Identifier: MIT
/* What gcc makes of __builtin___clear_cache(). */
#include <asm/cacheflush.h>

void __riscv_flush_icache(void *start, void *end, unsigned long flags);

void __riscv_flush_icache(void *start, void *end, unsigned long flags)
{
	flush_icache_range((unsigned long)start, (unsigned long)end);
}
