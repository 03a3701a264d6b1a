/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_ARCH_H
#define _LINUX_ARCH_H

/*
 * What guests/arch/<arch>/ gives to the neutral kernel, besides the headers
 *
 *	asm/irqflags.h	see linux/irqflags.h		asm/current.h	`current`
 *	asm/timer.h	u64 sched_clock(void)		asm/ptrace.h	struct pt_regs
 *	asm/processor.h	cpu_relax(), arch_idle()	asm/cacheflush.h flush_icache_range()
 *	asm/setjmp.h	jmp_buf				asm/io.h	device registers
 *
 * and setjmp(), longjmp() and vmlinux.lds.S. Nothing there has call sites.
 *
 * sched_clock() returns nanoseconds that never run backwards; it is called with interrupts masked.
 * arch_idle() sleeps until the next interrupt.
 */

/* head.S ends here: stack ready, .bss zero, `current` is &init_thread, interrupts masked. */
void start_kernel(void) __attribute__((noreturn));

/* Wait until the console takes one more byte and give it. Polled, works in any state. */
void arch_console_putc(char c);

/* From here on every exception prints "Unhandled exception: ...", a dump and panics. */
void arch_trap_init(void);

/* From here on sched_clock() works. */
void arch_timer_init(void);

#endif
