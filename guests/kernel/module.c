// SPDX-License-Identifier: MIT
/*
 * Loading and unloading of modules.
 */
#include <string.h>

#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include <asm/cacheflush.h>

struct module *modules;

/* Also before and after it is loaded: needed while it is patched. */
notrace struct module *__module_text_address(unsigned long address)
{
	struct module *module;

	for (module = modules; module; module = module->next)
		if (within_module(address, module))
			return module;
	return NULL;
}

void *module_memory(struct module *module, unsigned long size)
{
	unsigned long start = ALIGN(module->end, 16);

	if (start > module->limit || size > module->limit - start)
		return NULL;
	module->end = start + size;
	return (void *)start;
}

static bool is_sane(const struct module *module)
{
	unsigned long word = sizeof(long) - 1;

	return module->name && module->text_start < module->text_end &&
	       module->text_end <= module->end && module->end <= module->limit &&
	       !(module->text_start & 3) &&
	       !(((unsigned long)module->mcount_start | (unsigned long)module->mcount_stop) &
		 word) &&
	       module->mcount_start <= module->mcount_stop;
}

static bool collides(const struct module *module)
{
	const struct module *other;

	for (other = modules; other; other = other->next)
		if (other == module || !strcmp(other->name, module->name) ||
		    (module->text_start < other->limit && other->text_start < module->limit))
			return true;
	return false;
}

/* The address of the pointer to it, or NULL if it is not loaded. */
static struct module **find_module(const struct module *module)
{
	struct module **link;

	for (link = &modules; *link; link = &(*link)->next)
		if (*link == module)
			return link;
	return NULL;
}

void __weak module_arch_cleanup(struct module *module)
{
}

static void forget_module(struct module *module)
{
	*find_module(module) = module->next;
	ftrace_release_mod(module);
	module_arch_cleanup(module);
}

struct module_frames {
	const struct module *module;
	bool found;
};

static bool find_frame(void *cookie, unsigned long address)
{
	struct module_frames *frames = cookie;

	frames->found = within_module(address, frames->module);
	return !frames->found;
}

/* Does the graph tracer have a return address in the module, or of one of its functions? */
static bool is_hijacked(const struct thread_info *thread, const struct module *module)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	int i;

	for (i = 0; i <= thread->curr_ret_stack; i++)
		if (within_module(thread->ret_stack[i].func, module) ||
		    within_module(thread->ret_stack[i].ret, module))
			return true;
#endif
	return false;
}

/* The stack of a running thread is checked by the debugger. */
static bool is_returned_to(const struct module *module)
{
	struct module_frames frames = { .module = module };
	struct thread_info *thread;

	for (thread = threads; thread < threads + NR_THREADS && !frames.found; thread++) {
		if (thread->state == TASK_FREE)
			continue;
		if (is_hijacked(thread, module) ||
		    (thread->state != EXIT_ZOMBIE &&
		     within_module((unsigned long)thread->function, module)))
			return true;
		if (!sched_is_running(thread))
			arch_stack_walk(find_frame, &frames, thread, NULL);
	}
	return frames.found;
}

int load_module(struct module *module)
{
	int error;

	if (!is_sane(module))
		return -EINVAL;
	if (collides(module))
		return -EEXIST;
	/* Written by a debugger, without cache maintenance. */
	flush_icache_range(module->text_start, module->text_end);
	error = ftrace_module_init(module);
	if (!error)
		error = ftrace_graph_module_init(module);
	if (error)
		return error;
	module->next = modules;
	barrier();
	WRITE_ONCE(modules, module);
	return 0;
}

int do_init_module(struct module *module)
{
	int error;

	if (!find_module(module))
		return -ENOENT;
	error = module->init ? module->init() : 0;
	if (error)
		forget_module(module);
	return error;
}

int unload_module(struct module *module)
{
	if (!find_module(module))
		return -ENOENT;
	if (is_returned_to(module))
		return -EBUSY;
	if (module->exit)
		module->exit();
	forget_module(module);
	return 0;
}

long run_modules(long argument)
{
	struct module *module;
	long sum = 0;

	for (module = modules; module; module = module->next)
		if (module->run)
			sum += module->run(argument);
	return sum;
}
