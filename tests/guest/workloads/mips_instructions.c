// SPDX-License-Identifier: MIT
/* Three million instructions between two calls (MIPS). */
#include <linux/compiler.h>

noinline void begin(void)
{
	barrier();
}

noinline void after_3_million(void)
{
	barrier();
}

int workload(void)
{
	begin();
#ifdef __mips__
	unsigned int rounds = 1000000;

	__asm__ volatile(
		"	.set	push\n"
		"	.set	noreorder\n"
		"1:	addiu	%0, %0, -1\n"
		"	bnez	%0, 1b\n"
		"	nop\n"
		"	.set	pop\n"
		: "+r"(rounds));
#endif
	after_3_million();
	return 0;
}
