/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_STRING_H
#define _LINUX_STRING_H

#include <ctype.h>
#include <string.h>

/* Compare two strings without regard to the case of letters. */
static inline int strcasecmp(const char *one, const char *other)
{
	while (*one && tolower(*one) == tolower(*other)) {
		one++;
		other++;
	}
	return tolower(*one) - tolower(*other);
}

#endif
