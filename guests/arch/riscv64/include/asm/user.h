/* SPDX-License-Identifier: MIT */
#ifndef _ASM_USER_H
#define _ASM_USER_H

/* Where user programs are: pages in one 2 MiB block of addresses that the kernel does not use. */
#define USER_BASE	0x00400000
#define USER_SIZE	0x00020000

#endif
