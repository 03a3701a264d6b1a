// SPDX-License-Identifier: MIT
/*
 * Stack unwinding, the Arm part. With gcc, code without tables, like some ports' stubs, ends the
 * walk. clang writes tables of the EABI alone, which this does not read; there fp points to a frame
 * record.
 */
#include <linux/unwind.h>
#include <linux/unwind_tables.h>

#ifdef __clang__
static bool unwind_by_record(struct unwind_frame *frame)
{
	unsigned long record = frame->reg[UNWIND_FP];
	unsigned long fp, pc;

	if (record < frame->reg[UNWIND_SP] || !unwind_load(frame, record, &fp) ||
	    !unwind_load(frame, record + 4, &pc))
		return false;
	frame->reg[UNWIND_FP] = fp;
	frame->reg[UNWIND_SP] = record + 8;
	frame->pc = unwind_return_address(frame, pc, unwind_retp(frame->reg, record + 4));
	frame->exact = false;
	return true;
}
#else
static bool unwind_by_record(struct unwind_frame *frame)
{
	return false;
}
#endif

bool arch_unwind_step(struct unwind_frame *frame)
{
	return unwind_by_table(frame) || unwind_by_record(frame);
}
