// SPDX-License-Identifier: MIT
/*
 * Reading the tables of .eh_frame: DWARF Debugging Information Format, "Call Frame
 * Information", and the Linux Standard Base's "Exception Frames" for what differs in memory.
 *
 * A function's entry (FDE) is a program that generates rows with the locations of the caller's
 * stack pointer and registers, from some instruction on; it begins with the program of its common
 * entry (CIE).
 *
 * Used by the tracer, so no traced function is called here, nor memcpy() or memset(), which a
 * compiler may generate for an assignment.
 */
#include <linux/module.h>
#include <linux/unwind_tables.h>

extern const u8 __eh_frame_hdr[], __eh_frame_end[];

#define CFA_ADVANCE_LOC		0x40	/* these three have an operand in their lower six bits */
#define CFA_OFFSET		0x80
#define CFA_RESTORE		0xc0
#define CFA_NOP			0x00
#define CFA_ADVANCE_LOC1	0x02
#define CFA_ADVANCE_LOC2	0x03
#define CFA_ADVANCE_LOC4	0x04
#define CFA_OFFSET_EXTENDED	0x05
#define CFA_RESTORE_EXTENDED	0x06
#define CFA_UNDEFINED		0x07
#define CFA_SAME_VALUE		0x08
#define CFA_REGISTER		0x09
#define CFA_REMEMBER_STATE	0x0a
#define CFA_RESTORE_STATE	0x0b
#define CFA_DEF_CFA		0x0c
#define CFA_DEF_CFA_REGISTER	0x0d
#define CFA_DEF_CFA_OFFSET	0x0e
#define CFA_OFFSET_EXTENDED_SF	0x11
#define CFA_DEF_CFA_SF		0x12
#define CFA_DEF_CFA_OFFSET_SF	0x13
#define CFA_VAL_OFFSET		0x14
#define CFA_VAL_OFFSET_SF	0x15
#define CFA_GNU_WINDOW_SAVE	0x2d	/* AArch64: return addresses are signed from here on */
#define CFA_GNU_ARGS_SIZE	0x2e

/* Encodings of addresses. */
#define PE_FORMAT	0x0f
#define PE_UDATA4	0x03
#define PE_UDATA8	0x04
#define PE_SDATA4	0x0b
#define PE_SDATA8	0x0c
#define PE_PCREL	0x10

#define HDR_TABLE	12		/* of .eh_frame_hdr, when everything in it has 4 bytes */
#define HDR_VERSION	1
#define HDR_ENCODINGS	PE_PCREL | PE_SDATA4, PE_UDATA4, 0x30 | PE_SDATA4

/* The unread rest of a table; behind its end it reads as 0. */
struct reader {
	const u8 *next;
	const u8 *end;
};

static void copy_row(struct unwind_row *to, const struct unwind_row *from)
{
	const volatile u32 *source = (const u32 *)from;
	u32 *destination = (u32 *)to;
	unsigned long i;

	for (i = 0; i < sizeof(*to) / sizeof(u32); i++)
		destination[i] = source[i];
}

static void clear_table(struct unwind_table *table)
{
	volatile u32 *word = (u32 *)table;
	unsigned long i;

	for (i = 0; i < sizeof(*table) / sizeof(u32); i++)
		word[i] = 0;
}

static u64 read_bytes(struct reader *reader, int size)
{
	u64 value = 0;
	int i;

	for (i = 0; i < size; i++) {
		u64 byte = reader->next < reader->end ? *reader->next++ : 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		value = value << 8 | byte;
#else
		value |= byte << 8 * i;
#endif
	}
	return value;
}

static u64 read_leb128(struct reader *reader, bool is_signed)
{
	u64 value = 0;
	u32 shift = 0;
	u8 byte;

	do {
		byte = read_bytes(reader, 1);
		if (shift < 64)
			value |= (u64)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (is_signed && byte & 64 && shift < 64)
		value |= ~0ull << shift;
	return value;
}

static unsigned long read_uleb(struct reader *reader)
{
	return read_leb128(reader, false);
}

static long read_sleb(struct reader *reader)
{
	return read_leb128(reader, true);
}

static unsigned long read_address(struct reader *reader, u8 encoding)
{
	unsigned long base = encoding & PE_PCREL ? (unsigned long)reader->next : 0;

	switch (encoding & PE_FORMAT) {
	case PE_UDATA4:
		return base + (u32)read_bytes(reader, 4);
	case PE_SDATA4:
		return base + (unsigned long)(long)(s32)read_bytes(reader, 4);
	case PE_UDATA8:
	case PE_SDATA8:
		return base + (unsigned long)read_bytes(reader, 8);
	default:
		return base + (unsigned long)read_bytes(reader, sizeof(long));
	}
}

/* The tables of the kernel, or of the module with this address. */
static struct reader find_tables(unsigned long pc)
{
	const struct module *module = __module_text_address(pc);

	if (module)
		return (struct reader){ module->eh_frame_hdr, module->eh_frame_end };
	return (struct reader){ __eh_frame_hdr, __eh_frame_end };
}

/* An entry of .eh_frame, from behind its length on. */
static struct reader entry_at(const u8 *place, const u8 *end)
{
	struct reader reader = { place, end };
	u32 length = read_bytes(&reader, 4);

	if (length < (unsigned long)(end - reader.next))
		reader.end = reader.next + length;
	return reader;
}

/* The last FDE that begins at or before an address. */
static const u8 *find_fde(const u8 *eh_frame_hdr, unsigned long pc)
{
	static const u8 encodings[] = { HDR_VERSION, HDR_ENCODINGS };
	unsigned long hdr = (unsigned long)eh_frame_hdr;
	const s32 (*table)[2] = (const void *)(eh_frame_hdr + HDR_TABLE);
	u32 low = 0, high = *(const u32 *)(eh_frame_hdr + 8), i;

	for (i = 0; i < sizeof(encodings); i++)
		if (eh_frame_hdr[i] != encodings[i])
			return NULL;
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (hdr + (long)table[middle][0] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? eh_frame_hdr + table[low - 1][1] : NULL;
}

static void set_rule(struct unwind_table *table, u32 column, enum how how, long value)
{
	int i = unwind_register(column);

	if (i < 0)
		return;
	table->row.rule[i].how = how;
	table->row.rule[i].value = value;
}

static void restore_rule(struct unwind_table *table, u32 column)
{
	int i = unwind_register(column);

	if (i < 0)
		return;
	table->row.rule[i].how = table->initial.rule[i].how;
	table->row.rule[i].value = table->initial.rule[i].value;
}

/* An instruction without an inline operand. False: unknown. */
static bool run_extended(struct unwind_table *table, struct reader *reader, u8 op)
{
	u32 column;

	switch (op) {
	case CFA_NOP:
	case CFA_GNU_WINDOW_SAVE:
		return true;
	case CFA_GNU_ARGS_SIZE:
		read_uleb(reader);
		return true;
	case CFA_REMEMBER_STATE:
		if (table->nr_remembered == MAX_REMEMBERED)
			return false;
		copy_row(&table->remembered[table->nr_remembered++], &table->row);
		return true;
	case CFA_RESTORE_STATE:
		if (!table->nr_remembered)
			return false;
		copy_row(&table->row, &table->remembered[--table->nr_remembered]);
		return true;
	case CFA_DEF_CFA_OFFSET:
		table->row.cfa_offset = read_uleb(reader);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		table->row.cfa_offset = read_sleb(reader) * table->data_align;
		return true;
	}
	column = read_uleb(reader);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_rule(table, column, AT_OFFSET, read_uleb(reader) * table->data_align);
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		set_rule(table, column, AT_OFFSET, read_sleb(reader) * table->data_align);
		return true;
	case CFA_VAL_OFFSET:
		set_rule(table, column, IS_OFFSET, read_uleb(reader) * table->data_align);
		return true;
	case CFA_VAL_OFFSET_SF:
		set_rule(table, column, IS_OFFSET, read_sleb(reader) * table->data_align);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_rule(table, column);
		return true;
	case CFA_UNDEFINED:
		set_rule(table, column, UNKNOWN, 0);
		return true;
	case CFA_SAME_VALUE:
		set_rule(table, column, SAME, 0);
		return true;
	case CFA_REGISTER:
		set_rule(table, column, IN_REGISTER, read_uleb(reader));
		return true;
	case CFA_DEF_CFA_REGISTER:
		table->row.cfa_register = column;
		return true;
	case CFA_DEF_CFA:
		table->row.cfa_register = column;
		table->row.cfa_offset = read_uleb(reader);
		return true;
	case CFA_DEF_CFA_SF:
		table->row.cfa_register = column;
		table->row.cfa_offset = read_sleb(reader) * table->data_align;
		return true;
	}
	return false;
}

/* Run a program up to the row for @pc. False: unknown instruction. */
static bool run(struct unwind_table *table, struct reader *reader, unsigned long location,
		unsigned long pc)
{
	while (reader->next < reader->end) {
		u8 op = read_bytes(reader, 1);
		u32 operand = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			location += operand * table->code_align;
			break;
		case CFA_OFFSET:
			set_rule(table, operand, AT_OFFSET, read_uleb(reader) * table->data_align);
			break;
		case CFA_RESTORE:
			restore_rule(table, operand);
			break;
		default:
			if (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4)
				location += read_bytes(reader, 1 << (op - CFA_ADVANCE_LOC1)) *
					    table->code_align;
			else if (!run_extended(table, reader, op))
				return false;
		}
		if (location > pc)
			break;
	}
	return true;
}

static bool read_cie(struct unwind_table *table, struct reader cie)
{
	const u8 *letter, *instructions;
	unsigned long length;
	u8 version;

	if (read_bytes(&cie, 4))
		return false;
	version = read_bytes(&cie, 1);
	letter = cie.next;
	while (read_bytes(&cie, 1))
		;
	table->code_align = read_uleb(&cie);
	table->data_align = read_sleb(&cie);
	table->return_column = version == 1 ? read_bytes(&cie, 1) : read_uleb(&cie);
	if (*letter++ != 'z')
		return false;
	length = read_uleb(&cie);
	instructions = cie.next + length;
	for (; *letter; letter++) {
		if (*letter == 'R')
			table->encoding = read_bytes(&cie, 1);
		else if (*letter == 'S')
			table->signal = true;
		else if (*letter != 'B')
			return false;
	}
	cie.next = instructions;
	if (!run(table, &cie, 0, 0))
		return false;
	copy_row(&table->initial, &table->row);
	return true;
}

bool unwind_find_row(struct unwind_table *table, unsigned long pc)
{
	const struct reader tables = find_tables(pc);
	const u8 *place = find_fde(tables.next, pc);
	unsigned long length;
	struct reader fde;
	const u8 *cie;

	clear_table(table);
	if (!place)
		return false;
	fde = entry_at(place, tables.end);
	cie = fde.next;
	cie -= (u32)read_bytes(&fde, 4);
	if (!read_cie(table, entry_at(cie, tables.end)))
		return false;
	table->begin = read_address(&fde, table->encoding);
	table->size = read_address(&fde, table->encoding & PE_FORMAT);
	if (pc - table->begin >= table->size)
		return false;
	length = read_uleb(&fde);
	fde.next += length;
	return run(table, &fde, table->begin, pc);
}
