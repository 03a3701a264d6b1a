/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

/** exception_name - the reason for an exception in words, from scause */
const char *exception_name(unsigned long cause);

#endif
