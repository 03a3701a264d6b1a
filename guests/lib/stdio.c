// SPDX-License-Identifier: MIT
/*
 * The functions of stdio.h not in vsprintf.c.
 */
#include <stdarg.h>
#include <stdio.h>

#include "libc.h"

int snprintf(char *restrict buffer, size_t size, const char *restrict format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return length;
}

int sprintf(char *restrict buffer, const char *restrict format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsprintf(buffer, format, arguments);
	va_end(arguments);
	return length;
}

int printf(const char *restrict format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vprintf(format, arguments);
	va_end(arguments);
	return length;
}

int putchar(int character)
{
	char byte = (char)character;

	console_write(&byte, 1);
	return (unsigned char)byte;
}

int puts(const char *string)
{
	return printf("%s\n", string);
}
