// SPDX-License-Identifier: MIT
/* The console: PL011 of QEMU's virt machine. Polled, so that it works in exceptions too. */
#include <asm/io.h>
#include <linux/arch.h>

#define PL011_BASE		0x09000000ul
#define PL011_DR		(PL011_BASE + 0x00)
#define PL011_FR		(PL011_BASE + 0x18)
#define PL011_FR_TXFF		(1 << 5)	/* transmit FIFO full */
#define PL011_LCR_H		(PL011_BASE + 0x2c)
#define PL011_LCR_H_8BIT_FIFO	((3 << 5) | (1 << 4))
#define PL011_CR		(PL011_BASE + 0x30)
#define PL011_CR_UARTEN_TXE	((1 << 0) | (1 << 8))

/* Called by head.S: the console is available first. */
void uart_init(void);

void uart_init(void)
{
	writel(PL011_LCR_H_8BIT_FIFO, PL011_LCR_H);
	writel(PL011_CR_UARTEN_TXE, PL011_CR);
}

void arch_console_putc(char c)
{
	while (readl(PL011_FR) & PL011_FR_TXFF)
		;
	writel((unsigned char)c, PL011_DR);
}
