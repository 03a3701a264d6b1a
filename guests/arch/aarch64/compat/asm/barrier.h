/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_BARRIER_H
#define _COMPAT_ASM_BARRIER_H

/* Stores in front of it are seen by every CPU before those behind it. */
#define smp_wmb()	__asm__ volatile("dmb ishst" : : : "memory")

#endif
