// SPDX-License-Identifier: MIT
/* Pauses in which nothing happens: as many timer interrupts long as their names say (MIPS). */
#include <linux/compiler.h>

#include <asm/processor.h>

noinline void begin(void)
{
	barrier();
}

noinline void after_1(void)
{
	barrier();
}

noinline void after_4(void)
{
	barrier();
}

noinline void after_7(void)
{
	barrier();
}

static notrace void pause_for(int interrupts)
{
	while (interrupts--)
		arch_idle();
}

int workload(void)
{
	begin();
	pause_for(1);
	after_1();
	pause_for(4);
	after_4();
	pause_for(7);
	after_7();
	return 0;
}
