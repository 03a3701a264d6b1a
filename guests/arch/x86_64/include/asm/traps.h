/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

struct pt_regs;

/** exception_name - what an exception's vector stands for, in words */
const char *exception_name(unsigned long vector);

/** cpu_init_traps - give this CPU the gates, and its own stack for double faults */
void cpu_init_traps(unsigned int cpu);

/** set_user_entry_stack - where this CPU begins to push when it comes from user mode */
void set_user_entry_stack(unsigned int cpu, void *stack_end);

/**
 * ftrace_int3_handler - a breakpoint in the kernel: a port's, where it patches text by way of them
 *
 * Called with interrupts masked, on any CPU; @regs->pc is behind the int3. Return: not 0 if @regs say
 * where to go on.
 */
int ftrace_int3_handler(struct pt_regs *regs);

#endif
