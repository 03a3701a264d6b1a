/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

/* $28, the ABI's global pointer, is free in a kernel without small data. */
register struct thread_info *current __asm__("$28");

#endif
