/* SPDX-License-Identifier: MIT */
#ifndef _ASM_STACKTRACE_H
#define _ASM_STACKTRACE_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * struct stackframe - an active function, as Linux has it for this architecture
 * @fp, @sp, @lr, @pc:	its registers; fp is r11 in A32, and r7 in T32
 * @lr_addr:		where its callee has stored the return address
 */
struct stackframe {
	unsigned long fp;
	unsigned long sp;
	unsigned long lr;
	unsigned long pc;
	unsigned long *lr_addr;
};

#ifdef __thumb__

/*
 * Where a function has stored its caller's registers, in one word, from bit 0 on and in words:
 *
 *   3 bits	how far below lr, or below the caller's sp without it, r7 lies; 0: it is not stored
 *   3 bits	how far below the caller's sp lr lies; 0: it is not stored
 *   1 bit	the caller's sp is above r7, and not above sp
 *   the rest	how far
 */
#define LOCATION_REGISTER	7
#define LOCATION_LR_SHIFT	3
#define LOCATION_BY_R7		(1u << 6)
#define LOCATION_CFA_SHIFT	7
#define LOCATION_NONE		~0u

/*
 * A cache of locations, as reading a table takes a thousand instructions or more. A word has
 * LOCATION_BITS of the location and, above, the bits of the address that are not in its index. No
 * code is at address 0.
 */
#define KEPT_LOCATIONS		4096
#define LOCATION_BITS		13

extern u32 kept_locations[KEPT_LOCATIONS];

static __always_inline u32 *kept_location(unsigned long pc)
{
	return &kept_locations[pc / 2 % KEPT_LOCATIONS];
}

/**
 * unwind_location - read the location for an address from the tables, and cache it; or
 * LOCATION_NONE
 */
u32 unwind_location(unsigned long pc);

/**
 * unwind_frame - from a function to its caller, by the tables (arch/arm/unwind_frame.c)
 *
 * A function that has not stored lr leaves lr and lr_addr as they are. Returns a negative number if
 * there is no table for pc.
 */
static __always_inline int unwind_frame(struct stackframe *frame)
{
	u32 location = READ_ONCE(*kept_location(frame->pc));
	unsigned long *cfa, lr, r7;

	if (likely(!((location ^ frame->pc) >> LOCATION_BITS)))
		location %= 1u << LOCATION_BITS;
	else
		location = unwind_location(frame->pc);
	if (unlikely(location == LOCATION_NONE))
		return -EINVAL;
	cfa = (unsigned long *)(location & LOCATION_BY_R7 ? frame->fp : frame->sp);
	cfa += location >> LOCATION_CFA_SHIFT;
	lr = location >> LOCATION_LR_SHIFT & LOCATION_REGISTER;
	r7 = location & LOCATION_REGISTER;
	if (lr) {
		frame->lr_addr = cfa - lr;
		frame->lr = *frame->lr_addr;
	}
	if (r7)
		frame->fp = *(cfa - lr - r7);
	frame->sp = (unsigned long)cfa;
	frame->pc = frame->lr;
	return 0;
}

#else

/*
 * From a function to its caller. With gcc, every function has a frame as the APCS has it, and fp
 * points to the last of its four words: the caller's fp, sp at the function's entry, the return
 * address, and pc.
 */
static inline int unwind_frame(struct stackframe *frame)
{
#ifdef __clang__
#error "The frames of clang do not say where the stack was at the entry of a function"
#endif
	unsigned long *last = (unsigned long *)frame->fp;

	frame->lr_addr = last - 1;
	frame->lr = frame->pc = last[-1];
	frame->sp = last[-2];
	frame->fp = last[-3];
	return 0;
}

#endif
#endif
