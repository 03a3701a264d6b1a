// SPDX-License-Identifier: MIT
/*
 * The arithmetic that gcc leaves to its run-time library: 64-bit division, shifts and
 * comparison on 32-bit machines, and bit counting. gcc's own libgcc cannot be linked: on MIPS
 * it is position-independent code that uses $28, the kernel's current thread, as its own.
 *
 * Names and meaning are those of the GCC internals manual, "The GCC low-level runtime library".
 * Everything is notrace, because the compiler emits these calls in the tracer too.
 *
 * No function here may use the operation that it implements: 64-bit values are only shifted by
 * constants, and divided as 32-bit halves.
 */
#include <stdint.h>

#include <linux/compiler.h>

static __always_inline uint32_t high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

static __always_inline uint64_t join(uint32_t high_half, uint32_t low_half)
{
	return (uint64_t)high_half << 32 | low_half;
}

uint64_t __ashldi3(uint64_t value, int count);
uint64_t __lshrdi3(uint64_t value, int count);
int64_t __ashrdi3(int64_t value, int count);
int __cmpdi2(int64_t left, int64_t right);
int __ucmpdi2(uint64_t left, uint64_t right);
int __clzsi2(uint32_t value);
int __clzdi2(uint64_t value);
int __ctzsi2(uint32_t value);
int __ctzdi2(uint64_t value);
int __ffsdi2(uint64_t value);
int __popcountsi2(uint32_t value);
int __popcountdi2(uint64_t value);
uint32_t __bswapsi2(uint32_t value);
uint64_t __bswapdi2(uint64_t value);
uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *remainder);
uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);
int64_t __divmoddi4(int64_t dividend, int64_t divisor, int64_t *remainder);
int64_t __divdi3(int64_t dividend, int64_t divisor);
int64_t __moddi3(int64_t dividend, int64_t divisor);

notrace uint64_t __ashldi3(uint64_t value, int count)
{
	uint32_t low = (uint32_t)value;

	if (count == 0)
		return value;
	if (count >= 32)
		return join(low << (count - 32), 0);
	return join(high(value) << count | low >> (32 - count), low << count);
}

notrace uint64_t __lshrdi3(uint64_t value, int count)
{
	if (count == 0)
		return value;
	if (count >= 32)
		return join(0, high(value) >> (count - 32));
	return join(high(value) >> count, high(value) << (32 - count) | (uint32_t)value >> count);
}

notrace int64_t __ashrdi3(int64_t value, int count)
{
	int32_t upper = (int32_t)high((uint64_t)value);

	if (count == 0)
		return value;
	if (count >= 32)
		return (int64_t)join((uint32_t)(upper >> 31), (uint32_t)(upper >> (count - 32)));
	return (int64_t)join((uint32_t)(upper >> count),
			     (uint32_t)upper << (32 - count) | (uint32_t)value >> count);
}

notrace int __ucmpdi2(uint64_t left, uint64_t right)
{
	uint32_t a = high(left), b = high(right);

	if (a == b) {
		a = (uint32_t)left;
		b = (uint32_t)right;
	}
	return 1 + (a > b) - (a < b);
}

notrace int __cmpdi2(int64_t left, int64_t right)
{
	const uint64_t sign = join(0x80000000, 0);

	return __ucmpdi2((uint64_t)left ^ sign, (uint64_t)right ^ sign);
}

notrace int __clzsi2(uint32_t value)
{
	int count = 0;

	for (int step = 16; step; step /= 2) {
		if (!(value >> (32 - step))) {
			value <<= step;
			count += step;
		}
	}
	return count;
}

notrace int __clzdi2(uint64_t value)
{
	return high(value) ? __clzsi2(high(value)) : 32 + __clzsi2((uint32_t)value);
}

notrace int __ctzsi2(uint32_t value)
{
	return 31 - __clzsi2(value & -value);
}

notrace int __ctzdi2(uint64_t value)
{
	return (uint32_t)value ? __ctzsi2((uint32_t)value) : 32 + __ctzsi2(high(value));
}

notrace int __ffsdi2(uint64_t value)
{
	return value ? __ctzdi2(value) + 1 : 0;
}

notrace int __popcountsi2(uint32_t value)
{
	/* Sums of 1, 2 and 4 neighbouring bits; the product adds the four bytes at the top. */
	value -= value >> 1 & 0x55555555;
	value = (value & 0x33333333) + (value >> 2 & 0x33333333);
	value = (value + (value >> 4)) & 0x0f0f0f0f;
	return (int)(value * 0x01010101 >> 24);
}

notrace int __popcountdi2(uint64_t value)
{
	return __popcountsi2(high(value)) + __popcountsi2((uint32_t)value);
}

/* gcc would recognise a byte swap that is written as one expression. */
static __always_inline uint32_t swap_bytes(uint32_t value)
{
	uint32_t swapped = value << 16 | value >> 16;

	__asm__("" : "+r"(swapped));
	return (swapped & 0x00ff00ff) << 8 | (swapped >> 8 & 0x00ff00ff);
}

notrace uint32_t __bswapsi2(uint32_t value)
{
	return swap_bytes(value);
}

notrace uint64_t __bswapdi2(uint64_t value)
{
	return join(swap_bytes((uint32_t)value), swap_bytes(high(value)));
}

/* Division by zero is undefined in C: use the machine's own instruction. */
notrace uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *remainder)
{
	uint32_t upper = 0, lower = 0;
	int shift;

	if (!high(dividend) && !high(divisor)) {
		lower = (uint32_t)dividend / (uint32_t)divisor;
		if (remainder)
			*remainder = (uint32_t)dividend % (uint32_t)divisor;
		return lower;
	}
	if (!divisor) {
		if (remainder)
			*remainder = dividend;
		return UINT64_MAX;
	}
	/* Subtract and shift, from the first position where the divisor could fit. */
	shift = __clzdi2(divisor) - __clzdi2(dividend);
	if (shift >= 0) {
		divisor = __ashldi3(divisor, shift);
		for (; shift >= 0; shift--, divisor >>= 1) {
			if (dividend < divisor)
				continue;
			dividend -= divisor;
			if (shift >= 32)
				upper |= 1U << (shift - 32);
			else
				lower |= 1U << shift;
		}
	}
	if (remainder)
		*remainder = dividend;
	return join(upper, lower);
}

notrace uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
	return __udivmoddi4(dividend, divisor, (uint64_t *)0);
}

notrace uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
	uint64_t remainder;

	__udivmoddi4(dividend, divisor, &remainder);
	return remainder;
}

static __always_inline uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

notrace int64_t __divmoddi4(int64_t dividend, int64_t divisor, int64_t *remainder)
{
	uint64_t rest;
	uint64_t quotient = __udivmoddi4(magnitude(dividend), magnitude(divisor), &rest);

	/* C rounds to zero: the remainder has the sign of the dividend. */
	if (remainder)
		*remainder = (int64_t)(dividend < 0 ? 0 - rest : rest);
	return (int64_t)((dividend < 0) != (divisor < 0) ? 0 - quotient : quotient);
}

notrace int64_t __divdi3(int64_t dividend, int64_t divisor)
{
	return __divmoddi4(dividend, divisor, (int64_t *)0);
}

notrace int64_t __moddi3(int64_t dividend, int64_t divisor)
{
	int64_t remainder;

	__divmoddi4(dividend, divisor, &remainder);
	return remainder;
}
