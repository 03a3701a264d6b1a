/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_UNWIND_TABLES_H
#define _LINUX_UNWIND_TABLES_H

#include <linux/unwind.h>

enum how { SAME, UNKNOWN, AT_OFFSET, IS_OFFSET, IN_REGISTER };

/* A row of the table: the locations of the caller's registers. */
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
 * struct unwind_table - the parsed entries of a function
 * @code_align:		unit of the lengths of instructions
 * @data_align:		unit of offsets
 * @return_column:	the column of the return address
 * @encoding:		of addresses
 * @signal:		the frame of an interrupt
 * @begin:		the function's first address
 * @size:		its bytes
 * @row:		the result
 * @initial:		the row of its common entry
 * @remembered:		saved rows
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

/** unwind_find_row - the row for an address; false: no table */
bool unwind_find_row(struct unwind_table *table, unsigned long pc);

#endif
