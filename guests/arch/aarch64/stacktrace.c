// SPDX-License-Identifier: MIT
/*
 * Stack unwinding, the AArch64 part: code without tables, such as a port's stubs. It is unwound by
 * the frame record at x29. One step is correct when a stub calls the tracer, if the stub has made a
 * frame record as in AAPCS64. A second one is taken from a traced function that has no frame yet,
 * for which such stubs make a record: above theirs, at the end of their frame.
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
	frame->reg[UNWIND_RA] = 0;	/* not in it */
	frame->pc = unwind_return_address(frame, pc, unwind_retp(frame->reg, record + 8));
	frame->exact = false;
	return true;
}

bool arch_unwind_step(struct unwind_frame *frame)
{
	return unwind_by_table(frame) || unwind_by_record(frame);
}
