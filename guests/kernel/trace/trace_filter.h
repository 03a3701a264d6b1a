/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_FILTER_H
#define _TRACE_FILTER_H

#include "trace_event.h"

/** trace_filter_event - where an event with a filter is made; NULL if it has none */
void *trace_filter_event(u16 type, u32 length);

/** trace_filter_has - whether an event is made there, and not in the ring buffer */
bool trace_filter_has(const void *event);

/** trace_filter_matches - whether the event is to be recorded */
bool trace_filter_matches(const struct trace_entry *event, u32 length);

#endif
