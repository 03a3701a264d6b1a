// SPDX-License-Identifier: MIT
#include <linux/arch.h>
#include <linux/compiler.h>

#define SZREG	sizeof(long)
_Static_assert(offsetof(struct thread_struct, pc) == TH_PC, "thread.h");
_Static_assert(offsetof(struct thread_struct, s[7]) == TH_S(7), "thread.h");
_Static_assert(offsetof(struct thread_struct, fp) == TH_FP, "thread.h");
_Static_assert(offsetof(struct thread_struct, fpr[31]) == TH_FPR(31), "thread.h");
_Static_assert(offsetof(struct thread_struct, fcsr) == TH_FCSR, "thread.h");

void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
	/* o32 callees own 16 bytes above sp. */
	thread->thread = (struct thread_struct) {
		.sp = (unsigned long)stack_end - 32,
		.pc = (unsigned long)entry,
	};
}
