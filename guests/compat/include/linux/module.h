/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MODULE_H
#define _COMPAT_LINUX_MODULE_H

#include_next <linux/module.h>

#include <linux/init.h>
#include <linux/preempt.h>

#endif
