/* SPDX-License-Identifier: MIT */
#ifndef _UNWIND_TABLES_H
#define _UNWIND_TABLES_H

#include <linux/unwind.h>

enum how { SAME, UNKNOWN, AT_OFFSET, IS_OFFSET, IN_REGISTER };

/* Where the caller's registers are: a row of the table. */
struct unwind_row {
	u32 cfa_register;
	long cfa_offset;
	struct {
		enum how how;
		long value;
	} rule[UNWIND_NR];
};

#define MAX_REMEMBERED	4

/**
 * struct unwind_table - what is known of a function after reading its entries
 * @code_align:		unit of the lengths of instructions
 * @data_align:		unit of offsets
 * @return_column:	where a row has the address that the function returns to
 * @encoding:		of addresses
 * @signal:		the frame of an interrupt
 * @begin:		the function's first address
 * @size:		its bytes
 * @row:		what is asked for
 * @initial:		what its common entry says
 * @remembered:		rows to come back to
 * @nr_remembered:	how many
 */
struct unwind_table {
	long code_align;
	long data_align;
	u32 return_column;
	u8 encoding;
	bool signal;
	unsigned long begin;
	unsigned long size;
	struct unwind_row row;
	struct unwind_row initial;
	struct unwind_row remembered[MAX_REMEMBERED];
	int nr_remembered;
};

/** unwind_find_row - the row for an address; false: no function with a table is there */
bool unwind_find_row(struct unwind_table *table, unsigned long pc);

#endif
