/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/compiler.h>
#include <linux/types.h>

int printk(const char *format, ...) __printf(1, 2);

/** console_write - the output of printf and printk; '\n' becomes "\r\n" */
void console_write(const char *text, size_t length);

/*
 * For reports of panics and exceptions: no call sites are executed, so a broken port cannot break
 * the report.
 */
void console_puts(const char *text);

/** console_hex - a word in hexadecimal, and console_digits - the last @digits of it */
void console_hex(unsigned long value);
void console_digits(unsigned long value, int digits);

#endif
