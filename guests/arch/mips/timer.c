// SPDX-License-Identifier: MIT
#include <linux/arch.h>

#include <asm/timer.h>

struct count_clock count_clock;

void arch_timer_init(void)
{
	count_clock.count = read_c0_32(CP0_COUNT);
}
