/* SPDX-License-Identifier: MIT */
#ifndef ASM_BARRIER_H
#define ASM_BARRIER_H

/* Stores in front of it are seen by every CPU before those behind it. */
#define smp_wmb()	__asm__ volatile("fence w, w" : : : "memory")

#endif
