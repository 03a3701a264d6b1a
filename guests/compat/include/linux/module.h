/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MODULE_H
#define _COMPAT_LINUX_MODULE_H

#include_next <linux/module.h>

#include <linux/align.h>
#include <linux/init.h>
#include <linux/preempt.h>
#include <linux/ratelimit.h>

/* There is no separate section for initialisation code. */
enum mod_mem_type {
	MOD_TEXT,
	MOD_INIT_TEXT,
};

static inline bool within_module_mem_type(unsigned long address, const struct module *module,
					  enum mod_mem_type type)
{
	return type == MOD_TEXT && address >= module->text_start && address < module->text_end;
}

#endif
