/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

struct pt_regs;

/** exception_name - what a struct pt_regs says has happened, in English */
const char *exception_name(const struct pt_regs *regs);

#endif
