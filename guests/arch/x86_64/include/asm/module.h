/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/* Behind the kernel's heap, within the reach of its calls. */
#define MODULES_OFFSET		0

#ifndef __ASSEMBLER__

struct mod_arch_specific {
	/* Empty: a module's calls reach the kernel. */
};

#define MODULE_ARCH_INIT

#endif

#endif
