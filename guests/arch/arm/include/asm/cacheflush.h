/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CACHEFLUSH_H
#define _ASM_CACHEFLUSH_H

/**
 * flush_icache_range - make instructions that were just written visible to instruction fetch
 * @start: address of the first changed byte
 * @end: address behind the last changed byte
 *
 * To be called after the last store and before the new instructions may run.
 */
void flush_icache_range(unsigned long start, unsigned long end);

#endif
