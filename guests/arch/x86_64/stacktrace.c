// SPDX-License-Identifier: MIT
/* Stack unwinding, the x86-64 part. Code without tables, like some ports' stubs, ends the walk. */
#include <linux/unwind.h>

bool arch_unwind_step(struct unwind_frame *frame)
{
	return unwind_by_table(frame);
}
