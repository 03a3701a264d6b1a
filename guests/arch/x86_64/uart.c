// SPDX-License-Identifier: MIT
/* The console: the first serial port. Polled, so that it works in exceptions too. */
#include <asm/io.h>
#include <linux/arch.h>

#define UART_THR		0x3f8
#define UART_LSR		0x3fd
#define UART_LSR_THRE		(1 << 5)	/* room to transmit */

void arch_console_putc(char c)
{
	while (!(inb(UART_LSR) & UART_LSR_THRE))
		;
	outb(c, UART_THR);
}
