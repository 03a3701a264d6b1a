/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_IRQ_H
#define _LINUX_IRQ_H

/*
 * Interrupts. The arch's vectors save the interrupted registers and call do_irq() with interrupts
 * masked, on the stack of the thread that was interrupted; do_irq() calls arch_handle_irq(), which
 * asks the interrupt controller and calls the three functions below. Interrupts do not nest.
 */
#include <linux/types.h>

struct pt_regs;

/** do_irq - handle an interrupt, and let another thread run if it is time to */
void do_irq(struct pt_regs *regs);

/** tick_interrupt - this CPU's timer has ticked */
void tick_interrupt(void);

/** smp_ipi_interrupt - another CPU wants something: see smp.h */
void smp_ipi_interrupt(void);

/** injected_interrupt - what a debugger can raise: counts, and calls injected_work() */
void injected_interrupt(void);

/* A function worth tracing: nothing but an injected interrupt calls it. */
void injected_work(void);

/* How many injected interrupts there have been, on all CPUs. */
extern u32 injected_interrupts;

/* Ticks a second; 0: TICK_HZ, and only while threads wait. Written by a debugger before boot. */
extern u32 tick_hz;

#define TICK_HZ	250

#endif
