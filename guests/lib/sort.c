// SPDX-License-Identifier: MIT
/*
 * qsort and bsearch.
 *
 * qsort is a heapsort: never more than about 2 n log2(n) comparisons, no recursion and no
 * memory beside the array, whatever the input is. It is not stable.
 */
#include <stdint.h>
#include <stdlib.h>

#include "libc.h"

static void swap(unsigned char *left, unsigned char *right, size_t size)
{
	while (size--) {
		unsigned char byte = *left;

		*left++ = *right;
		*right++ = byte;
	}
}

/* Sift down the element at index until neither child is larger. */
static void sink(unsigned char *array, size_t index, size_t count, size_t size,
		 int (*compare)(const void *, const void *))
{
	size_t child;

	while ((child = 2 * index + 1) < count) {
		unsigned char *larger = array + child * size;

		if (child + 1 < count && compare(larger, larger + size) < 0) {
			child++;
			larger += size;
		}
		if (compare(array + index * size, larger) >= 0)
			return;
		swap(array + index * size, larger, size);
		index = child;
	}
}

void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	unsigned char *first = array;

	for (size_t index = count / 2; index > 0; index--)
		sink(first, index - 1, count, size, compare);
	for (size_t last = count; last > 1; last--) {
		swap(first, first + (last - 1) * size, size);
		sink(first, 0, last - 1, size, compare);
	}
}

void *bsearch(const void *key, const void *array, size_t count, size_t size,
	      int (*compare)(const void *, const void *))
{
	const unsigned char *first = array;

	while (count) {
		const unsigned char *middle = first + count / 2 * size;
		int order = compare(key, middle);

		if (!order)
			return (void *)middle;
		if (order > 0) {
			first = middle + size;
			count -= count / 2 + 1;
		} else {
			count /= 2;
		}
	}
	return NULL;
}
