// SPDX-License-Identifier: MIT
/*
 * The first process of the small Linux kernels: one static program, without a library.
 *
 * It mounts proc, sysfs and tracefs, and then does what the word "do" of the kernel command line
 * says, which the kernel hands to it as a variable of the environment: steps with commas between
 * them, each a verb that may have a value after a colon.
 *
 *	work[:N]	N rounds of system calls; without N for ever
 *	dump		tracing_on off, then the file trace between two lines that mark it
 *	tracer:NAME	current_tracer
 *	tracing:0|1	tracing_on
 *	load:NAME	insert the module /NAME.ko
 *	panic		sysrq-c
 *	poweroff	reset the machine, which ends QEMU
 *
 * Without "do" it works for ever.
 */

#include "syscall.h"

#define TRACING "/sys/kernel/tracing/"

enum { O_RDONLY, O_WRONLY };

enum { AT_FDCWD = -100 };

static char buffer[4096];

static unsigned long length(const char *text)
{
	unsigned long n = 0;

	while (text[n])
		n++;
	return n;
}

static void say(const char *text)
{
	syscall5(NR_write, 1, (long)text, length(text), 0, 0);
}

static int opened(const char *path, int flags)
{
	return syscall5(NR_openat, AT_FDCWD, (long)path, flags, 0, 0);
}

static void write_file(const char *path, const char *text)
{
	int file = opened(path, O_WRONLY);
	long done = file;

	if (file >= 0) {
		done = syscall5(NR_write, file, (long)text, length(text), 0, 0);
		syscall5(NR_close, file, 0, 0, 0, 0);
	}
	if (done < 0) {
		say("init: cannot write ");
		say(path);
		say("\n");
	}
}

static void show_file(const char *path)
{
	int file = opened(path, O_RDONLY);
	long n;

	while ((n = syscall5(NR_read, file, (long)buffer, sizeof(buffer), 0, 0)) > 0)
		syscall5(NR_write, 1, (long)buffer, n, 0, 0);
	syscall5(NR_close, file, 0, 0, 0, 0);
}

static void mount(const char *type, const char *where)
{
	syscall5(NR_mount, (long)type, (long)where, (long)type, 0, 0);
}

static void work(unsigned long rounds)
{
	unsigned long i;
	int file;

	for (i = 0; !rounds || i < rounds; i++) {
		syscall5(NR_getppid, 0, 0, 0, 0, 0);
		file = opened("/proc/version", O_RDONLY);
		syscall5(NR_read, file, (long)buffer, sizeof(buffer), 0, 0);
		syscall5(NR_close, file, 0, 0, 0, 0);
	}
}

static void dump(void)
{
	write_file(TRACING "tracing_on", "0");
	say("init: trace begins\n");
	show_file(TRACING "trace");
	say("init: trace ends\n");
}

static void load(const char *name)
{
	static char path[256] = "/";
	static const char suffix[] = ".ko";
	unsigned long i, n = 1;
	int file;

	for (i = 0; name[i] && n < sizeof(path) - sizeof(suffix); i++)
		path[n++] = name[i];
	for (i = 0; i < sizeof(suffix); i++)
		path[n++] = suffix[i];
	file = opened(path, O_RDONLY);
	if (syscall5(NR_finit_module, file, (long)"", 0, 0, 0) < 0)
		say("init: cannot load the module\n");
}

static int is(const char *word, const char *other)
{
	while (*word && *word == *other)
		word++, other++;
	return *word == *other;
}

static unsigned long number(const char *digits)
{
	unsigned long value = 0;

	while (*digits >= '0' && *digits <= '9')
		value = value * 10 + (*digits++ - '0');
	return value;
}

static void step(const char *verb, const char *value)
{
	if (is(verb, "work"))
		work(number(value));
	else if (is(verb, "dump"))
		dump();
	else if (is(verb, "tracer"))
		write_file(TRACING "current_tracer", value);
	else if (is(verb, "tracing"))
		write_file(TRACING "tracing_on", value);
	else if (is(verb, "load"))
		load(value);
	else if (is(verb, "panic"))
		write_file("/proc/sysrq-trigger", "c");
	else if (is(verb, "poweroff"))
		syscall5(NR_reboot, 0xfee1deadL, 0x28121969, 0x01234567, 0, 0);
	else
		say("init: there is no such step\n");
}

/* The stack as the kernel leaves it: argc, argv and NULL, environment and NULL. */
__attribute__((used)) void init_main(char **stack)
{
	static char none[] = "work";
	char **environment = stack + (long)stack[0] + 2;
	char *steps = none, *next, *value;

	mount("proc", "/proc");
	mount("sysfs", "/sys");
	mount("tracefs", "/sys/kernel/tracing");
	for (; *environment; environment++)
		if ((*environment)[0] == 'd' && (*environment)[1] == 'o' &&
		    (*environment)[2] == '=')
			steps = *environment + 3;
	say("init: ready\n");
	for (; *steps; steps = next) {
		value = "";
		for (next = steps; *next && *next != ','; next++)
			if (*next == ':') {
				*next = 0;
				value = next + 1;
			}
		if (*next)
			*next++ = 0;
		step(steps, value);
	}
	say("init: done\n");
	work(0);
}
