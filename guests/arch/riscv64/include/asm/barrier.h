/* SPDX-License-Identifier: MIT */
#ifndef _ASM_BARRIER_H
#define _ASM_BARRIER_H

/* Every CPU sees the stores before it earlier than the stores after it. */
#define smp_wmb()	__asm__ volatile("fence w, w" : : : "memory")

#endif
