/* SPDX-License-Identifier: MIT */
#ifndef _MALLOC_H
#define _MALLOC_H

#include <stdlib.h>

/**
 * malloc_check - walk the whole heap and panic at the first thing that is wrong
 *
 * Return: bytes that are allocated and not freed, as asked for (without headers and padding).
 */
size_t malloc_check(void);

#endif
