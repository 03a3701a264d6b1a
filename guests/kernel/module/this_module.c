// SPDX-License-Identifier: MIT
/*
 * A part of every module: its struct module. The build defines KBUILD_MODNAME.
 */
#include <linux/ftrace.h>
#include <linux/module.h>

/* module.lds.h */
extern const char _text[], _etext[], _end[], __module_limit[];
extern const unsigned char __eh_frame_hdr[], __eh_frame_end[];
extern const unsigned long __start_mcount_loc[], __stop_mcount_loc[];

#if defined(CC_USING_PATCHABLE_FUNCTION_ENTRY) && defined(MCOUNT_INSN_SIZE)
const unsigned int mcount_insn_size = MCOUNT_INSN_SIZE;	/* as in the kernel */
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/* As in the kernel. */
const unsigned int ftrace_literal_size = sizeof(struct ftrace_ops *);
#endif

int init_module(void) __weak;
void cleanup_module(void) __weak;
long run_module(long argument) __weak;

struct module __this_module __section(".this_module") = {
	.name = KBUILD_MODNAME,
	.text_start = (unsigned long)_text,
	.text_end = (unsigned long)_etext,
	.end = (unsigned long)_end,
	.limit = (unsigned long)__module_limit,
	.init = init_module,
	.exit = cleanup_module,
	.run = run_module,
	.mcount_start = __start_mcount_loc,
	.mcount_stop = __stop_mcount_loc,
	.eh_frame_hdr = __eh_frame_hdr,
	.eh_frame_end = __eh_frame_end,
	MODULE_ARCH_INIT
};
