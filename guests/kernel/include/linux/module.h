/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

/*
 * Code that is not in vmlinux: linked against it at an address of its own and put there by a
 * debugger while the kernel is stopped, which then calls load_module() and do_init_module().
 *
 * A module is one C file with any of module_init(), module_exit() and module_run().
 */
#include <linux/compiler.h>
#include <linux/types.h>

struct dyn_ftrace;

/* struct mod_arch_specific, what the arch's port keeps of a module */
#include <asm/module.h>

/**
 * struct module - what the kernel knows of a module
 * @next:		the module that was loaded before this one
 * @name:		its source's name
 * @text_start:		its text,
 * @text_end:		and where that ends
 * @end:		where all of it ends, what the kernel keeps behind it included
 * @init:		called by do_init_module(); not 0: it does not want to be loaded
 * @exit:		called before it is unloaded
 * @mcount_start:	its table of call sites, as the build wrote it,
 * @mcount_stop:	and where that ends
 * @ftrace_records:	its call sites; NULL in static ports
 * @ftrace_record_count: how many they are
 * @limit:		the end of the memory that is the module's
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

/* The modules that are loaded, the newest first. */
extern struct module *modules;

/**
 * load_module - make a module whose bytes are in place a part of the kernel
 * @module:	its __this_module
 *
 * Its call sites get records and are switched off; do_init_module() is what comes next. No memory is
 * allocated and no lock is taken, so that a debugger may call this wherever it has stopped a CPU.
 *
 * Return: 0; -EEXIST if it, or one of its name or in its place, is loaded; -EINVAL if what it says
 * of itself cannot be; -ENOMEM if there is no room behind it; or an error of the port's. Whatever
 * failed, its bytes have to be put there again.
 */
int load_module(struct module *module);

/**
 * do_init_module - call the init function of a module that has been loaded
 * @module:	its __this_module
 *
 * Between the two calls its call sites can be switched on, for its init function to be traced.
 *
 * Return: what init returned, and unless that is 0 the module is not loaded any more; or -ENOENT if
 * it was not.
 */
int do_init_module(struct module *module);

/**
 * unload_module - call a module's exit function and forget it and its call sites
 * @module:	its __this_module
 *
 * Whoever calls this makes sure that no CPU is in the module or is going to return to it, as far as
 * the graph tracer does not know that; of threads that do not run the kernel knows.
 *
 * Return: 0; -ENOENT if it is not loaded; -EBUSY if a thread has yet to return to it.
 */
int unload_module(struct module *module);

/** run_modules - call the run function of every module, and add up what they return */
long run_modules(long argument);

/** module_memory - take memory behind a module that is being loaded; NULL if there is no room */
void *module_memory(struct module *module, unsigned long size);

/** __module_text_address - the module whose text an address lies in; NULL if there is none */
struct module *__module_text_address(unsigned long address);

static __always_inline bool within_module(unsigned long address, const struct module *module)
{
	return address - module->text_start < module->text_end - module->text_start;
}

#ifdef MODULE
#define module_init(function)	int init_module(void) __attribute__((weak, alias(#function)))
#define module_exit(function)	void cleanup_module(void) __attribute__((weak, alias(#function)))
#define module_run(function)	long run_module(long argument) __attribute__((weak, alias(#function)))
#endif

#endif
