/* SPDX-License-Identifier: MIT */
/*
 * The local APIC of each CPU, and messages: a device or a debugger raises an interrupt on a CPU by
 * a store to APIC_MESSAGE(cpu).
 * Source: AMD64 Architecture Programmer's Manual, volume 2, chapter 16.
 */
#ifndef _ASM_APIC_H
#define _ASM_APIC_H

#define APIC			0xfee00000ul
#define APIC_ID			(APIC + 0x20)
#define APIC_EOI		(APIC + 0xb0)
#define APIC_SPURIOUS		(APIC + 0xf0)
#define APIC_COMMAND		(APIC + 0x300)
#define APIC_COMMAND_TO		(APIC + 0x310)
#define APIC_TIMER		(APIC + 0x320)
#define APIC_LINT0		(APIC + 0x350)
#define APIC_LINT1		(APIC + 0x360)
#define APIC_TIMER_INITIAL	(APIC + 0x380)
#define APIC_TIMER_DIVIDE	(APIC + 0x3e0)

#define APIC_ENABLE		(1 << 8)	/* APIC_SPURIOUS */
#define APIC_MASKED		(1 << 16)
#define APIC_PERIODIC		(1 << 17)
#define APIC_NMI		(4 << 8)	/* APIC_TIMER: how it is delivered */
#define APIC_DIVIDE_BY_1	0xb
#define APIC_TIMER_HZ		1000000000	/* QEMU's */

#define APIC_INIT		0x4500		/* APIC_COMMAND: asserted */
#define APIC_STARTUP		0x4600		/* and the page of the address */
#define APIC_FIXED		0x4000		/* and the vector */

#define VECTOR_TIMER		0xe0
#define VECTOR_IPI		0xe1
#define VECTOR_INJECTED		0xe2
#define VECTOR_SPURIOUS		0xff

#endif
