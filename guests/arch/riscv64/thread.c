// SPDX-License-Identifier: MIT
/* The registers of a new thread. */
#include <linux/arch.h>
#include <linux/sched.h>

_Static_assert(offsetof(struct thread_struct, ra) == THREAD_RA, "THREAD_RA");
_Static_assert(offsetof(struct thread_struct, sp) == THREAD_SP, "THREAD_SP");
_Static_assert(offsetof(struct thread_struct, s) == THREAD_S(0), "THREAD_S");
_Static_assert(offsetof(struct thread_struct, pc) == THREAD_PC, "THREAD_PC");
_Static_assert(offsetof(struct thread_struct, fcsr) == THREAD_FCSR, "THREAD_FCSR");
_Static_assert(offsetof(struct thread_struct, f) == THREAD_F(0), "THREAD_F");

/* The offset of @thread in struct thread_info, as a symbol for assembly. */
static void __used define_offsets(void)
{
	__asm__ volatile(".globl THREAD_CONTEXT\n\t.set THREAD_CONTEXT, %0"
			 : : "i"(offsetof(struct thread_info, thread)));
}

void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
	thread->thread = (struct thread_struct) {
		.sp = (unsigned long)stack_end,
		.pc = (unsigned long)entry,
	};
}
