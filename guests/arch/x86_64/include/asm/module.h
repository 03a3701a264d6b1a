/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/* Behind the kernel's heap, within the reach of its calls. */
#define MODULES_OFFSET		0

#ifndef __ASSEMBLER__

struct mod_arch_specific {
	/* A call reaches everything. */
};

#define MODULE_ARCH_INIT

#endif

#endif
