// SPDX-License-Identifier: MIT
/* The console: the 16550 of QEMU's virt machine. Polled, so that it works in exceptions too. */
#include <asm/io.h>
#include <linux/arch.h>

#define UART_BASE		0x10000000ul
#define UART_THR		(UART_BASE + 0)
#define UART_LSR		(UART_BASE + 5)
#define UART_LSR_THRE		(1 << 5)	/* room to transmit */

void arch_console_putc(char c)
{
	while (!(readb(UART_LSR) & UART_LSR_THRE))
		;
	writeb(c, UART_THR);
}
