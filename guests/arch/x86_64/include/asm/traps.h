/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

struct pt_regs;

/** exception_name - the name of an exception, from its vector */
const char *exception_name(unsigned long vector);

/** cpu_init_traps - give this CPU the gates, and its own stack for double faults */
void cpu_init_traps(unsigned int cpu);

/** set_user_entry_stack - set the stack on which this CPU enters the kernel from user mode */
void set_user_entry_stack(unsigned int cpu, void *stack_end);

/**
 * ftrace_int3_handler - handle an int3 in the kernel; for ports that patch text by breakpoints
 *
 * Called with interrupts masked, on any CPU; @regs->pc is behind the int3. Return: not 0 if it was
 * the port's breakpoint; @regs then have the pc to continue at.
 */
int ftrace_int3_handler(struct pt_regs *regs);

#endif
