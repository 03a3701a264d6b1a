/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CACHEFLUSH_H
#define _ASM_CACHEFLUSH_H

/** flush_icache_range - make instructions written in [@start, @end) visible to this CPU */
void flush_icache_range(unsigned long start, unsigned long end);

#endif
