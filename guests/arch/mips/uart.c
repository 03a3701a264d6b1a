// SPDX-License-Identifier: MIT
/*
 * Malta's first serial port: a 16550 on the ISA bus, which QEMU's boot stub has mapped and which
 * sends without being set up.
 */
#include <linux/arch.h>

#include <asm/io.h>

#define UART		KSEG1ADDR(0x180003f8)
#define UART_TX		(UART + 0)	/* transmit */
#define UART_LSR	(UART + 5)	/* line status */
#define UART_LSR_THRE	0x20		/* transmitter has room */

void arch_console_putc(char c)
{
	while (!(readb(UART_LSR) & UART_LSR_THRE))
		;
	writeb(c, UART_TX);
}
