/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_UNWIND_H
#define _LINUX_UNWIND_H

/*
 * Walking a stack, frame by frame. What the compiler did with a function's frame it has written
 * down for each instruction, in the tables of DWARF's "call frame information" (.eh_frame, which
 * stays in memory, sorted by .eh_frame_hdr): so it takes neither frame pointers nor guessing, at
 * any level of optimisation. Code without tables, as a port's stubs are, is the arch's to read.
 *
 * The arch gives asm/unwind.h: UNWIND_NR registers that the walk keeps, with UNWIND_SP and UNWIND_RA
 * among their numbers; unwind_register(column), the number of one of the tables' columns, or -1;
 * unwind_strip(address), a return address as the tables know it. Where a walk begins:
 * unwind_regs(reg, regs) takes the registers from a struct pt_regs; unwind_switch(reg, thread) from
 * a struct thread_struct, with UNWIND_RA 0 if the thread has not run yet; unwind_here(pc, reg) is a
 * macro and takes those of the function that it stands in. And arch_unwind_step(). If the port
 * knows return addresses by something else than where they lie: unwind_retp(registers, where), what
 * it is for a frame whose caller has these registers.
 */
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include <asm/unwind.h>

#ifndef unwind_retp
#define unwind_retp(registers, where)	(where)
#endif

#define UNWIND_MAX_FRAMES	256

/**
 * struct unwind_frame - a function that has been entered and not left
 * @thread:	whose it is
 * @pc:		where it goes on
 * @exact:	it was interrupted at @pc, which is no return address: what is there has not run yet
 * @low:	the stack's lowest address,
 * @high:	and the one behind its highest: nothing else is read
 * @graph_index: for ftrace_graph_ret_addr()
 * @reg:	what the kept registers have at @pc
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

/** unwind_walk - report @frame and those it was called from, until there is doubt */
void unwind_walk(struct unwind_frame *frame, stack_trace_consume_fn consume, void *cookie);

/** unwind_bounds - fill in @thread, @low and @high */
void unwind_bounds(struct unwind_frame *frame, struct thread_info *thread);

/** unwind_is_code - whether an instruction of the kernel or of a module can be at @address */
bool unwind_is_code(unsigned long address);

/** arch_unwind_step - from a frame to its caller's; false: cannot be told */
bool arch_unwind_step(struct unwind_frame *frame);

/** unwind_by_table - the same; false: the function has no table. @pc is 0: there is doubt */
bool unwind_by_table(struct unwind_frame *frame);

/** unwind_load - a word of the stack; false: it is none */
bool unwind_load(const struct unwind_frame *frame, unsigned long address, unsigned long *value);

/**
 * unwind_return_address - where a frame returns to, hijacked or not
 * @frame:	the frame
 * @address:	what it has for a return address
 * @where:	where that lies; if in a register, the frame's stack pointer as on entry
 */
unsigned long unwind_return_address(struct unwind_frame *frame, unsigned long address,
				    unsigned long where);

#endif
