/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

/*
 * Code outside of vmlinux, linked against it at its own address. A debugger writes it to memory
 * while the kernel is stopped, and calls load_module() and do_init_module().
 *
 * A module is one C file with any of module_init(), module_exit() and module_run().
 */
#include <linux/compiler.h>
#include <linux/types.h>

struct dyn_ftrace;

/* struct mod_arch_specific, what the arch's port keeps of a module */
#include <asm/module.h>

/**
 * struct module - a module
 * @next:		the module loaded before this one
 * @name:		name of its source file
 * @text_start:		its text,
 * @text_end:		and where that ends
 * @end:		its end, including the kernel's data behind it
 * @init:		called by do_init_module(); not 0: it is not loaded
 * @exit:		called before it is unloaded
 * @mcount_start:	its table of call sites, as the build wrote it,
 * @mcount_stop:	and where that ends
 * @ftrace_records:	its call sites; NULL in static ports
 * @ftrace_record_count: their number
 * @limit:		end of the module's memory
 * @run:		called by run_modules()
 * @eh_frame_hdr:	its tables for walking stacks (linux/unwind.h), the sorted one first,
 * @eh_frame_end:	and where they end
 * @arch:		the port's own
 *
 * Functions that the module does not have are NULL.
 */
struct module {
	struct module *next;
	const char *name;
	unsigned long text_start;
	unsigned long text_end;
	unsigned long end;
	int (*init)(void);
	void (*exit)(void);
	const unsigned long *mcount_start;
	const unsigned long *mcount_stop;
	struct dyn_ftrace *ftrace_records;
	unsigned long ftrace_record_count;
	unsigned long limit;
	long (*run)(long argument);
	const unsigned char *eh_frame_hdr;
	const unsigned char *eh_frame_end;
	struct mod_arch_specific arch;
};

/* The loaded modules, newest first. */
extern struct module *modules;

/**
 * load_module - register a module that was written to memory
 * @module:	its __this_module
 *
 * Its call sites get records and are disabled; call do_init_module() next. No memory is allocated
 * and no lock is taken, so that a debugger may call this at any stop.
 *
 * Return: 0; -EEXIST if it, its name or its address is in use; -EINVAL if it is invalid; -ENOMEM if
 * there is no room behind it; or an error of the port. After an error it has to be written to
 * memory again.
 */
int load_module(struct module *module);

/**
 * do_init_module - call the init function of a module that has been loaded
 * @module:	its __this_module
 *
 * Between the two calls its call sites can be enabled, to trace its init function.
 *
 * Return: the result of init; if not 0, the module is unloaded. -ENOENT if it was not loaded.
 */
int do_init_module(struct module *module);

/**
 * unload_module - call a module's exit function and remove it with its call sites
 * @module:	its __this_module
 *
 * The caller ensures that no CPU executes the module or will return to it. The kernel checks the
 * graph tracer's return addresses, and threads that do not run.
 *
 * Return: 0; -ENOENT if it is not loaded; -EBUSY if a thread will return to it.
 */
int unload_module(struct module *module);

/** module_arch_cleanup - an arch forgets what it keeps of a module's text; no CPU executes that */
void module_arch_cleanup(struct module *module);

/** run_modules - call the run function of every module, and add up the results */
long run_modules(long argument);

/** module_memory - allocate memory behind a module that is being loaded; NULL if there is none */
void *module_memory(struct module *module, unsigned long size);

/** __module_text_address - the module with this address in its text; NULL if there is none */
struct module *__module_text_address(unsigned long address);

static __always_inline bool within_module(unsigned long address, const struct module *module)
{
	return address - module->text_start < module->text_end - module->text_start;
}

#ifdef MODULE
#define module_init(function)	int init_module(void) __attribute__((weak, alias(#function)))
#define module_exit(function)	void cleanup_module(void) __attribute__((weak, alias(#function)))
#define module_run(function)	\
	long run_module(long argument) __attribute__((weak, alias(#function)))
#endif

#endif
