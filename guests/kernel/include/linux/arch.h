/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_ARCH_H
#define _LINUX_ARCH_H

/*
 * What guests/arch/<arch>/ provides to the neutral kernel, besides the headers
 *
 *	asm/irqflags.h	see linux/irqflags.h		asm/current.h	`current`
 *	asm/timer.h	u64 sched_clock(void)		asm/ptrace.h	struct pt_regs
 *	asm/processor.h	cpu_relax(), arch_idle()	asm/cacheflush.h flush_icache_range()
 *	asm/setjmp.h	jmp_buf				asm/io.h	device registers
 *	asm/thread.h	struct thread_struct		asm/unistd.h	numbers of system calls
 *	asm/user.h	USER_BASE, USER_SIZE		asm/syscall.h	syscall_get_nr() and so on
 *	asm/unwind.h	see linux/unwind.h
 *
 * and setjmp(), longjmp() and vmlinux.lds.S. Nothing there has call sites. For user mode,
 * user/syscall.S has user_syscall(): see guests/user/user.h.
 *
 * sched_clock() returns nanoseconds, monotonic across CPUs; it is called with interrupts disabled.
 * arch_idle() sleeps until the next interrupt. asm/ptrace.h also has instruction_pointer(regs),
 * kernel_stack_pointer(regs) and user_mode(regs); struct thread_struct has at least the members
 * unsigned long pc, to which __switch_to() jumps, and unsigned long sp.
 *
 * Vectors call the functions of linux/irq.h, linux/traps.h and, from user mode, linux/syscalls.h.
 */
#include <linux/sched.h>

/* head.S ends here: stack ready, .bss zero, `current` is &init_thread, interrupts masked. */
void start_kernel(void) __attribute__((noreturn));

/* Write one byte to the console. Polled, works in any state. */
void arch_console_putc(char c);

/* From here on every exception prints "Unhandled exception: ...", a dump and panics. */
void arch_trap_init(void);

/* From here on sched_clock() works. */
void arch_timer_init(void);

/* --- Threads, with interrupts masked; for assembly THREAD_CONTEXT is where struct thread_info has
 * its struct thread_struct --- */

/**
 * arch_thread_init - prepare the first __switch_to() to a thread
 * @thread:	its struct thread_struct is initialised
 * @stack_end:	the end of its stack, aligned to 16 bytes
 * @entry:	where it begins, on that stack and without a caller
 */
void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void));

/**
 * __switch_to - save the registers of one thread, load those of the other, which becomes current
 *
 * Callee-saved registers, and all floating-point registers.
 *
 * Return: the previous thread; @prev of the new thread's own call is out of date.
 */
struct thread_info *__switch_to(struct thread_info *prev, struct thread_info *next);

/* --- Interrupts: see irq.h --- */

/* This CPU's interrupts: all sources enabled, but still masked in the CPU. */
void arch_irq_init(void);

/* Find the source of an interrupt, and call its function of irq.h. */
void arch_handle_irq(void);

/* This CPU's timer: calls tick_interrupt() at about @hz until stopped or restarted. */
void arch_timer_start(u32 hz);
void arch_timer_stop(void);

/* --- Several CPUs: see smp.h --- */

/* Start a CPU in secondary_start_kernel(), with @idle as current. 0, or a negative error. */
int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end);

/* smp_ipi_interrupt() on that CPU. */
void arch_send_ipi(unsigned int cpu);

/* --- User mode: see syscalls.h --- */

/* Map the programs at __user_start to USER_BASE on this CPU; writable from __user_text_end on. */
void arch_user_init(void);

/* Enter user mode with interrupts enabled; the kernel is entered again on current->stack_end. */
void arch_enter_user(unsigned long entry, unsigned long sp) __noreturn;

#endif
