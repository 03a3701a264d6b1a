// SPDX-License-Identifier: MIT
/*
 * The memory and string functions.
 *
 * memcpy, memmove, memset and memcmp are notrace, because the compiler emits calls to them in the
 * tracer too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libc.h"

typedef unsigned long __attribute__((may_alias)) word_t;

#define WORD_SIZE sizeof(word_t)

static __always_inline size_t misalignment(const void *address)
{
	return (uintptr_t)address % WORD_SIZE;
}

notrace no_loop_idiom void *memcpy(void *restrict destination, const void *restrict source,
				   size_t size)
{
	unsigned char *to = destination;
	const unsigned char *from = source;

	if (misalignment(to) == misalignment(from)) {
		for (; size && misalignment(to); size--)
			*to++ = *from++;
		for (; size >= WORD_SIZE; size -= WORD_SIZE) {
			*(word_t *)to = *(const word_t *)from;
			to += WORD_SIZE;
			from += WORD_SIZE;
		}
	}
	while (size--)
		*to++ = *from++;
	return destination;
}

notrace no_loop_idiom void *memmove(void *destination, const void *source, size_t size)
{
	unsigned char *to = destination;
	const unsigned char *from = source;

	/* memcpy copies upwards: correct unless the destination begins inside the source. */
	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(destination, source, size);

	to += size;
	from += size;
	if (misalignment(to) == misalignment(from)) {
		for (; size && misalignment(to); size--)
			*--to = *--from;
		for (; size >= WORD_SIZE; size -= WORD_SIZE) {
			to -= WORD_SIZE;
			from -= WORD_SIZE;
			*(word_t *)to = *(const word_t *)from;
		}
	}
	while (size--)
		*--to = *--from;
	return destination;
}

notrace no_loop_idiom void *memset(void *destination, int byte, size_t size)
{
	unsigned char *to = destination;
	word_t pattern = (unsigned char)byte * (~(word_t)0 / 0xff);

	for (; size && misalignment(to); size--)
		*to++ = (unsigned char)byte;
	for (; size >= WORD_SIZE; size -= WORD_SIZE) {
		*(word_t *)to = pattern;
		to += WORD_SIZE;
	}
	while (size--)
		*to++ = (unsigned char)byte;
	return destination;
}

notrace no_loop_idiom int memcmp(const void *left, const void *right, size_t size)
{
	const unsigned char *a = left;
	const unsigned char *b = right;

	for (; size; size--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

void *memchr(const void *area, int byte, size_t size)
{
	const unsigned char *at = area;

	for (; size; size--, at++)
		if (*at == (unsigned char)byte)
			return (void *)at;
	return NULL;
}

no_loop_idiom size_t strlen(const char *string)
{
	const char *end = string;

	while (*end)
		end++;
	return end - string;
}

size_t strnlen(const char *string, size_t size)
{
	size_t length = 0;

	while (length < size && string[length])
		length++;
	return length;
}

no_loop_idiom char *strcpy(char *restrict destination, const char *restrict source)
{
	char *to = destination;

	while ((*to++ = *source++))
		;
	return destination;
}

no_loop_idiom char *strncpy(char *restrict destination, const char *restrict source, size_t size)
{
	size_t i = 0;

	for (; i < size && source[i]; i++)
		destination[i] = source[i];
	for (; i < size; i++)
		destination[i] = '\0';
	return destination;
}

char *strcat(char *restrict destination, const char *restrict source)
{
	strcpy(destination + strlen(destination), source);
	return destination;
}

char *strncat(char *restrict destination, const char *restrict source, size_t size)
{
	char *end = destination + strlen(destination);
	size_t length = strnlen(source, size);

	memcpy(end, source, length);
	end[length] = '\0';
	return destination;
}

int strcmp(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	return (unsigned char)*left - (unsigned char)*right;
}

int strncmp(const char *left, const char *right, size_t size)
{
	for (; size; size--, left++, right++) {
		if (*left != *right)
			return (unsigned char)*left - (unsigned char)*right;
		if (!*left)
			break;
	}
	return 0;
}

char *strchr(const char *string, int character)
{
	for (;; string++) {
		if (*string == (char)character)
			return (char *)string;
		if (!*string)
			return NULL;
	}
}

char *strrchr(const char *string, int character)
{
	const char *last = NULL;

	for (;; string++) {
		if (*string == (char)character)
			last = string;
		if (!*string)
			return (char *)last;
	}
}

char *strstr(const char *string, const char *wanted)
{
	size_t length = strlen(wanted);

	if (!length)
		return (char *)string;
	while ((string = strchr(string, *wanted))) {
		if (!strncmp(string, wanted, length))
			return (char *)string;
		string++;
	}
	return NULL;
}

size_t strspn(const char *string, const char *accept)
{
	size_t length = 0;

	while (string[length] && strchr(accept, string[length]))
		length++;
	return length;
}

size_t strcspn(const char *string, const char *reject)
{
	size_t length = 0;

	while (string[length] && !strchr(reject, string[length]))
		length++;
	return length;
}

char *strpbrk(const char *string, const char *accept)
{
	string += strcspn(string, accept);
	return *string ? (char *)string : NULL;
}

char *strtok_r(char *restrict string, const char *restrict separators, char **restrict rest)
{
	char *token = string ? string : *rest;

	token += strspn(token, separators);
	if (!*token) {
		*rest = token;
		return NULL;
	}
	*rest = token + strcspn(token, separators);
	if (**rest)
		*(*rest)++ = '\0';
	return token;
}

char *strtok(char *restrict string, const char *restrict separators)
{
	static char *rest;

	return strtok_r(string, separators, &rest);
}

char *strdup(const char *string)
{
	size_t size = strlen(string) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, string, size) : NULL;
}
