/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TRAPS_H
#define _ASM_TRAPS_H

/* Numbers of the vectors */
#define VECTOR_UNDEFINED	1
#define VECTOR_SVC		2
#define VECTOR_PREFETCH_ABORT	3
#define VECTOR_DATA_ABORT	4

#ifndef __ASSEMBLER__

/** exception_name - the reason for the last exception of a vector, in words */
const char *exception_name(unsigned int vector);

#endif
#endif
