/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CACHEFLUSH_H
#define _ASM_CACHEFLUSH_H

/** flush_icache_range - the instructions in [@start, @end) were written: let this CPU see them */
void flush_icache_range(unsigned long start, unsigned long end);

#endif
