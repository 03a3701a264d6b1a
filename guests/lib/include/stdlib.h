/* SPDX-License-Identifier: MIT */
#ifndef _STDLIB_H
#define _STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 0x7fffffff

void *malloc(size_t size) __attribute__((malloc, warn_unused_result));
void *calloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));
void *realloc(void *area, size_t size) __attribute__((warn_unused_result));
void free(void *area);

void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *array, size_t count, size_t size,
	      int (*compare)(const void *, const void *));

int atoi(const char *string);
long atol(const char *string);
long strtol(const char *restrict string, char **restrict end, int base);
unsigned long strtoul(const char *restrict string, char **restrict end, int base);
long long strtoll(const char *restrict string, char **restrict end, int base);
unsigned long long strtoull(const char *restrict string, char **restrict end, int base);

int abs(int value);
long labs(long value);
long long llabs(long long value);

int rand(void);
void srand(unsigned int seed);

void abort(void) __attribute__((noreturn, cold));

#endif
