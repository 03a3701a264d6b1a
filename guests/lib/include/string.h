/* SPDX-License-Identifier: MIT */
#ifndef _STRING_H
#define _STRING_H

#include <stddef.h>

void *memcpy(void *restrict destination, const void *restrict source, size_t size);
void *memmove(void *destination, const void *source, size_t size);
void *memset(void *destination, int byte, size_t size);
int memcmp(const void *left, const void *right, size_t size);
void *memchr(const void *area, int byte, size_t size);

size_t strlen(const char *string);
size_t strnlen(const char *string, size_t size);
char *strcpy(char *restrict destination, const char *restrict source);
char *strncpy(char *restrict destination, const char *restrict source, size_t size);
char *strcat(char *restrict destination, const char *restrict source);
char *strncat(char *restrict destination, const char *restrict source, size_t size);
int strcmp(const char *left, const char *right);
int strncmp(const char *left, const char *right, size_t size);
char *strchr(const char *string, int character);
char *strrchr(const char *string, int character);
char *strstr(const char *string, const char *wanted);
size_t strspn(const char *string, const char *accept);
size_t strcspn(const char *string, const char *reject);
char *strpbrk(const char *string, const char *accept);
char *strtok(char *restrict string, const char *restrict separators);
char *strtok_r(char *restrict string, const char *restrict separators, char **restrict rest);
char *strdup(const char *string);

#endif
