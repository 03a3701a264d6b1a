// SPDX-License-Identifier: MIT
/*
 * Tracers that save the arguments of the port's stub, and change them for a debugger.
 */
#include <linux/ftrace_selftest.h>

#ifdef FTRACE_WITH_OPS

#define SELFTEST(n)	[n] = {						\
		.ops = {						\
			.func = ftrace_selftest_func,			\
			.functions = &ftrace_selftests[n].function,	\
			.private = &ftrace_selftests[n],		\
		},							\
	}

struct ftrace_selftest ftrace_selftests[FTRACE_SELFTESTS] = {
	SELFTEST(0), SELFTEST(1), SELFTEST(2),
};

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
struct ftrace_selftest ftrace_direct_selftest = {
	.ops.functions = &ftrace_direct_selftest.function,
};

unsigned long ftrace_direct_calls;
unsigned long ftrace_other_direct_calls;
#endif

/* No accessor sets an argument; find the word that ftrace_regs_get_argument() reads. */
static void set_argument(struct ftrace_regs *fregs, unsigned int number, unsigned long value)
{
	volatile unsigned long *words = (unsigned long *)fregs;
	unsigned long i, old;

	for (i = 0; i < sizeof(*fregs) / sizeof(*words); i++) {
		old = words[i];
		words[i] = value;
		barrier();
		if (ftrace_regs_get_argument(fregs, number) == value)
			return;
		words[i] = old;
	}
}

static void act(const struct ftrace_selftest *test, struct ftrace_regs *fregs)
{
	switch (test->action) {
	case SELFTEST_SET_INSTRUCTION_POINTER:
		ftrace_regs_set_instruction_pointer(fregs, test->value);
		break;
	case SELFTEST_SET_ARGUMENT:
		set_argument(fregs, test->number, test->value);
		break;
	case SELFTEST_RETURN:
		ftrace_regs_set_return_value(fregs, test->value);
		ftrace_override_function_with_return(fregs);
		break;
	}
}

void ftrace_selftest_func(FTRACE_PARAMETERS)
{
	struct ftrace_selftest *test = ftrace_selftests;
	unsigned int i;

	/* The first one if op is none of them: the saved op shows that. */
	for (i = 0; i < FTRACE_SELFTESTS; i++)
		if (op == &ftrace_selftests[i].ops)
			test = op->private;
	test->calls++;
	test->ip = ip;
	test->parent_ip = parent_ip;
	test->op = (unsigned long)op;
	test->instruction_pointer = ftrace_regs_get_instruction_pointer(fregs);
	test->stack_pointer = ftrace_regs_get_stack_pointer(fregs);
	test->frame_pointer = ftrace_regs_get_frame_pointer(fregs);
#ifdef NO_FTRACE_REGS_GET_RETURN_ADDRESS
	test->return_address = parent_ip;
#else
	test->return_address = ftrace_regs_get_return_address(fregs);
#endif
	test->return_value = ftrace_regs_get_return_value(fregs);
	test->regs = (unsigned long)ftrace_get_regs(fregs);
	for (i = 0; i < FTRACE_SELFTEST_ARGUMENTS; i++)
		test->arguments[i] = ftrace_regs_get_argument(fregs, i);
	act(test, fregs);
}

#endif
