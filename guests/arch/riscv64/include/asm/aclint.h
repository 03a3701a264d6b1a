/* SPDX-License-Identifier: MIT */
/*
 * Interrupts of QEMU's virt machine with aclint=on and without AIA: a store of 1 to a CPU's word of
 * the SSWI device makes its supervisor software interrupt pending, without a reason. A debugger
 * marks its interrupts first, in a register of the PLIC that is not used otherwise: the priority of
 * a source that the machine does not have.
 * Sources: RISC-V ACLINT Specification, chapter 4; RISC-V PLIC Specification, chapter 3.
 */
#ifndef _ASM_ACLINT_H
#define _ASM_ACLINT_H

#define SSWI(cpu)		(0x02f00000ul + (cpu) * 4ul)
#define PLIC_INJECTED(cpu)	(0x0c000000ul + (64 + (cpu)) * 4ul)

#endif
