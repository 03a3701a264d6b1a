/* SPDX-License-Identifier: MIT */
/*
 * Interrupts of QEMU's virt machine with aia=aplic-imsic: messages. Another CPU or a debugger
 * raises an interrupt by storing its number to the CPU's page.
 */
#ifndef _ASM_IMSIC_H
#define _ASM_IMSIC_H

#define IMSIC_PAGE(cpu)		(0x28000000ul + (cpu) * 0x1000ul)	/* supervisor level */

#define IMSIC_IPI		1
#define IMSIC_INJECTED		2

#endif
