/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SYSCALL_METADATA_H
#define _LINUX_SYSCALL_METADATA_H

/*
 * SYSCALL_DEFINEn(name, type, argument, ...) begins the definition of a system call and
 * its metadata for trace events. The function in the system call table takes six longs and has the
 * arch's name; the other one takes the arguments with their types.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#if __has_include(<asm/syscall_wrapper.h>)
#include <asm/syscall_wrapper.h>
#endif
#ifndef SYSCALL_NAME
#define SYSCALL_NAME(name) sys_##name
#endif

/**
 * struct syscall_metadata - a system call
 * @name:	sys_NAME, whatever the name of the function in the table
 * @symbol:	the name of that function: this kernel has no kallsyms
 * @arguments:	their types and names, as in a declaration; "" if there are none
 * @nr:		its number; -1 until trace_event_init() finds it in the table
 * @nr_arguments: their number
 * @function:	address of that function
 *
 * Strings are stored in place, so that a debugger needs one read.
 */
struct syscall_metadata {
	char name[32];
	char symbol[40];
	char arguments[160];
	s32 nr;
	u32 nr_arguments;
	unsigned long function;
} __aligned(8);

#define SYSCALL_TEXT(x)		SYSCALL_TEXT_(x)
#define SYSCALL_TEXT_(x)	#x

/* SYSCALL_MAPn(m, type, name, ...): m(type, name), ... */
#define SYSCALL_MAP0(m, ...)
#define SYSCALL_MAP1(m, t, a, ...)	m(t, a)
#define SYSCALL_MAP2(m, t, a, ...)	m(t, a), SYSCALL_MAP1(m, __VA_ARGS__)
#define SYSCALL_MAP3(m, t, a, ...)	m(t, a), SYSCALL_MAP2(m, __VA_ARGS__)
#define SYSCALL_MAP4(m, t, a, ...)	m(t, a), SYSCALL_MAP3(m, __VA_ARGS__)
#define SYSCALL_MAP5(m, t, a, ...)	m(t, a), SYSCALL_MAP4(m, __VA_ARGS__)
#define SYSCALL_MAP6(m, t, a, ...)	m(t, a), SYSCALL_MAP5(m, __VA_ARGS__)

#define SYSCALL_DECLARE(type, name)	type name
#define SYSCALL_CAST(type, name)	(type)name
#define SYSCALL_LONG(type, name)	unsigned long name

/* The six longs of the function in the table. Unnamed ones are not used. */
#define SYSCALL_REST0	unsigned long _1, unsigned long _2, unsigned long _3, \
			unsigned long _4, unsigned long _5, unsigned long _6
#define SYSCALL_REST1	, unsigned long _2, unsigned long _3, unsigned long _4, \
			unsigned long _5, unsigned long _6
#define SYSCALL_REST2	, unsigned long _3, unsigned long _4, unsigned long _5, unsigned long _6
#define SYSCALL_REST3	, unsigned long _4, unsigned long _5, unsigned long _6
#define SYSCALL_REST4	, unsigned long _5, unsigned long _6
#define SYSCALL_REST5	, unsigned long _6
#define SYSCALL_REST6

#define SYSCALL_DEFINE(n, name_, ...)							\
	long SYSCALL_NAME(name_)(SYSCALL_MAP##n(SYSCALL_LONG, __VA_ARGS__) SYSCALL_REST##n); \
	static inline long do_sys_##name_(SYSCALL_ARGUMENTS##n(__VA_ARGS__));		\
	static struct syscall_metadata syscall_metadata_##name_				\
	__used __aligned(__alignof__(struct syscall_metadata))				\
	__section(".syscalls_metadata") = {						\
		.name = "sys_" #name_,							\
		.symbol = SYSCALL_TEXT(SYSCALL_NAME(name_)),				\
		.arguments = SYSCALL_TEXT((SYSCALL_MAP##n(SYSCALL_DECLARE, __VA_ARGS__))), \
		.function = (unsigned long)SYSCALL_NAME(name_),				\
		.nr = -1,								\
		.nr_arguments = n,							\
	};										\
	long SYSCALL_NAME(name_)(SYSCALL_MAP##n(SYSCALL_LONG, __VA_ARGS__) SYSCALL_REST##n) \
	{										\
		return do_sys_##name_(SYSCALL_MAP##n(SYSCALL_CAST, __VA_ARGS__));	\
	}										\
	static inline long do_sys_##name_(SYSCALL_ARGUMENTS##n(__VA_ARGS__))

#define SYSCALL_ARGUMENTS0(...)	void
#define SYSCALL_ARGUMENTS1(...)	SYSCALL_MAP1(SYSCALL_DECLARE, __VA_ARGS__)
#define SYSCALL_ARGUMENTS2(...)	SYSCALL_MAP2(SYSCALL_DECLARE, __VA_ARGS__)
#define SYSCALL_ARGUMENTS3(...)	SYSCALL_MAP3(SYSCALL_DECLARE, __VA_ARGS__)
#define SYSCALL_ARGUMENTS4(...)	SYSCALL_MAP4(SYSCALL_DECLARE, __VA_ARGS__)
#define SYSCALL_ARGUMENTS5(...)	SYSCALL_MAP5(SYSCALL_DECLARE, __VA_ARGS__)
#define SYSCALL_ARGUMENTS6(...)	SYSCALL_MAP6(SYSCALL_DECLARE, __VA_ARGS__)

#define SYSCALL_DEFINE0(name)		SYSCALL_DEFINE(0, name)
#define SYSCALL_DEFINE1(name, ...)	SYSCALL_DEFINE(1, name, __VA_ARGS__)
#define SYSCALL_DEFINE2(name, ...)	SYSCALL_DEFINE(2, name, __VA_ARGS__)
#define SYSCALL_DEFINE3(name, ...)	SYSCALL_DEFINE(3, name, __VA_ARGS__)
#define SYSCALL_DEFINE4(name, ...)	SYSCALL_DEFINE(4, name, __VA_ARGS__)
#define SYSCALL_DEFINE5(name, ...)	SYSCALL_DEFINE(5, name, __VA_ARGS__)
#define SYSCALL_DEFINE6(name, ...)	SYSCALL_DEFINE(6, name, __VA_ARGS__)

#endif
