// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>

#include <linux/arch.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

static notrace void console_putc(char c)
{
	if (c == '\n')
		arch_console_putc('\r');
	arch_console_putc(c);
}

notrace void console_puts(const char *text)
{
	while (*text)
		console_putc(*text++);
}

notrace void console_digits(unsigned long value, int digits)
{
	while (digits--)
		console_putc("0123456789abcdef"[value >> 4 * digits & 15]);
}

notrace void console_hex(unsigned long value)
{
	console_digits(value, 2 * sizeof(value));
}

/* Output of one call is not interleaved. */
void console_write(const char *text, size_t length)
{
	static spinlock_t lock;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	while (length--)
		console_putc(*text++);
	spin_unlock_irqrestore(&lock, flags);
}

int printk(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(line))
		length = sizeof(line) - 1;
	console_write(line, length);
	return length;
}
