// SPDX-License-Identifier: MIT
/*
 * Six sorting algorithms over five kinds of data.
 *
 * A tracer sees, for each algorithm and kind, fill_<kind>, the algorithm, and check_sorted.
 * quick_sort and merge_sort recurse (quick_sort at most about log2(COUNT) deep, whatever the
 * data is), heap_sort calls sift_down, and the C library's qsort calls the comparators
 * compare_ascending, compare_descending and compare_records through a pointer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 300
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Always a function of its own, and every call to it stays. */
#define traced __attribute__((noipa))

typedef int32_t element_t;

static inline void exchange(element_t *left, element_t *right)
{
	element_t element = *left;

	*left = *right;
	*right = element;
}

/* --- Data --------------------------------------------------------------------------------- */

traced static void fill_random(element_t *array, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array[i] = rand() - RAND_MAX / 2;
}

traced static void fill_sorted(element_t *array, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array[i] = (element_t)i - 7;
}

traced static void fill_reversed(element_t *array, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array[i] = (element_t)(count - i);
}

traced static void fill_few_values(element_t *array, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array[i] = rand() % 4;
}

traced static void fill_equal(element_t *array, size_t count)
{
	for (size_t i = 0; i < count; i++)
		array[i] = INT32_MIN;
}

/* --- Algorithms --------------------------------------------------------------------------- */

traced static void insertion_sort(element_t *array, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		element_t element = array[i];
		size_t hole = i;

		for (; hole && array[hole - 1] > element; hole--)
			array[hole] = array[hole - 1];
		array[hole] = element;
	}
}

/* Ciura's gaps. */
traced static void shell_sort(element_t *array, size_t count)
{
	static const size_t gaps[] = { 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < ARRAY_SIZE(gaps); g++) {
		size_t gap = gaps[g];

		for (size_t i = gap; i < count; i++) {
			element_t element = array[i];
			size_t hole = i;

			for (; hole >= gap && array[hole - gap] > element; hole -= gap)
				array[hole] = array[hole - gap];
			array[hole] = element;
		}
	}
}

/* Hoare's partition around the middle element. Return: the size of the left part. */
traced static size_t partition(element_t *array, size_t count)
{
	element_t pivot = array[(count - 1) / 2];
	size_t left = 0, right = count - 1;

	for (;; left++, right--) {
		while (array[left] < pivot)
			left++;
		while (array[right] > pivot)
			right--;
		if (left >= right)
			return right + 1;
		exchange(&array[left], &array[right]);
	}
}

/* Recurse into the smaller part only, so that the depth stays logarithmic. */
traced static void quick_sort(element_t *array, size_t count)
{
	while (count > 8) {
		size_t left = partition(array, count);

		if (left < count - left) {
			quick_sort(array, left);
			array += left;
			count -= left;
		} else {
			quick_sort(array + left, count - left);
			count = left;
		}
	}
	insertion_sort(array, count);
}

traced static void merge(element_t *array, size_t left, size_t count, element_t *scratch)
{
	size_t i = 0, j = left;

	memcpy(scratch, array, left * sizeof(*array));
	for (size_t to = 0; i < left; to++)
		array[to] = j < count && array[j] < scratch[i] ? array[j++] : scratch[i++];
}

traced static void merge_parts(element_t *array, size_t count, element_t *scratch)
{
	size_t left = count / 2;

	if (count < 2)
		return;
	merge_parts(array, left, scratch);
	merge_parts(array + left, count - left, scratch);
	merge(array, left, count, scratch);
}

traced static void merge_sort(element_t *array, size_t count)
{
	element_t *scratch = malloc((count / 2 + 1) * sizeof(*array));

	/* Without memory the array stays as it is, and the check says so. */
	if (scratch)
		merge_parts(array, count, scratch);
	free(scratch);
}

traced static void sift_down(element_t *array, size_t root, size_t count)
{
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count && array[child] < array[child + 1])
			child++;
		if (array[root] >= array[child])
			return;
		exchange(&array[root], &array[child]);
		root = child;
	}
}

traced static void heap_sort(element_t *array, size_t count)
{
	for (size_t root = count / 2; root > 0; root--)
		sift_down(array, root - 1, count);
	for (size_t end = count; end > 1; end--) {
		exchange(&array[0], &array[end - 1]);
		sift_down(array, 0, end - 1);
	}
}

traced static int compare_ascending(const void *left, const void *right)
{
	element_t a = *(const element_t *)left, b = *(const element_t *)right;

	return (a > b) - (a < b);
}

traced static int compare_descending(const void *left, const void *right)
{
	return compare_ascending(right, left);
}

traced static void library_sort(element_t *array, size_t count)
{
	qsort(array, count, sizeof(*array), compare_ascending);
}

/* --- Checks ------------------------------------------------------------------------------- */

struct algorithm {
	const char *name;
	void (*sort)(element_t *array, size_t count);
};

static const struct algorithm algorithms[] = {
	{ "insertion_sort", insertion_sort }, { "shell_sort", shell_sort },
	{ "quick_sort", quick_sort },	      { "merge_sort", merge_sort },
	{ "heap_sort", heap_sort },	      { "library_sort", library_sort },
};

struct kind {
	const char *name;
	void (*fill)(element_t *array, size_t count);
};

static const struct kind kinds[] = {
	{ "fill_random", fill_random },		{ "fill_sorted", fill_sorted },
	{ "fill_reversed", fill_reversed },	{ "fill_few_values", fill_few_values },
	{ "fill_equal", fill_equal },
};

/* Does not depend on the order: sorting must neither lose nor invent an element. */
traced static uint32_t checksum(const element_t *array, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t word = (uint32_t)array[i] * 0x9e3779b1;

		sum += word ^ word >> 15;
	}
	return sum;
}

/* Return: 1 if all is well. */
traced static int check_sorted(const element_t *array, size_t count, uint32_t sum)
{
	for (size_t i = 1; i < count; i++)
		if (array[i - 1] > array[i])
			return 0;
	return checksum(array, count) == sum;
}

traced static int run(const struct algorithm *algorithm, const struct kind *kind, size_t count)
{
	/* One more on either side shows a write outside. */
	element_t array[COUNT + 2];
	uint32_t sum;

	kind->fill(array + 1, count);
	array[0] = array[count + 1] = 0x5a5a5a5a;
	sum = checksum(array + 1, count);
	algorithm->sort(array + 1, count);
	if (check_sorted(array + 1, count, sum) && array[0] == 0x5a5a5a5a &&
	    array[count + 1] == 0x5a5a5a5a)
		return 0;
	printf("sort: %s of %zu elements after %s is wrong\n", algorithm->name, count, kind->name);
	return 1;
}

struct record {
	char name[9];
	uint8_t age; /* 10 bytes, so that qsort moves elements that are no words */
};

traced static int compare_records(const void *left, const void *right)
{
	const struct record *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : a->age - b->age;
}

/* Records by name and age, then found again with bsearch; and integers downwards. */
traced static int run_records(void)
{
	struct record records[64];
	element_t numbers[64];
	int wrong = 0;

	for (int i = 0; i < 64; i++) {
		snprintf(records[i].name, sizeof(records[i].name), "name%d", i * 37 % 16);
		records[i].age = (uint8_t)(i * 29);
		numbers[i] = i * 37 % 64;
	}
	qsort(records, 64, sizeof(records[0]), compare_records);
	qsort(numbers, 64, sizeof(numbers[0]), compare_descending);
	for (int i = 0; i < 64; i++) {
		struct record key = records[i];

		if (i && compare_records(&records[i - 1], &records[i]) > 0)
			wrong++;
		if (bsearch(&key, records, 64, sizeof(key), compare_records) != &records[i])
			wrong++;
		if (numbers[i] != 63 - i)
			wrong++;
	}
	if (wrong)
		printf("sort: %d records or numbers are not in their places\n", wrong);
	return wrong != 0;
}

int workload(void)
{
	static const size_t counts[] = { 0, 1, 2, 17, COUNT };
	int wrong = 0;

	srand(20);
	for (size_t a = 0; a < ARRAY_SIZE(algorithms); a++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
				wrong += run(&algorithms[a], &kinds[k], counts[c]);
	return wrong + run_records();
}
