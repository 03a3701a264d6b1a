/* SPDX-License-Identifier: MIT */
#ifndef _ASM_GIC_H
#define _ASM_GIC_H

/*
 * Interrupts of QEMU's virt machine and their numbers at its GICv2.
 *
 * Version 2 because it is what `-machine virt` has unless told otherwise, and because a CPU's half
 * of it needs no search: every CPU sees its own at one address. Without security extensions it has
 * both groups, and signals group 0 as FIQ where GICC_CTLR.FIQEn asks for it.
 */
#include <linux/types.h>

#define GIC_SGI_IPI		0	/* software generated: from CPU to CPU */
#define GIC_PPI_VIRTUAL_TIMER	27	/* per CPU: the tick */
#define GIC_PPI_PHYSICAL_TIMER	30	/* per CPU, FIQ: the NMI that the guest arms itself */

/*
 * The machine's frame for messages (GICv2m) turns a store of one of these numbers to MESSAGE_SETSPI
 * into that interrupt. A debugger that stores there, by physical address, interrupts a CPU exactly
 * where it stands. One of each kind for every CPU.
 */
#define MESSAGE_SETSPI		0x08020040
#define GIC_SPI_INJECTED	80
#define GIC_SPI_NMI		88
#define GIC_MESSAGES		8

/* What gic_acknowledge() returns: the number, and at SGIs who sent it. */
#define GIC_NUMBER(acknowledged) ((acknowledged) & 0x3ff)
#define GIC_SPURIOUS		1020	/* this number and above: nothing is pending */

/** gic_init - what all CPUs share; once, before any gic_init_cpu() */
void gic_init(void);

/** gic_init_cpu - this CPU's own half */
void gic_init_cpu(void);

/** gic_acknowledge - take the most urgent interrupt that is pending for this CPU */
u32 gic_acknowledge(void);

/** gic_end - what gic_acknowledge() returned is handled */
void gic_end(u32 acknowledged);

/** gic_is_nmi - whether an interrupt is in group 0, and signalled as FIQ */
bool gic_is_nmi(u32 number);

/** gic_return - instead of gic_end(): let the interrupt be signalled again */
void gic_return(u32 acknowledged);

/** gic_send_sgi - raise a software generated interrupt on one CPU */
void gic_send_sgi(unsigned int cpu, u32 number);

#endif
