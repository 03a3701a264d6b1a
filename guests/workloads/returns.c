// SPDX-License-Identifier: MIT
/*
 * State that a tracer of returns could damage: results and arguments in all locations of the ABI,
 * and frames of every kind.
 *
 * Each check makes calls with known results. workload() returns the number of the first
 * check that failed, counted from 1 in the order of the table at the end; 0 if all is well.
 *
 * It needs no functions of gcc's run-time library, which not every guest has: long doubles and
 * complex numbers are moved, without arithmetic.
 *
 * NO_NESTED_FUNCTIONS, NO_FLOATING_POINT and FRAME_WARN (the largest frame in bytes) leave out what
 * the port's kernel does not have (docs/kernel-words.rst).
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Always a function of its own, and every call to it stays: nothing is known about its body. */
#define traced __attribute__((noipa))

/* What is done with value is done after the call that gave it: no tail call, no loop instead. */
#define keep(value) __asm__ volatile("" : "+r"(value))

/* --- Results ------------------------------------------------------------------------------- */

/* A function that returns a value of the type, and one that checks it: the first `bytes` of it. */
#define RETURNS_BYTES(name, type, bytes, ...)					\
	static type name##_value = __VA_ARGS__;					\
	traced type return_##name(void)						\
	{									\
		return name##_value;						\
	}									\
	traced bool check_return_##name(void)					\
	{									\
		type result = return_##name();					\
										\
		return !memcmp(&result, &name##_value, bytes);			\
	}
#define RETURNS(name, type, ...) RETURNS_BYTES(name, type, sizeof(type), __VA_ARGS__)

/* The whole register is compared: a caller may rely on the ABI's sign or zero extension. */
#define RETURNS_INTEGER(name, type, value)					\
	static type name##_value = value;					\
	traced type return_##name(void)						\
	{									\
		return name##_value;						\
	}									\
	traced bool check_return_##name(void)					\
	{									\
		long long result = return_##name();				\
										\
		return result == (long long)(value);				\
	}

RETURNS_INTEGER(bool, bool, true)
RETURNS_INTEGER(char, char, 'x')
RETURNS_INTEGER(s8, int8_t, -0x12)
RETURNS_INTEGER(u8, uint8_t, 0xf2)
RETURNS_INTEGER(s16, int16_t, -0x1234)
RETURNS_INTEGER(u16, uint16_t, 0xf234)
RETURNS_INTEGER(s32, int32_t, -0x12345678)
RETURNS_INTEGER(u32, uint32_t, 0xf2345678)
RETURNS_INTEGER(s64, int64_t, -0x123456789abcdef0)
RETURNS_INTEGER(u64, uint64_t, 0x1122334455667788)
RETURNS(pointer, void *, &s8_value)
#ifndef NO_FLOATING_POINT
RETURNS(float, float, 1.5f)
RETURNS(double, double, -2.00000000000025)
/* The x87's has ten bytes; sizeof includes padding. */
RETURNS_BYTES(long_double, long double, LDBL_MANT_DIG == 64 ? 10 : sizeof(long double),
	      3.000000000000000000000000125L)
RETURNS(float_complex, float _Complex, __builtin_complex(1.25f, -6.5f))
RETURNS(double_complex, double _Complex, __builtin_complex(-0.1, 1e100))
#endif
#ifdef __SIZEOF_INT128__
RETURNS(int128, __int128, (__int128)0x1122334455667788 << 64 | 0x99aabbccddeeff00)
#endif

/* An ABI returns some of these sizes in registers, and some through a pointer argument. */
#define RETURNS_CHARS(size, ...)						\
	struct chars_##size {							\
		char chars[size];						\
	};									\
	RETURNS(chars_##size, struct chars_##size, { __VA_ARGS__ })

RETURNS_CHARS(1, "a")
RETURNS_CHARS(2, "ab")
RETURNS_CHARS(3, "abc")
RETURNS_CHARS(4, "abcd")
RETURNS_CHARS(5, "abcde")
RETURNS_CHARS(6, "abcdef")
RETURNS_CHARS(7, "abcdefg")
RETURNS_CHARS(8, "abcdefgh")
RETURNS_CHARS(16, "abcdefghijklmnop")
RETURNS_CHARS(17, "abcdefghijklmnopq")
RETURNS_CHARS(40, "abcdefghijklmnopqrstuvwxyz0123456789ABCD")

struct pointer_int {
	const void *pointer;
	int number;
};

#ifndef NO_FLOATING_POINT
struct int_float {
	int number;
	float fraction;
};

struct float_1 {
	float a;
};

struct float_2 {
	float a, b;
};

struct float_3 {
	float a, b, c;
};

struct float_4 {
	float a, b, c, d;
};

struct double_1 {
	double a;
};

struct double_2 {
	double a, b;
};

struct double_3 {
	double a, b, c;
};

struct double_4 {
	double a, b, c, d;
};
#endif

/*
 * The ABIs of the 32-bit machines here do not define vectors; gcc returns them in floating-point
 * registers.
 */
#if __SIZEOF_POINTER__ == 8 && !defined(NO_FLOATING_POINT)
#define WITH_VECTORS
typedef int vector __attribute__((vector_size(16)));

struct vector_2 {
	vector a, b;
};
#endif

RETURNS_BYTES(pointer_int, struct pointer_int, offsetof(struct pointer_int, number) + sizeof(int),
	      { &s8_value, -77 })
#ifndef NO_FLOATING_POINT
RETURNS(int_float, struct int_float, { 99, 0.75f })
RETURNS(float_1, struct float_1, { 1.5f })
RETURNS(float_2, struct float_2, { 1.5f, 2.5f })
RETURNS(float_3, struct float_3, { 1.5f, 2.5f, 3.5f })
RETURNS(float_4, struct float_4, { 1.5f, 2.5f, 3.5f, 4.5f })
RETURNS(double_1, struct double_1, { 1.1 })
RETURNS(double_2, struct double_2, { 1.1, 2.2 })
RETURNS(double_3, struct double_3, { 1.1, 2.2, 3.3 })
RETURNS(double_4, struct double_4, { 1.1, 2.2, 3.3, 4.4 })
#endif
#ifdef WITH_VECTORS
#pragma GCC diagnostic ignored "-Wpsabi"
RETURNS(vector, vector, { 1, -2, 3, -4 })
RETURNS(vector_2, struct vector_2, { { 1, -2, 3, -4 }, { 5, -6, 7, -8 } })
#endif

/* --- Arguments ----------------------------------------------------------------------------- */

#define PARAMETERS_1(type) type a
#define PARAMETERS_2(type) PARAMETERS_1(type), type b
#define PARAMETERS_3(type) PARAMETERS_2(type), type c
#define PARAMETERS_4(type) PARAMETERS_3(type), type d
#define PARAMETERS_5(type) PARAMETERS_4(type), type e
#define PARAMETERS_6(type) PARAMETERS_5(type), type f
#define PARAMETERS_7(type) PARAMETERS_6(type), type g
#define PARAMETERS_8(type) PARAMETERS_7(type), type h
#define PARAMETERS_9(type) PARAMETERS_8(type), type i
#define PARAMETERS_10(type) PARAMETERS_9(type), type j
#define PARAMETERS_11(type) PARAMETERS_10(type), type k
#define PARAMETERS_12(type) PARAMETERS_11(type), type l

#define SUM_1 a
#define SUM_2 SUM_1 + 2 * b
#define SUM_3 SUM_2 + 3 * c
#define SUM_4 SUM_3 + 4 * d
#define SUM_5 SUM_4 + 5 * e
#define SUM_6 SUM_5 + 6 * f
#define SUM_7 SUM_6 + 7 * g
#define SUM_8 SUM_7 + 8 * h
#define SUM_9 SUM_8 + 9 * i
#define SUM_10 SUM_9 + 10 * j
#define SUM_11 SUM_10 + 11 * k
#define SUM_12 SUM_11 + 12 * l

#define UP_TO_1 1
#define UP_TO_2 UP_TO_1, 2
#define UP_TO_3 UP_TO_2, 3
#define UP_TO_4 UP_TO_3, 4
#define UP_TO_5 UP_TO_4, 5
#define UP_TO_6 UP_TO_5, 6
#define UP_TO_7 UP_TO_6, 7
#define UP_TO_8 UP_TO_7, 8
#define UP_TO_9 UP_TO_8, 9
#define UP_TO_10 UP_TO_9, 10
#define UP_TO_11 UP_TO_10, 11
#define UP_TO_12 UP_TO_11, 12

/* The sum of the squares up to count, if every argument is right. */
#define TAKES(count, type)							\
	traced type take_##count##_##type(PARAMETERS_##count(type))		\
	{									\
		return SUM_##count;						\
	}									\
	traced bool check_take_##count##_##type(void)				\
	{									\
		return take_##count##_##type(UP_TO_##count) ==			\
		       count * (count + 1) * (2 * count + 1) / 6;		\
	}

#define FOR_EACH_COUNT(DO, type)						\
	DO(1, type)								\
	DO(2, type)								\
	DO(3, type)								\
	DO(4, type)								\
	DO(5, type)								\
	DO(6, type)								\
	DO(7, type)								\
	DO(8, type)								\
	DO(9, type)								\
	DO(10, type)								\
	DO(11, type)								\
	DO(12, type)

FOR_EACH_COUNT(TAKES, long)
FOR_EACH_COUNT(TAKES, int64_t)
#ifndef NO_FLOATING_POINT
FOR_EACH_COUNT(TAKES, float)
FOR_EACH_COUNT(TAKES, double)

/* Registers of both kinds, and on 32-bit machines pairs that leave gaps. */
traced double take_mixed(int a, double b, int64_t c, float d, char e, int64_t f, double g, short h,
			 struct chars_5 i, struct double_2 j, long k, struct chars_40 l)
{
	return a + 2 * b + 3 * (int)c + 4 * d + 5 * e + 6 * (int)f + 7 * g + 8 * h +
	       i.chars[4] + j.b + 11 * (int)k + l.chars[39];
}

traced bool check_take_mixed(void)
{
	struct chars_5 i = { "abcde" };
	struct double_2 j = { 0, 10 };
	struct chars_40 l = chars_40_value;

	return take_mixed(1, 2, 3, 4, 5, 6, 7, 8, i, j, 11, l) ==
	       1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 'e' + 10 + 121 + 'D';
}

/* One letter of the kinds for each argument: i, l, q and d as in printf(). */
traced double take_list(const char *kinds, ...)
{
	va_list list;
	double sum = 0;
	int weight = 1;

	va_start(list, kinds);
	for (; *kinds; kinds++, weight++) {
		if (*kinds == 'i')
			sum += weight * va_arg(list, int);
		else if (*kinds == 'l')
			sum += weight * (int)va_arg(list, long);
		else if (*kinds == 'q')
			sum += weight * (int)va_arg(list, int64_t);
		else
			sum += weight * va_arg(list, double);
	}
	va_end(list);
	return sum;
}

traced bool check_take_list(void)
{
	return take_list("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 385 &&
	       take_list("dddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.) == 385 &&
	       take_list("iqdlqdiqdl", 1, (int64_t)2, 3., 4L, (int64_t)5, 6., 7, (int64_t)8, 9.,
			 10L) == 385;
}
#endif

/* --- Frames -------------------------------------------------------------------------------- */

traced int leaf(int value)
{
	return value + 1;
}

traced bool check_nested_calls(void)
{
	int value = leaf(leaf(leaf(1)));

	keep(value);
	return value == 4;
}

traced int recurse(int depth)
{
	int below;

	if (!depth)
		return 0;
	below = recurse(depth - 1);
	keep(below);
	return below + depth;
}

/* Deeper than a tracer's stack: it must not hijack calls that it cannot save. */
traced bool check_deep_recursion(void)
{
	return recurse(80) == 80 * 81 / 2;
}

traced int tail_last(int value)
{
	return leaf(value) * 3;
}

traced int tail_first(int value)
{
	return tail_last(value + 1);
}

/* With arguments on the stack: the tail call has to write them over its caller's. */
traced long tail_many(PARAMETERS_12(long))
{
	return take_12_long(l, k, j, i, h, g, f, e, d, c, b, a);
}

traced bool check_tail_calls(void)
{
	return tail_first(4) == 18 && tail_many(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1) == 650;
}

traced int use_alloca(int count)
{
	volatile char *bytes = __builtin_alloca(count);
	int sum = 0;

	for (int i = 0; i < count; i++)
		bytes[i] = leaf(i) & 0x7f;
	for (int i = 0; i < count; i++)
		sum += bytes[i];
	return sum;
}

traced bool check_alloca(void)
{
	return use_alloca(16) == 136 && use_alloca(100) == 5050;
}

/* Larger than an immediate operand, on every architecture, if FRAME_WARN allows that. */
#ifdef FRAME_WARN
#define LARGE_FRAME (FRAME_WARN / 2)
#define HUGE_FRAME (FRAME_WARN / 2)
#define HUGE_LEAF_FRAME (FRAME_WARN / 2)
#else
#define LARGE_FRAME 40000
#define HUGE_FRAME 140000
#define HUGE_LEAF_FRAME 70000
#endif

traced int use_large_frame(int value)
{
	volatile int array[LARGE_FRAME / sizeof(int)];
	int last = sizeof(array) / sizeof(array[0]) - 1;

	array[0] = value;
	array[last] = leaf(value);
	return array[0] * array[last];
}

traced int use_huge_frame(int value)
{
	volatile char array[HUGE_FRAME];

	array[0] = value;
	array[sizeof(array) - 1] = leaf(value);
	return array[0] * array[sizeof(array) - 1];
}

traced int use_huge_leaf_frame(int value)
{
	volatile char array[HUGE_LEAF_FRAME];

	array[0] = value;
	array[sizeof(array) - 1] = value + 1;
	return array[0] * array[sizeof(array) - 1];
}

traced bool check_large_frames(void)
{
	return use_large_frame(10) == 110 && use_huge_frame(10) == 110 &&
	       use_huge_leaf_frame(10) == 110;
}

struct aligned {
	int value;
} __attribute__((aligned(256)));

traced uintptr_t misalignment(const struct aligned *object)
{
	return (uintptr_t)object & 255;
}

traced int use_aligned_local(int value)
{
	struct aligned object = { value };

	if (misalignment(&object))
		return -1;
	return leaf(object.value);
}

traced bool check_aligned_local(void)
{
	return use_aligned_local(41) == 42;
}

/* Sixteen values of each kind are live across the calls, in saved registers if there are enough. */
traced int use_saved_registers(int start)
{
	int a = leaf(start), b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d), f = leaf(e),
	    g = leaf(f), h = leaf(g), i = leaf(h), j = leaf(i), k = leaf(j), l = leaf(k);

	return take_12_long(a, b, c, d, e, f, g, h, i, j, k, l) + leaf(a) + leaf(f) + leaf(l);
}

#ifdef NO_FLOATING_POINT
typedef long number;
#else
typedef double number;
#endif

traced number next(number value)
{
	return value + 1;
}

#ifndef NO_FLOATING_POINT
traced double use_saved_doubles(double start)
{
	double a = next(start), b = next(a), c = next(b), d = next(c), e = next(d), f = next(e),
	       g = next(f), h = next(g), i = next(h), j = next(i), k = next(j), l = next(k);

	return take_12_double(a, b, c, d, e, f, g, h, i, j, k, l) + next(a) + next(f) + next(l);
}

traced bool check_saved_doubles(void)
{
	return use_saved_doubles(0) == 650 + 2 + 7 + 13;
}
#endif

traced bool check_saved_registers(void)
{
	return use_saved_registers(0) == 650 + 2 + 7 + 13;
}

/* What gcc's stack protector needs from a C library; on some machines it has its own instead. */
uintptr_t __stack_chk_guard = (uintptr_t)0x5bd1e995c0ffee00;
void __stack_chk_fail(void);

__attribute__((weak)) void __stack_chk_fail(void)
{
	__builtin_trap();
}

traced __attribute__((optimize("stack-protector-strong"))) int use_stack_protector(int value)
{
	char array[40];

	memset(array, value, sizeof(array));
	keep(array[7]);
	return leaf(array[7]);
}

traced bool check_stack_protector(void)
{
	return use_stack_protector(6) == 7;
}

#if defined(__clang__) && !defined(NO_NESTED_FUNCTIONS)	/* It has none. */
#define NO_NESTED_FUNCTIONS
#endif

#ifndef NO_NESTED_FUNCTIONS
/* The callee finds its caller's variables through a register that no other function uses. */
traced int use_static_chain(int value)
{
	int calls = 0;

	__attribute__((noipa)) int add(int more)
	{
		calls++;
		return leaf(value) + more;
	}

	value = add(1);
	value = add(2);
	return 100 * calls + value;
}

traced bool check_static_chain(void)
{
	return use_static_chain(10) == 215;
}
#endif

traced number call_through(number (*function)(number), number value)
{
	return function(value);
}

static number (*volatile next_pointer)(number) = next;

traced bool check_pointer(void)
{
	return call_through(next_pointer, 1) == 2 && next_pointer(3) == 4;
}

traced int jump_within(int value)
{
	static jmp_buf environment;
	volatile int turns = 0;

	if (setjmp(environment) < value) {
		turns++;
		longjmp(environment, leaf(turns));
	}
	return turns;
}

/* longjmp() stays in its own function, so it does not skip a traced frame. */
traced bool check_longjmp(void)
{
	return jump_within(5) == 4;
}

/* In the order of the source, in a section of its own. */
#define in_order __attribute__((noipa, section(".text.in_order")))

/*
 * A function behind one that does not return. A port that reads code backwards from a call site
 * must stop at its beginning: the frame before that is the other function's. It is never called.
 */
#define ENDS_IN(what, end)							\
	in_order __attribute__((no_instrument_function)) void ends_in_##what(void) \
	{									\
		__attribute__((unused)) volatile int array[16];			\
										\
		array[0] = 0;							\
		end;								\
	}

#define BEHIND(what)								\
	in_order int behind_##what(int value)					\
	{									\
		return value + 1;						\
	}

#define BEHIND_WITH_A_FRAME(what)						\
	in_order int behind_##what(int value)					\
	{									\
		volatile int array[4];						\
										\
		array[0] = value;						\
		return array[0] + 1;						\
	}

ENDS_IN(trap, __builtin_trap())
BEHIND(trap)
ENDS_IN(loop, for (;;) ;)
BEHIND(loop)

/* With so many arguments that a delay slot may store one of them. */
static in_order __attribute__((noreturn, no_instrument_function)) void
leave(__attribute__((unused)) int first, ...)
{
	for (;;)
		;
}
ENDS_IN(call, leave(9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
BEHIND_WITH_A_FRAME(call)

static void (*volatile leaves)(int, ...) __attribute__((noreturn)) = leave;
ENDS_IN(pointer, leaves(9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
BEHIND(pointer)

/* With nothing in the delay slot. */
in_order void ends_in_return(void)
{
}
BEHIND_WITH_A_FRAME(return)

/* The delay slot of a call site may lower the stack pointer, as the next function's prologue. */
in_order void ends_in_site(void)
{
	__builtin_unwind_init();
	__builtin_unreachable();
}
BEHIND(site)

traced bool check_behind(void)
{
	int value = behind_call(behind_return(behind_site(1)));

	return behind_trap(behind_loop(behind_pointer(value))) == 7;
}

/* Only a tracer of returns may have changed the address, to this one. */
extern char return_to_handler[] __attribute__((weak));

traced uintptr_t return_address(void)
{
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

traced bool check_return_address(void)
{
	uintptr_t found = return_address(), self = (uintptr_t)check_return_address;

	return found == (uintptr_t)return_to_handler || (found > self && found - self < 1024);
}

/* --- All of it ----------------------------------------------------------------------------- */

#define ENTER_RETURN(name) check_return_##name,
#define ENTER_TAKE(count, type) check_take_##count##_##type,

static bool (*const checks[])(void) = {
	ENTER_RETURN(bool) ENTER_RETURN(char) ENTER_RETURN(s8) ENTER_RETURN(u8) ENTER_RETURN(s16)
	ENTER_RETURN(u16) ENTER_RETURN(s32) ENTER_RETURN(u32) ENTER_RETURN(s64) ENTER_RETURN(u64)
	ENTER_RETURN(pointer)
#ifndef NO_FLOATING_POINT
	ENTER_RETURN(float) ENTER_RETURN(double) ENTER_RETURN(long_double)
	ENTER_RETURN(float_complex) ENTER_RETURN(double_complex)
#endif
	ENTER_RETURN(chars_1) ENTER_RETURN(chars_2) ENTER_RETURN(chars_3) ENTER_RETURN(chars_4)
	ENTER_RETURN(chars_5) ENTER_RETURN(chars_6) ENTER_RETURN(chars_7) ENTER_RETURN(chars_8)
	ENTER_RETURN(chars_16) ENTER_RETURN(chars_17) ENTER_RETURN(chars_40)
	ENTER_RETURN(pointer_int)
#ifndef NO_FLOATING_POINT
	ENTER_RETURN(int_float)
	ENTER_RETURN(float_1) ENTER_RETURN(float_2) ENTER_RETURN(float_3) ENTER_RETURN(float_4)
	ENTER_RETURN(double_1) ENTER_RETURN(double_2) ENTER_RETURN(double_3) ENTER_RETURN(double_4)
#endif
	FOR_EACH_COUNT(ENTER_TAKE, long)
	FOR_EACH_COUNT(ENTER_TAKE, int64_t)
#ifndef NO_FLOATING_POINT
	FOR_EACH_COUNT(ENTER_TAKE, float)
	FOR_EACH_COUNT(ENTER_TAKE, double)
	check_take_mixed,
	check_take_list,
	check_saved_doubles,
#endif
	check_nested_calls,
	check_deep_recursion,
	check_tail_calls,
	check_alloca,
	check_large_frames,
	check_aligned_local,
	check_saved_registers,
	check_stack_protector,
#ifndef NO_NESTED_FUNCTIONS
	check_static_chain,
#endif
	check_pointer,
	check_longjmp,
	check_behind,
	check_return_address,
#ifdef __SIZEOF_INT128__
	ENTER_RETURN(int128)
#endif
#ifdef WITH_VECTORS
	ENTER_RETURN(vector) ENTER_RETURN(vector_2)
#endif
};

int workload(void)
{
	for (unsigned int i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!checks[i]())
			return i + 1;
	return 0;
}
