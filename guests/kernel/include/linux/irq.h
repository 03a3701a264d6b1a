/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_IRQ_H
#define _LINUX_IRQ_H

/*
 * Interrupts. The arch's vectors save the interrupted registers and call do_irq() with interrupts
 * masked, on the stack of the thread that was interrupted; do_irq() calls arch_handle_irq(), which
 * reads the interrupt controller and calls the three functions below. Interrupts do not nest.
 */
#include <linux/types.h>

struct pt_regs;

/** do_irq - handle an interrupt, and reschedule if needed */
void do_irq(struct pt_regs *regs);

/** tick_interrupt - this CPU's timer interrupt */
void tick_interrupt(void);

/** smp_ipi_interrupt - an inter-processor interrupt: see smp.h */
void smp_ipi_interrupt(void);

/** injected_interrupt - raised by a debugger: counts, and calls injected_work() */
void injected_interrupt(void);

/* A traced function that only injected interrupts call. */
void injected_work(void);

/* Number of injected interrupts on all CPUs. */
extern u32 injected_interrupts;

/* Ticks per second; 0: TICK_HZ, only while threads wait. Written by a debugger before boot. */
extern u32 tick_hz;

#define TICK_HZ	250

#endif
