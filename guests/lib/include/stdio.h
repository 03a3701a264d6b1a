/* SPDX-License-Identifier: MIT */
#ifndef _STDIO_H
#define _STDIO_H

#include <stdarg.h>
#include <stddef.h>

#define EOF (-1)

int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));
int sprintf(char *restrict buffer, const char *restrict format, ...)
	__attribute__((format(printf, 2, 3)));
int snprintf(char *restrict buffer, size_t size, const char *restrict format, ...)
	__attribute__((format(printf, 3, 4)));
int vprintf(const char *restrict format, va_list arguments) __attribute__((format(printf, 1, 0)));
int vsprintf(char *restrict buffer, const char *restrict format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
int vsnprintf(char *restrict buffer, size_t size, const char *restrict format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
int putchar(int character);
int puts(const char *string);

#endif
