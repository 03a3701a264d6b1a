// SPDX-License-Identifier: MIT
/* The registers of a new thread. */
#include <linux/arch.h>
#include <linux/sched.h>

#define FX_CONTROL	0		/* of the x87, and of SSE: their values after reset */
#define FX_MXCSR	24

_Static_assert(offsetof(struct thread_struct, self) == THREAD_SELF, "THREAD_SELF");
_Static_assert(offsetof(struct thread_struct, sp) == THREAD_SP, "THREAD_SP");
_Static_assert(offsetof(struct thread_struct, pc) == THREAD_PC, "THREAD_PC");
_Static_assert(offsetof(struct thread_struct, ra) == THREAD_RA, "THREAD_RA");
_Static_assert(offsetof(struct thread_struct, rbx) == THREAD_RBX, "THREAD_RBX");
_Static_assert(offsetof(struct thread_struct, r15) == THREAD_R15, "THREAD_R15");
_Static_assert(offsetof(struct thread_struct, fx) == THREAD_FX, "THREAD_FX");

/* The offset of @thread in struct thread_info, as a symbol for assembly. */
static void __used define_offsets(void)
{
	__asm__ volatile(".globl THREAD_CONTEXT\n\t.set THREAD_CONTEXT, %c0"
			 : : "i"(offsetof(struct thread_info, thread)));
}

void arch_thread_init(struct thread_info *thread, void *stack_end, void (*entry)(void))
{
	unsigned long *sp = (unsigned long *)stack_end - 1;

	/* In place of a return address: thread_entry() has no caller. */
	*sp = 0;
	thread->thread = (struct thread_struct) {
		.self = thread,
		.sp = (unsigned long)sp,
		.pc = (unsigned long)entry,
	};
	*(u16 *)(thread->thread.fx + FX_CONTROL) = 0x37f;
	*(u32 *)(thread->thread.fx + FX_MXCSR) = 0x1f80;
}
