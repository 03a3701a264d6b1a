/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <linux/compiler.h>

/** panic - print "Kernel panic - not syncing: ..." and stop */
void panic(const char *format, ...) __printf(1, 2) __noreturn;

/** panic_plain - as panic() for exception handlers: a fixed text, no calls of traced functions */
void panic_plain(const char *text) __noreturn;

/** panic_stop - the end of every panic, for a debugger's breakpoint */
void panic_stop(void) __noreturn;

#define BUG_ON(condition)						\
	do {								\
		if (unlikely(condition))				\
			panic("BUG at %s:%d: %s", __FILE__, __LINE__, #condition); \
	} while (0)

#endif
