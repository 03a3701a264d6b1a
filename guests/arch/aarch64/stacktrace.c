// SPDX-License-Identifier: MIT
/*
 * Walking a stack, where AArch64 has a say: code without tables, as a port may have. There the frame
 * record that x29 points to is all there is; one step with it is right where a stub calls the tracer,
 * if it has made a record as AAPCS64 wants it.
 */
#include <linux/unwind.h>

static bool unwind_by_record(struct unwind_frame *frame)
{
	unsigned long record = frame->reg[UNWIND_FP];
	unsigned long fp, pc;

	if (record < frame->reg[UNWIND_SP] || !unwind_load(frame, record, &fp) ||
	    !unwind_load(frame, record + 8, &pc))
		return false;
	frame->reg[UNWIND_FP] = fp;
	frame->reg[UNWIND_SP] = record + 16;
	frame->pc = unwind_return_address(frame, pc, unwind_retp(frame->reg, record + 8));
	frame->exact = false;
	return true;
}

bool arch_unwind_step(struct unwind_frame *frame)
{
	return unwind_by_table(frame) || unwind_by_record(frame);
}
