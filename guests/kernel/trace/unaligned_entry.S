/* SPDX-License-Identifier: MIT */
/*
 * A function with the nops of -fpatchable-function-entry=4,2, as a compiler leaves one that it does not
 * align. Its literal would not be one aligned word: a port has to leave it out (C22d). Nothing calls it.
 */
#include <linux/linkage.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS

	.text
	.balign	8
	nop
unaligned_entry_nops:
	nop
	nop
SYM_FUNC_START(unaligned_entry)
	nop
	nop
	ret
SYM_FUNC_END(unaligned_entry)

	.section __patchable_function_entries, "awo", %progbits, unaligned_entry
	.balign	8
	.quad	unaligned_entry_nops

#endif
