/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_UNWIND_H
#define _LINUX_UNWIND_H

/*
 * Stack unwinding by DWARF call frame information (.eh_frame, which is loaded, with the sorted
 * index .eh_frame_hdr). It describes the frame at every instruction, so the unwinder needs no frame
 * pointers and no heuristics, at any level of optimisation. The arch unwinds code without tables,
 * such as a port's stubs.
 *
 * The arch's asm/unwind.h defines:
 *
 * - UNWIND_NR, the number of registers tracked, with UNWIND_SP and UNWIND_RA among them;
 * - unwind_register(column): the register of a column of the tables, or -1;
 * - unwind_strip(address): a return address without its authentication code;
 * - unwind_regs(reg, regs): takes the registers from a struct pt_regs;
 * - unwind_switch(reg, thread): takes them from a struct thread_struct, with UNWIND_RA 0 if the
 *   thread has not run yet;
 * - unwind_here(pc, reg): a macro, takes the registers of the current function;
 * - UNWIND_INSN_ALIGN: only if instructions are not at multiples of four bytes; of how many;
 * - unwind_retp(registers, where): only if the port does not identify a return address by its
 *   location; its identification, for a frame whose caller has these registers.
 *
 * The arch also defines arch_unwind_step().
 */
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include <asm/unwind.h>

#ifndef unwind_retp
#define unwind_retp(registers, where)	(where)
#endif

#ifndef UNWIND_INSN_ALIGN
#define UNWIND_INSN_ALIGN	4
#endif

#define UNWIND_MAX_FRAMES	256

/**
 * struct unwind_frame - an active function
 * @thread:	its thread
 * @pc:		where it continues
 * @exact:	@pc is not a return address: the function was interrupted before this instruction
 * @low:	the stack's lowest address
 * @high:	the end of the stack: only [@low, @high) is read
 * @graph_index: for ftrace_graph_ret_addr()
 * @reg:	the tracked registers at @pc
 */
struct unwind_frame {
	struct thread_info *thread;
	unsigned long pc;
	bool exact;
	unsigned long low;
	unsigned long high;
	int graph_index;
	unsigned long reg[UNWIND_NR];
};

/** unwind_walk - report @frame and its callers, as far as they are reliable */
void unwind_walk(struct unwind_frame *frame, stack_trace_consume_fn consume, void *cookie);

/** unwind_begin - prepare a walk that begins at the macro unwind_here() */
void unwind_begin(struct unwind_frame *frame, struct thread_info *thread);

/** unwind_bounds - fill in @thread, @low and @high */
void unwind_bounds(struct unwind_frame *frame, struct thread_info *thread);

/** unwind_is_code - whether an instruction of the kernel or of a module can be at @address */
bool unwind_is_code(unsigned long address);

/** arch_unwind_step - from a frame to its caller's; false: unknown */
bool arch_unwind_step(struct unwind_frame *frame);

/**
 * unwind_by_table - the same; false: no table for this function, or one that needs a return address
 * in a register that is 0. @pc is 0 if unreliable
 */
bool unwind_by_table(struct unwind_frame *frame);

/** unwind_load - read a word of the stack; false: not an address of the stack */
bool unwind_load(const struct unwind_frame *frame, unsigned long address, unsigned long *value);

/**
 * unwind_return_address - the original return address of a frame
 * @frame:	the frame
 * @address:	its return address, which may be return_to_handler
 * @where:	its location; if it is in a register, the frame's stack pointer on entry
 */
unsigned long unwind_return_address(struct unwind_frame *frame, unsigned long address,
				    unsigned long where);

#endif
