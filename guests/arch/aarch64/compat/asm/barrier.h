/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_BARRIER_H
#define _COMPAT_ASM_BARRIER_H

/* Every CPU sees the stores before it earlier than the stores after it. */
#define smp_wmb()	__asm__ volatile("dmb ishst" : : : "memory")

#endif
