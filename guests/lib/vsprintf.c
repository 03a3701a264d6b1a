// SPDX-License-Identifier: MIT
/*
 * The formatting behind the printf family.
 *
 * Conversions: d i u o x X c s p %, with the flags "-+ #0", width and precision (numbers or *)
 * and the lengths hh h l ll z t j. There is no floating point: the kernel is built without it.
 * %n and unknown conversions are printed unchanged and take no argument.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libc.h"

enum length { LENGTH_CHAR, LENGTH_SHORT, LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG };

/* One directive, such as "%-08.3lx". */
struct directive {
	bool left;	/* - */
	bool plus;	/* + */
	bool space;
	bool alternate; /* # */
	bool zero;	/* 0 */
	int width;
	int precision;	/* -1: not given */
	enum length length;
	char conversion;
};

/* The output: a string of limited size, or a buffer that is flushed when it is full. */
struct output {
	char *buffer;
	size_t size;
	size_t used;
	unsigned long long total; /* characters produced, including those cut off */
	bool console;
};

static void put(struct output *output, const char *text, size_t size)
{
	output->total += size;
	while (size) {
		size_t room = output->size - output->used;
		size_t part = size < room ? size : room;

		memcpy(output->buffer + output->used, text, part);
		output->used += part;
		text += part;
		size -= part;
		if (!size)
			return;
		if (!output->console)
			return;
		console_write(output->buffer, output->used);
		output->used = 0;
	}
}

static void pad(struct output *output, char with, int count)
{
	char piece[16];

	memset(piece, with, sizeof(piece));
	while (count > 0) {
		int part = count < (int)sizeof(piece) ? count : (int)sizeof(piece);

		/* A full string only counts. */
		if (!output->console && output->used == output->size) {
			output->total += count;
			return;
		}
		put(output, piece, part);
		count -= part;
	}
}

/* A field: padding, prefix (sign or 0x), zeros, text, padding. */
static void put_field(struct output *output, const struct directive *directive,
		      const char *prefix, int zeros, const char *text, size_t size)
{
	size_t prefix_size = strlen(prefix);
	/* Only a width larger than the text matters, so truncating is harmless. */
	size_t length = prefix_size + zeros + size;
	int padding = length < (size_t)directive->width ? directive->width - (int)length : 0;

	if (!directive->left)
		pad(output, ' ', padding);
	put(output, prefix, prefix_size);
	pad(output, '0', zeros);
	put(output, text, size);
	if (directive->left)
		pad(output, ' ', padding);
}

static void put_number(struct output *output, const struct directive *directive,
		       const char *prefix, unsigned int base, unsigned long long value)
{
	const char *digits = directive->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[sizeof(value) * CHAR_BIT / 3 + 1];
	char *at = text + sizeof(text);
	int count, zeros = 0;

	/* Long division is slow on 32-bit machines: use it only while necessary. */
	for (; value > ULONG_MAX; value /= base)
		*--at = digits[value % base];
	for (unsigned long word = value; word; word /= base)
		*--at = digits[word % base];

	count = text + sizeof(text) - at;
	if (directive->precision >= 0)
		zeros = directive->precision - count;
	else if (directive->zero && !directive->left)
		zeros = directive->width - (int)strlen(prefix) - count;
	if (zeros < 1) {
		/* Zero has one digit, or none if the precision is 0; %#o needs a 0. */
		zeros = 0;
		if (directive->conversion == 'o' && directive->alternate)
			zeros = 1;
		else if (!count && directive->precision != 0)
			zeros = 1;
	}
	put_field(output, directive, prefix, zeros, at, count);
}

static long long signed_argument(enum length length, va_list *arguments)
{
	switch (length) {
	case LENGTH_CHAR:
		return (signed char)va_arg(*arguments, int);
	case LENGTH_SHORT:
		return (short)va_arg(*arguments, int);
	case LENGTH_LONG:
		return va_arg(*arguments, long);
	case LENGTH_LONG_LONG:
		return va_arg(*arguments, long long);
	default:
		return va_arg(*arguments, int);
	}
}

static unsigned long long unsigned_argument(enum length length, va_list *arguments)
{
	switch (length) {
	case LENGTH_CHAR:
		return (unsigned char)va_arg(*arguments, unsigned int);
	case LENGTH_SHORT:
		return (unsigned short)va_arg(*arguments, unsigned int);
	case LENGTH_LONG:
		return va_arg(*arguments, unsigned long);
	case LENGTH_LONG_LONG:
		return va_arg(*arguments, unsigned long long);
	default:
		return va_arg(*arguments, unsigned int);
	}
}

static void put_signed(struct output *output, const struct directive *directive,
		       va_list *arguments)
{
	long long value = signed_argument(directive->length, arguments);
	/* Not -value, which overflows for the most negative number. */
	unsigned long long bits = (unsigned long long)value;
	unsigned long long magnitude = value < 0 ? 0 - bits : bits;
	const char *sign = value < 0 ? "-" : directive->plus ? "+" : directive->space ? " " : "";

	put_number(output, directive, sign, 10, magnitude);
}

static void put_hexadecimal(struct output *output, const struct directive *directive,
			    va_list *arguments)
{
	unsigned long long value = unsigned_argument(directive->length, arguments);
	const char *prefix = "";

	if (directive->alternate && value)
		prefix = directive->conversion == 'X' ? "0X" : "0x";
	put_number(output, directive, prefix, 16, value);
}

static void put_character(struct output *output, const struct directive *directive,
			  va_list *arguments)
{
	char character = (char)va_arg(*arguments, int);

	put_field(output, directive, "", 0, &character, 1);
}

static void put_string(struct output *output, const struct directive *directive,
		       va_list *arguments)
{
	const char *string = va_arg(*arguments, const char *);
	size_t size;

	if (!string)
		string = "(null)";
	size = directive->precision < 0 ? strlen(string)
					: strnlen(string, (size_t)directive->precision);
	put_field(output, directive, "", 0, string, size);
}

/* Return: false for an unknown conversion; then no argument was taken. */
static bool put_conversion(struct output *output, const struct directive *directive,
			   va_list *arguments)
{
	switch (directive->conversion) {
	case 'd':
	case 'i':
		put_signed(output, directive, arguments);
		return true;
	case 'u':
		put_number(output, directive, "", 10,
			   unsigned_argument(directive->length, arguments));
		return true;
	case 'o':
		put_number(output, directive, "", 8,
			   unsigned_argument(directive->length, arguments));
		return true;
	case 'x':
	case 'X':
		put_hexadecimal(output, directive, arguments);
		return true;
	case 'p':
		put_number(output, directive, "0x", 16, (uintptr_t)va_arg(*arguments, void *));
		return true;
	case 'c':
		put_character(output, directive, arguments);
		return true;
	case 's':
		put_string(output, directive, arguments);
		return true;
	case '%':
		put(output, "%", 1);
		return true;
	default:
		return false;
	}
}

static const char *parse_flags(const char *at, struct directive *directive)
{
	for (;; at++) {
		switch (*at) {
		case '-':
			directive->left = true;
			break;
		case '+':
			directive->plus = true;
			break;
		case ' ':
			directive->space = true;
			break;
		case '#':
			directive->alternate = true;
			break;
		case '0':
			directive->zero = true;
			break;
		default:
			return at;
		}
	}
}

static const char *parse_number(const char *at, int *number, va_list *arguments)
{
	if (*at == '*') {
		*number = va_arg(*arguments, int);
		return at + 1;
	}
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *at - '0', number))
			*number = INT_MAX / 10;
	return at;
}

static const char *parse_length(const char *at, enum length *length)
{
	switch (*at) {
	case 'h':
		*length = at[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
		return at + (at[1] == 'h' ? 2 : 1);
	case 'l':
		*length = at[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
		return at + (at[1] == 'l' ? 2 : 1);
	case 'j':
		*length = LENGTH_LONG_LONG;
		return at + 1;
	case 'z':
	case 't':
		/* size_t and ptrdiff_t are as wide as long on every ABI here. */
		*length = LENGTH_LONG;
		return at + 1;
	default:
		*length = LENGTH_INT;
		return at;
	}
}

static const char *parse_directive(const char *at, struct directive *directive,
				   va_list *arguments)
{
	*directive = (struct directive){ .precision = -1 };
	at = parse_flags(at, directive);
	at = parse_number(at, &directive->width, arguments);
	if (directive->width < 0) {
		directive->left = true;
		directive->width = directive->width == INT_MIN ? INT_MAX : -directive->width;
	}
	if (*at == '.') {
		at = parse_number(at + 1, &directive->precision, arguments);
		if (directive->precision < 0)
			directive->precision = -1;
	}
	at = parse_length(at, &directive->length);
	directive->conversion = *at;
	return *at ? at + 1 : at;
}

static void put_formatted(struct output *output, const char *at, va_list *arguments)
{
	while (*at) {
		size_t plain = strcspn(at, "%");
		struct directive directive;
		const char *begin;

		put(output, at, plain);
		at += plain;
		if (!*at)
			return;
		begin = at;
		at = parse_directive(at + 1, &directive, arguments);
		if (!put_conversion(output, &directive, arguments))
			put(output, begin, at - begin);
	}
}

static int result(const struct output *output)
{
	return output->total > INT_MAX ? -1 : (int)output->total;
}

int vsnprintf(char *restrict buffer, size_t size, const char *restrict format, va_list arguments)
{
	struct output output = { .buffer = buffer, .size = size ? size - 1 : 0 };
	va_list copy;

	/* A va_list may be an array, which decays as a parameter: pass the address of a copy. */
	va_copy(copy, arguments);
	put_formatted(&output, format, &copy);
	va_end(copy);
	if (size)
		buffer[output.used] = '\0';
	return result(&output);
}

int vsprintf(char *restrict buffer, const char *restrict format, va_list arguments)
{
	return vsnprintf(buffer, SIZE_MAX - (uintptr_t)buffer, format, arguments);
}

int vprintf(const char *restrict format, va_list arguments)
{
	char buffer[128];
	struct output output = { .buffer = buffer, .size = sizeof(buffer), .console = true };
	va_list copy;

	va_copy(copy, arguments);
	put_formatted(&output, format, &copy);
	va_end(copy);
	if (output.used)
		console_write(buffer, output.used);
	return result(&output);
}
