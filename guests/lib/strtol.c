// SPDX-License-Identifier: MIT
/*
 * Conversion of text to numbers. A value out of range gives the nearest limit, as in the C
 * standard, but errno does not exist.
 */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Return: the value of a digit, or a number that is larger than every base. */
static int digit_value(char character)
{
	if (isdigit((unsigned char)character))
		return character - '0';
	if (isalpha((unsigned char)character))
		return tolower((unsigned char)character) - 'a' + 10;
	return INT_MAX;
}

/**
 * parse - read a sign, the prefix of the base and the digits
 * @end: where reading stopped: the beginning of the string if there is no number
 * @overflow: the magnitude is above ULLONG_MAX, which is then returned
 */
static unsigned long long parse(const char *string, char **end, int base, bool *negative,
				bool *overflow)
{
	unsigned long long magnitude = 0;
	const char *at = string;
	bool any = false;

	*negative = *overflow = false;
	while (isspace((unsigned char)*at))
		at++;
	if (*at == '+' || *at == '-')
		*negative = *at++ == '-';
	if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
	    digit_value(at[2]) < 16) {
		base = 16;
		at += 2;
	} else if (base == 0) {
		base = *at == '0' ? 8 : 10;
	}
	if (base < 2 || base > 36) {
		if (end)
			*end = (char *)string;
		return 0;
	}
	for (; digit_value(*at) < base; at++) {
		any = true;
		if (__builtin_mul_overflow(magnitude, (unsigned long long)base, &magnitude) ||
		    __builtin_add_overflow(magnitude, (unsigned long long)digit_value(*at),
					   &magnitude))
			*overflow = true;
	}
	if (end)
		*end = (char *)(any ? at : string);
	return *overflow ? ULLONG_MAX : magnitude;
}

static long long parse_signed(const char *string, char **end, int base, long long minimum,
			      long long maximum)
{
	bool negative, overflow;
	unsigned long long magnitude = parse(string, end, base, &negative, &overflow);

	if (negative)
		return magnitude > (unsigned long long)maximum ? minimum : -(long long)magnitude;
	return magnitude > (unsigned long long)maximum ? maximum : (long long)magnitude;
}

static unsigned long long parse_unsigned(const char *string, char **end, int base,
					 unsigned long long maximum)
{
	bool negative, overflow;
	unsigned long long magnitude = parse(string, end, base, &negative, &overflow);

	if (overflow || magnitude > maximum)
		return maximum;
	return negative ? 0 - magnitude : magnitude;
}

long strtol(const char *restrict string, char **restrict end, int base)
{
	return (long)parse_signed(string, end, base, LONG_MIN, LONG_MAX);
}

long long strtoll(const char *restrict string, char **restrict end, int base)
{
	return parse_signed(string, end, base, LLONG_MIN, LLONG_MAX);
}

unsigned long strtoul(const char *restrict string, char **restrict end, int base)
{
	return (unsigned long)parse_unsigned(string, end, base, ULONG_MAX);
}

unsigned long long strtoull(const char *restrict string, char **restrict end, int base)
{
	return parse_unsigned(string, end, base, ULLONG_MAX);
}

int atoi(const char *string)
{
	return (int)strtol(string, NULL, 10);
}

long atol(const char *string)
{
	return strtol(string, NULL, 10);
}
