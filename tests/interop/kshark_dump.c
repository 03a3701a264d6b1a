// SPDX-License-Identifier: MIT
/*
 * Prints the entries of a trace file as KernelShark sees them, one a line:
 * CPU, time in nanoseconds, process id, task, event, text.  KernelShark
 * without its window: the judge of whether it could show the file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libkshark.h"

static void print_entry(const struct kshark_entry *entry)
{
	char *task = kshark_get_task(entry);
	char *event = kshark_get_event_name(entry);
	char *info = kshark_get_info(entry);

	printf("%d %lld %d %s %s %s\n", entry->cpu, (long long)entry->ts,
	       kshark_get_pid(entry), task ? task : "?", event ? event : "?",
	       info ? info : "?");
	free(task);
	free(event);
	free(info);
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t count, i;
	int stream;

	if (argc != 2 || !kshark_instance(&context))
		return 2;
	stream = kshark_open(context, argv[1]);
	if (stream < 0)
		return 1;
	count = kshark_load_entries(context, stream, &entries);
	if (count < 0)
		return 1;
	for (i = 0; i < count; i++) {
		print_entry(entries[i]);
		free(entries[i]);
	}
	free(entries);
	kshark_close(context, stream);
	kshark_free(context);
	return 0;
}
