/* SPDX-License-Identifier: MIT */
#ifndef _ASM_USER_H
#define _ASM_USER_H

/* Addresses of user programs: one TLB entry, two pages of 64 KiB. */
#define USER_BASE	0x00400000
#define USER_SIZE	0x00020000

#endif
