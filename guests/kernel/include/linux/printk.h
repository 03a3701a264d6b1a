/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/compiler.h>
#include <linux/types.h>

int printk(const char *format, ...) __printf(1, 2);

/** console_write - what the libc's printf and printk end in; '\n' becomes "\r\n" */
void console_write(const char *text, size_t length);

/*
 * For code that prints while nothing else can be trusted: none of these runs through a call site, so
 * that a broken port cannot break the report of its own end.
 */
void console_puts(const char *text);

/** console_hex - a word in hexadecimal, and console_digits - the last @digits of it */
void console_hex(unsigned long value);
void console_digits(unsigned long value, int digits);

#endif
