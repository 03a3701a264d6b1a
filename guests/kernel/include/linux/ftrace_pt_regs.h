/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_PT_REGS_H
#define _LINUX_FTRACE_PT_REGS_H

/*
 * For ports with DYNAMIC_FTRACE_WITH_REGS and without DYNAMIC_FTRACE_WITH_ARGS, which do not define
 * these themselves: struct ftrace_regs is a struct pt_regs. At a site that calls ftrace_caller only
 * the members that this stub needs have to be valid. Included by linux/ftrace_ops.h.
 */
#include <asm/ptrace.h>

struct ftrace_regs {
	struct pt_regs regs;
};

#define arch_ftrace_get_regs(fregs)			(&(fregs)->regs)

#define ftrace_regs_get_instruction_pointer(fregs)	instruction_pointer(&(fregs)->regs)
#define ftrace_regs_set_instruction_pointer(fregs, ip)	\
	instruction_pointer_set(&(fregs)->regs, ip)
#define ftrace_regs_get_argument(fregs, n)		regs_get_kernel_argument(&(fregs)->regs, n)
#define ftrace_regs_get_return_address(fregs)		procedure_link_pointer(&(fregs)->regs)
#define ftrace_regs_get_stack_pointer(fregs)		kernel_stack_pointer(&(fregs)->regs)
#define ftrace_regs_get_frame_pointer(fregs)		frame_pointer(&(fregs)->regs)
#define ftrace_regs_get_return_value(fregs)		regs_return_value(&(fregs)->regs)
#define ftrace_regs_set_return_value(fregs, value)	\
	regs_set_return_value(&(fregs)->regs, value)
#define ftrace_override_function_with_return(fregs)	\
	instruction_pointer_set(&(fregs)->regs, procedure_link_pointer(&(fregs)->regs))

#endif
