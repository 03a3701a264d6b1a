// SPDX-License-Identifier: MIT
/*
 * Filters of events: an event with one is made beside the ring buffer, and written only if its
 * fields match. So a rejected event takes neither room nor time of the trace.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/trace_filter.h>

#include "trace_filter.h"

/* Written by a debugger while the kernel is stopped. */
#define control	trace_filter_control

struct trace_filter_control trace_filter_control;

/* One for each CPU is enough: interrupts are disabled, and NMIs have no events with filters. */
static u8 events[NR_CPUS][RB_MAX_LENGTH] __aligned(8);

static const struct trace_event_filter *find_filter(u16 type)
{
	u32 i;

	for (i = 0; i < control.nr_filters && i < TRACE_MAX_FILTERS; i++)
		if (control.filters[i].type == type)
			return &control.filters[i];
	return NULL;
}

void *trace_filter_event(u16 type, u32 length)
{
	return length <= RB_MAX_LENGTH && find_filter(type) ? events[current->cpu] : NULL;
}

bool trace_filter_has(const void *event)
{
	return event == events[current->cpu];
}

static bool is_in_class(const char **pattern, char c)
{
	const char *p = *pattern + 1;
	bool inverted = *p == '!', found = false;

	p += inverted;
	do {
		char low = *p, high = *p;

		if (!*p) {
			/* No class after all: the bracket itself. */
			return c == '[';
		}
		if (p[1] == '-' && p[2] && p[2] != ']')
			high = *(p += 2);
		found |= low <= c && c <= high;
	} while (*++p != ']');
	*pattern = p;
	return found != inverted;
}

/* A text of at most @size bytes and a pattern with *, ? and [a-z] or [!a-z]. */
static bool glob_match(const char *pattern, const char *text, u32 size)
{
	const char *retry = NULL, *end = text + size, *from = text;

	while (text < end && *text) {
		const char *p = pattern;

		if (*pattern == '*') {
			retry = ++pattern;
			from = text;
		} else if (*p == '?' || (*p == '[' ? is_in_class(&p, *text) : *p == *text)) {
			pattern = p + 1;
			text++;
		} else if (retry) {
			pattern = retry;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_equal(const char *wanted, const char *text, u32 size)
{
	u32 i;

	for (i = 0; i < size && text[i]; i++)
		if (text[i] != wanted[i])
			return false;
	return !wanted[i];
}

static bool text_matches(const struct trace_predicate *predicate, const char *text, u32 size)
{
	u64 start = predicate->value;
	const char *wanted = (const char *)control.texts + start;

	/* The last byte of the texts is a NUL. */
	if (start >= TRACE_FILTER_TEXTS || control.texts[TRACE_FILTER_TEXTS - 1])
		return false;
	if (predicate->operation == FILTER_GLOB)
		return glob_match(wanted, text, size);
	return is_equal(wanted, text, size) == (predicate->operation == FILTER_EQ);
}

static u64 load(const u8 *field, u32 size)
{
	u16 two;
	u32 four;
	u64 eight;

	switch (size) {
	case 1:
		return *field;
	case 2:
		memcpy(&two, field, sizeof(two));
		return two;
	case 4:
		memcpy(&four, field, sizeof(four));
		return four;
	default:
		memcpy(&eight, field, sizeof(eight));
		return eight;
	}
}

static bool number_matches(const struct trace_predicate *predicate, u64 left, u32 size)
{
	u64 right = predicate->value;
	/* Shifted to the top, so that bit 63 is the sign for every size. */
	u32 shift = 64 - 8 * size;
	bool less = predicate->kind == FILTER_SIGNED ?
			    (s64)(left << shift) < (s64)(right << shift) :
			    left < right;

	switch (predicate->operation) {
	case FILTER_EQ:
		return left == right;
	case FILTER_NE:
		return left != right;
	case FILTER_LT:
		return less;
	case FILTER_LE:
		return less || left == right;
	case FILTER_GT:
		return !less && left != right;
	case FILTER_GE:
		return !less;
	default:
		return left & right;
	}
}

static bool predicate_matches(const struct trace_predicate *predicate, const u8 *event, u32 length)
{
	u32 offset = predicate->offset, size = predicate->size;

	if (predicate->kind == FILTER_COMM)
		return text_matches(predicate, current->comm, sizeof(current->comm));
	if (predicate->kind == FILTER_CPU)
		return number_matches(predicate, current->cpu, sizeof(u32));
	if (offset > length || size > length - offset)
		return false;
	if (predicate->kind == FILTER_STRING)
		return text_matches(predicate, (const char *)event + offset, size);
	return size && size <= sizeof(u64) &&
	       number_matches(predicate, load(event + offset, size), size);
}

bool trace_filter_matches(const struct trace_entry *event, u32 length)
{
	const struct trace_event_filter *filter = find_filter(event->context >> TRACE_TYPE_SHIFT);
	u32 next = 0, i;

	if (!filter || filter->first > TRACE_MAX_PREDICATES ||
	    filter->count > TRACE_MAX_PREDICATES - filter->first)
		return true;
	/* Each is behind the one before it, so the loop ends. */
	for (i = next; i < filter->count; i = next) {
		const struct trace_predicate *predicate = &control.predicates[filter->first + i];

		next = predicate_matches(predicate, (const u8 *)event, length) ?
		       predicate->on_true : predicate->on_false;
		if (next <= i)
			return false;
	}
	return next == FILTER_ACCEPT;
}
