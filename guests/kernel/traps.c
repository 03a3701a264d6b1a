// SPDX-License-Identifier: MIT
/*
 * The report of a fatal exception. No call sites here, so that it works inside the tracer.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/traps.h>

#include <asm/ptrace.h>

#define STACK_WORDS	16
#define CODE_WORDS	8		/* half of them before the pc */

extern const char _text[], _end[];

notrace void console_register(const char *name, unsigned long value, bool last)
{
	const char *c = name;

	console_puts(name);
	while (*c)
		c++;
	while (c++ < name + 9)
		console_puts(" ");
	console_hex(value);
	console_puts(last ? "\n" : "  ");
}

/* Only valid addresses: a fault here would end the report. */
static notrace bool readable(unsigned long address, unsigned long size)
{
	return address >= (unsigned long)_text && address < (unsigned long)_end &&
	       size <= (unsigned long)_end - address;
}

static notrace void print_stack(unsigned long sp)
{
	const unsigned long *word = (const unsigned long *)(sp & -sizeof(long));
	int i;

	console_puts("stack at ");
	console_hex(sp);
	if (!readable((unsigned long)word, STACK_WORDS * sizeof(long))) {
		console_puts(": not in the kernel's memory\n");
		return;
	}
	for (i = 0; i < STACK_WORDS; i++) {
		console_puts(i % 4 ? "  " : "\n  ");
		console_hex(word[i]);
	}
	console_puts("\n");
}

static notrace void print_code(unsigned long pc)
{
	const u32 *word = (const u32 *)(pc & ~3ul) - CODE_WORDS / 2;
	int i;

	if (!readable((unsigned long)word, CODE_WORDS * sizeof(u32))) {
		console_puts("code: not in the kernel's memory\n");
		return;
	}
	for (i = 0; i < CODE_WORDS; i++, word++) {
		console_puts("code ");
		console_hex((unsigned long)word);
		console_puts(": ");
		console_digits(*word, 8);
		console_puts((unsigned long)word == pc ? " <-- pc\n" : "\n");
	}
}

notrace void oops_enter(const char *reason, const struct pt_regs *regs)
{
	static bool reporting;

	console_puts("\nUnhandled exception: ");
	console_puts(reason);
	console_puts(" at ");
	console_hex(instruction_pointer(regs));
	console_puts("\n");
	/* A fault in the report itself, or in panic(). */
	if (reporting)
		panic_plain("exception within an exception");
	reporting = true;
}

notrace void die(const char *reason, const struct pt_regs *regs)
{
	print_stack(kernel_stack_pointer(regs));
	print_code(instruction_pointer(regs));
	panic_plain(reason);
}
