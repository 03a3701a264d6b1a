// SPDX-License-Identifier: MIT
/*
 * The end. Nothing here has call sites, and events are refused from the first line on, so that
 * the trace ends with what led here.
 */
#include <stdarg.h>
#include <stdio.h>

#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>

#include <asm/processor.h>

__breakpoint void panic_stop(void)
{
	local_irq_disable();
	for (;;)
		arch_idle();
}

notrace void panic_plain(const char *text)
{
	ring_buffer.header.record_disabled = 1;
	console_puts("Kernel panic - not syncing: ");
	console_puts(text);
	console_puts("\n");
	panic_stop();
}

notrace void panic(const char *format, ...)
{
	char text[256];
	va_list arguments;

	local_irq_disable();
	ring_buffer.header.record_disabled = 1;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	panic_plain(text);
}
