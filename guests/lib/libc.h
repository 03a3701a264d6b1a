/* SPDX-License-Identifier: MIT */
#ifndef _LIBC_H
#define _LIBC_H

#include <stddef.h>

#include <linux/compiler.h>

/* All that the library needs from the kernel. */
void console_write(const char *text, size_t size);
void panic(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));
void heap_lock(void);
void heap_unlock(void);
extern char __heap_start[], __heap_end[]; /* linker script */

/*
 * gcc recognises loops that copy or fill memory and replaces them by calls to memcpy and memset;
 * before version 10 also in memcpy and memset themselves.
 */
#define no_loop_idiom __attribute__((optimize("no-tree-loop-distribute-patterns")))

#endif
