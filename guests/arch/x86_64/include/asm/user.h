/* SPDX-License-Identifier: MIT */
#ifndef _ASM_USER_H
#define _ASM_USER_H

/* Addresses of user programs: pages of one 2 MiB block that the kernel does not use. */
#define USER_BASE	0x00200000
#define USER_SIZE	0x00020000

#endif
