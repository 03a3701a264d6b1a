/* SPDX-License-Identifier: MIT */
#ifndef _ASM_USER_H
#define _ASM_USER_H

/* Where user programs are: one entry of the TLB, which is two pages of 64 KiB. */
#define USER_BASE	0x00400000
#define USER_SIZE	0x00020000

#endif
