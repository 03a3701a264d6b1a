/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

struct pt_regs;

/** exception_name - the name of the exception in a struct pt_regs */
const char *exception_name(const struct pt_regs *regs);

#endif
