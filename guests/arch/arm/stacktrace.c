// SPDX-License-Identifier: MIT
/*
 * Stack unwinding, the Arm part. With gcc, code without tables, as a port's stubs may be, ends the walk.
 * clang writes tables of the EABI alone, which this does not read; there fp points to a frame record.
 */
#include <linux/errno.h>
#include <linux/unwind.h>
#include <linux/unwind_tables.h>

#include <asm/stacktrace.h>


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

#ifdef __thumb__

#define DWARF_R7	7
#define DWARF_SP	13

int unwind_frame(struct stackframe *frame)
{
	struct unwind_table table;
	const struct unwind_row *row = &table.row;
	unsigned long cfa;

	if (!unwind_find_row(&table, frame->pc))
		return -EINVAL;
	if (row->cfa_register == DWARF_R7)
		cfa = frame->fp + row->cfa_offset;
	else if (row->cfa_register == DWARF_SP)
		cfa = frame->sp + row->cfa_offset;
	else
		return -EINVAL;
	if (row->rule[UNWIND_RA].how == AT_OFFSET) {
		frame->lr_addr = (unsigned long *)(cfa + row->rule[UNWIND_RA].value);
		frame->lr = *frame->lr_addr;
	}
	if (row->rule[UNWIND_R7].how == AT_OFFSET)
		frame->fp = *(unsigned long *)(cfa + row->rule[UNWIND_R7].value);
	frame->sp = cfa;
	frame->pc = frame->lr;
	return 0;
}

#endif
