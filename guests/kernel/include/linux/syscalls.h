/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SYSCALLS_H
#define _LINUX_SYSCALLS_H

/*
 * System calls. asm/unistd.h has the numbers: __NR_Linux is the lowest (0, or 4000 and 5000 for
 * MIPS' ABIs), NR_syscalls is one more than the highest. The table begins with __NR_Linux.
 */
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/syscall_metadata.h>
#include <linux/types.h>

#include <asm/unistd.h>

struct pt_regs;

typedef long (*sys_call_ptr_t)(unsigned long, unsigned long, unsigned long,
			       unsigned long, unsigned long, unsigned long);

/* Every entry is a function: sys_ni_syscall() where there is no system call. */
extern const sys_call_ptr_t sys_call_table[NR_syscalls - __NR_Linux];

/* The slow path, if traced_syscall(); other system calls only test the flags. */
#ifdef CONFIG_SYSCALL_TRACEPOINTS
#define traced_syscall()	unlikely(READ_ONCE(current->flags) & _TIF_SYSCALL_WORK)
#else
#define traced_syscall()	false
#endif
void syscall_trace_enter(struct pt_regs *regs);
void syscall_trace_leave(struct pt_regs *regs);

/**
 * do_syscall - call the function of a system call, with interrupts enabled; @regs get the result
 */
void do_syscall(struct pt_regs *regs);

/** prepare_return_to_user - reschedule if needed; interrupts are masked when it returns */
void prepare_return_to_user(void);

/** user_exception - end the current thread's program after an exception */
void user_exception(struct pt_regs *regs, const char *what) __noreturn;

#endif
