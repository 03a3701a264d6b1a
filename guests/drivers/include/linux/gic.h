/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_GIC_H
#define _LINUX_GIC_H

/*
 * Interrupts of QEMU's virt machine and their numbers at its GICv2.
 *
 * Version 2 is the default of `-machine virt`, and its CPU interfaces are banked at one address.
 * Without security extensions it has both groups, and signals group 0 as FIQ if GICC_CTLR.FIQEn is
 * set.
 */
#include <linux/types.h>

#define GIC_SGI_IPI		0	/* software generated: from CPU to CPU */
#define GIC_PPI_VIRTUAL_TIMER	27	/* per CPU: the tick */
#define GIC_PPI_PHYSICAL_TIMER	30	/* per CPU, FIQ: the NMI armed by the guest */

/*
 * MSIs (GICv2m): a store of one of these numbers to MESSAGE_SETSPI raises that interrupt. A
 * debugger can store there, by physical address, to interrupt a stopped CPU at its current
 * instruction. There is one of each kind for every CPU.
 */
#define MESSAGE_SETSPI		0x08020040
#define GIC_SPI_INJECTED	80
#define GIC_SPI_NMI		88
#define GIC_MESSAGES		8

/* The result of gic_acknowledge(): the number, and the sender of an SGI. */
#define GIC_NUMBER(acknowledged) ((acknowledged) & 0x3ff)
#define GIC_SPURIOUS		1020	/* this number and above: nothing is pending */

/** gic_init - initialize the distributor; once, before any gic_init_cpu() */
void gic_init(void);

/** gic_init_cpu - initialize this CPU's interface */
void gic_init_cpu(void);

/** gic_acknowledge - acknowledge the pending interrupt with the highest priority */
u32 gic_acknowledge(void);

/** gic_end - end of an interrupt, given the result of gic_acknowledge() */
void gic_end(u32 acknowledged);

/** gic_is_nmi - whether an interrupt is in group 0, which is signalled as FIQ */
bool gic_is_nmi(u32 number);

/** gic_return - instead of gic_end(): signal the interrupt again */
void gic_return(u32 acknowledged);

/** gic_send_sgi - raise a software generated interrupt on one CPU */
void gic_send_sgi(unsigned int cpu, u32 number);

#endif
