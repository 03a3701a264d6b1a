// SPDX-License-Identifier: MIT
/* The register state of threads. */
#include <linux/arch.h>
#include <linux/sched.h>

_Static_assert(offsetof(struct thread_struct, r4[7]) == THREAD_R(11), "THREAD_R");
_Static_assert(offsetof(struct thread_struct, lr) == THREAD_LR, "THREAD_LR");
_Static_assert(offsetof(struct thread_struct, sp) == THREAD_SP, "THREAD_SP");
_Static_assert(offsetof(struct thread_struct, pc) == THREAD_PC, "THREAD_PC");
_Static_assert(offsetof(struct thread_struct, fpscr) == THREAD_FPSCR, "THREAD_FPSCR");
_Static_assert(offsetof(struct thread_struct, d[31]) == THREAD_D(31), "THREAD_D");

void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
	thread->thread = (struct thread_struct) {
		.sp = (unsigned long)stack_end,
		.pc = (unsigned long)entry,
	};
}
