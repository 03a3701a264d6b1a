/* SPDX-License-Identifier: MIT */
#ifndef _ASM_BARRIER_H
#define _ASM_BARRIER_H

/* Stores in front of it are seen by every CPU before those behind it. */
#define smp_wmb()	__asm__ volatile("fence w, w" : : : "memory")

#endif
