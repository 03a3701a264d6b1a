// SPDX-License-Identifier: MIT
/* The register state of threads. */
#include <linux/arch.h>
#include <linux/sched.h>

_Static_assert(offsetof(struct thread_struct, fp) == THREAD_FP, "THREAD_FP");
_Static_assert(offsetof(struct thread_struct, lr) == THREAD_LR, "THREAD_LR");
_Static_assert(offsetof(struct thread_struct, sp) == THREAD_SP, "THREAD_SP");
_Static_assert(offsetof(struct thread_struct, pc) == THREAD_PC, "THREAD_PC");
_Static_assert(offsetof(struct thread_struct, fpcr) == THREAD_FPCR, "THREAD_FPCR");
_Static_assert(offsetof(struct thread_struct, q) == THREAD_Q0, "THREAD_Q0");

void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
	thread->thread = (struct thread_struct) {
		.sp = (unsigned long)stack_end,
		.pc = (unsigned long)entry,
	};
}
