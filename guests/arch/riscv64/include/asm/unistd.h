/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNISTD_H
#define _ASM_UNISTD_H

#include <asm-generic/unistd.h>

#endif
