/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <linux/compiler.h>

/** panic - print "Kernel panic - not syncing: ..." and stop for ever */
void panic(const char *format, ...) __printf(1, 2) __noreturn;

/** panic_plain - the same for exception handlers: a fixed text, and no traced function is called */
void panic_plain(const char *text) __noreturn;

/** panic_stop - the end of every panic; a debugger's breakpoint sees the dead kernel here */
void panic_stop(void) __noreturn;

#define BUG_ON(condition)						\
	do {								\
		if (unlikely(condition))				\
			panic("BUG at %s:%d: %s", __FILE__, __LINE__, #condition); \
	} while (0)

#endif
