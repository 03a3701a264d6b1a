// SPDX-License-Identifier: MIT
/* gcc compiles __builtin___clear_cache() to a call of this. */
#include <asm/cacheflush.h>

void __riscv_flush_icache(void *start, void *end, unsigned long flags);

void __riscv_flush_icache(void *start, void *end, unsigned long flags)
{
	flush_icache_range((unsigned long)start, (unsigned long)end);
}
