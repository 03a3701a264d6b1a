// SPDX-License-Identifier: MIT
/* Reading the tables for unwind_frame() in T32 (asm/stacktrace.h). */
#include <linux/module.h>
#include <linux/unwind_tables.h>

#ifdef __thumb__
#include <asm/stacktrace.h>

#define DWARF_R7	7
#define DWARF_SP	13

u32 kept_locations[KEPT_LOCATIONS];

/* How far below the caller's stack pointer a register is, in words; 0: it is not stored. */
static unsigned long words_below(const struct unwind_row *row, int column)
{
	return row->rule[column].how == AT_OFFSET ?
	       -row->rule[column].value / (long)sizeof(long) : 0;
}

/* One word, so that no CPU reads half of an entry. */
static void keep_location(unsigned long pc, u32 location)
{
	if (!(location >> LOCATION_BITS))
		WRITE_ONCE(*kept_location(pc), (pc & ~0ul << LOCATION_BITS) | location);
}

u32 unwind_location(unsigned long pc)
{
	struct unwind_table table;
	const struct unwind_row *row = &table.row;
	unsigned long lr, r7;
	u32 location;

	if (!unwind_find_row(&table, pc) ||
	    (row->cfa_register != DWARF_R7 && row->cfa_register != DWARF_SP))
		return LOCATION_NONE;
	lr = words_below(row, UNWIND_RA);
	r7 = words_below(row, UNWIND_R7);
	if (r7)
		r7 -= lr;
	if (lr > LOCATION_REGISTER || r7 > LOCATION_REGISTER)
		return LOCATION_NONE;
	location = row->cfa_offset / sizeof(long) << LOCATION_CFA_SHIFT |
		   lr << LOCATION_LR_SHIFT | r7;
	if (row->cfa_register == DWARF_R7)
		location |= LOCATION_BY_R7;
	keep_location(pc, location);
	return location;
}

/* The next module at these addresses has other tables. */
void module_arch_cleanup(struct module *module)
{
	unsigned long pc;

	for (pc = module->text_start; pc < module->text_end; pc += 2)
		WRITE_ONCE(*kept_location(pc), 0);
}

#endif
