// SPDX-License-Identifier: MIT
/*
 * One step of a walk with .eh_frame: from a row to the caller's registers.
 */
#include <linux/ftrace.h>
#include <linux/unwind_tables.h>

#define PATCHABLE_ENTRY_SIZE	12	/* two instructions, and a landing pad before them */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define HANDLER	unwind_strip((unsigned long)return_to_handler)
#else
#define HANDLER	0ul
#endif

/*
 * A return address without a table: the outermost frame's, or return_to_handler's own, which is in
 * the thread's ret_stack as that of the function that has just returned.
 */
static unsigned long unknown_return_address(const struct unwind_table *table)
{
	return HANDLER - table->begin < table->size ? HANDLER : 0;
}

/*
 * The row of a return address. After a call at the end of a function it is in the next function.
 * Tables begin behind a patchable entry, where there is no frame yet.
 */
static bool find_frame_row(struct unwind_table *table, const struct unwind_frame *frame)
{
	unsigned long pc = frame->pc - !frame->exact;

	if (unwind_find_row(table, pc))
		return true;
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	for (pc = frame->pc; pc - frame->pc <= PATCHABLE_ENTRY_SIZE; pc += 4) {
		if (unwind_find_row(table, pc) && table->begin == pc)
			return true;
	}
#endif
	return false;
}

static bool follow_row(struct unwind_frame *frame, const struct unwind_table *table)
{
	unsigned long cfa, caller[UNWIND_NR], where;
	const struct unwind_row *row = &table->row;
	int i, ra, from;

	i = unwind_register(row->cfa_register);
	ra = unwind_register(table->return_column);
	if (i < 0 || ra < 0)
		return false;
	cfa = frame->reg[i] + row->cfa_offset;
	where = cfa;
	for (i = 0; i < UNWIND_NR; i++) {
		caller[i] = frame->reg[i];
		switch (row->rule[i].how) {
		case SAME:
			if (i == UNWIND_SP)
				caller[i] = cfa;
			break;
		case UNKNOWN:
			caller[i] = i == ra ? unknown_return_address(table) : 0;
			break;
		case AT_OFFSET:
			if (!unwind_load(frame, cfa + row->rule[i].value, &caller[i]))
				return false;
			if (i == ra)
				where = cfa + row->rule[i].value;
			break;
		case IS_OFFSET:
			caller[i] = cfa + row->rule[i].value;
			break;
		case IN_REGISTER:
			from = unwind_register(row->rule[i].value);
			caller[i] = from < 0 ? 0 : frame->reg[from];
			break;
		}
	}
	for (i = 0; i < UNWIND_NR; i++)
		WRITE_ONCE(frame->reg[i], caller[i]);
	frame->exact = table->signal;
	if (table->signal)
		frame->pc = caller[ra];
	else
		frame->pc = unwind_return_address(frame, caller[ra], unwind_retp(caller, where));
	/* Unknown: return_to_handler has popped it and not returned yet. */
	return table->signal || frame->pc != HANDLER;
}

/* At the entry of a function, with the return address in a register unknown to the last step. */
static bool return_address_lost(const struct unwind_frame *frame, const struct unwind_table *table)
{
	int ra = unwind_register(table->return_column);

	return ra >= 0 && !frame->exact && !frame->reg[ra] && table->row.rule[ra].how == SAME;
}

bool unwind_by_table(struct unwind_frame *frame)
{
	struct unwind_table table;

	if (!find_frame_row(&table, frame) || return_address_lost(frame, &table))
		return false;
	/* Without a table the caller is unknown. */
	if (!follow_row(frame, &table))
		frame->pc = 0;
	return true;
}
