/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_TRAPS_H
#define _LINUX_TRAPS_H

/*
 * The report of an exception, in three parts: oops_enter(), the registers, which the arch
 * prints with console_register(), and die().
 */
#include <linux/compiler.h>
#include <linux/types.h>

struct pt_regs;

/** oops_enter - print the exception and its pc; called again, that is, in a report: panic */
void oops_enter(const char *reason, const struct pt_regs *regs);

/** console_register - a name and a value in hexadecimal; @last of its line or not */
void console_register(const char *name, unsigned long value, bool last);

/** die - print the stack and the code, and panic */
void die(const char *reason, const struct pt_regs *regs) __noreturn;

#endif
