// SPDX-License-Identifier: MIT
/*
 * Panic. No call sites here, and events are refused at once, so that the trace ends with the cause.
 */
#include <stdarg.h>
#include <stdio.h>

#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>

#include <asm/processor.h>

static u32 panicking;		/* the first CPU that panicked, + 1 */

/*
 * It does not idle: while all CPUs do, a QEMU that counts instructions sets the clock to the next
 * timer at once. Without interrupts nothing ends that, and QEMU may never leave its timers.
 */
__breakpoint void panic_stop(void)
{
	raw_local_irq_disable();
	for (;;)
		cpu_relax();
}

/* Only one CPU reports: the others stop here, or at the inter-processor interrupt. */
static notrace void panic_begin(void)
{
	u32 none = 0, this = smp_processor_id() + 1;

	raw_local_irq_disable();
	ring_buffer.header.record_disabled = 1;
	if (__atomic_compare_exchange_n(&panicking, &none, this, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		smp_stop_others();
	else if (none != this)
		smp_stop_this();
}

notrace void panic_plain(const char *text)
{
	panic_begin();
	console_puts("Kernel panic - not syncing: ");
	console_puts(text);
	console_puts("\n");
	panic_stop();
}

notrace void panic(const char *format, ...)
{
	char text[256];
	va_list arguments;

	panic_begin();
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	panic_plain(text);
}
