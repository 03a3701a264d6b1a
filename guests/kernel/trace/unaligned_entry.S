/* SPDX-License-Identifier: MIT */
/*
 * A function with the nops of -fpatchable-function-entry=4,2 that is not aligned, as some compilers
 * emit. Its literal would not be an aligned word: a port must not make it a site (C22d). It is
 * never called.
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
