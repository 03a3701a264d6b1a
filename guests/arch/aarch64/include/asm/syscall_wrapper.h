/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_WRAPPER_H
#define _ASM_SYSCALL_WRAPPER_H

/* The name of a system call's function has this prefix, as in Linux for arm64. */
#define SYSCALL_NAME(name) __arm64_sys_##name

#endif
