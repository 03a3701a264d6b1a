/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

/* A function that the tracer may call must not have a call site. */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define notrace		__attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#else
#define notrace		__attribute__((no_instrument_function))
#endif

#define noinline	__attribute__((noipa))

/*
 * A function with a debugger's permanent breakpoint. It has a page of its own, because QEMU
 * single-steps all code in a page with a breakpoint.
 */
#define __breakpoint	notrace noinline __attribute__((section(".breakpoint.text")))

#define __always_inline	inline __attribute__((always_inline))
#define __noreturn	__attribute__((noreturn))
#define __weak		__attribute__((weak))
#define __used		__attribute__((used))
#define __packed	__attribute__((packed))
#define __aligned(n)	__attribute__((aligned(n)))
#define __section(name)	__attribute__((section(name)))
#define __printf(text, arguments)	__attribute__((format(printf, text, arguments)))

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define barrier()	__asm__ volatile("" : : : "memory")

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#endif
