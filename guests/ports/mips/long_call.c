// SPDX-License-Identifier: MIT
/* The code of gcc for -pg with -mlong-calls. */
#include "long_call.h"

#define MAX_LENGTH	16

#define LUI_AT		0x3c010000u
#define DADDU_V1_V1_AT	0x0061182du
#define DSLL32_V1_V1_0	0x0003183cu
#define JALR_V1		0x0060f809u
#ifdef CONFIG_64BIT
#define ADD_LOW_V1	0x64630000u		/* daddiu v1, v1, */
#define ADD_LOW_AT	0x64210000u		/* daddiu at, at, */
#else
#define ADD_LOW_V1	0x24630000u		/* addiu v1, v1, */
#endif

/* `move` is or, addu or daddu with zero, depending on the assembler. */
#define IS_MOVE(word, rd, rs)	(((word) & ~0xcu) == ((rs) << 21 | (rd) << 11 | 0x21))
#define REG_AT		1u
#define REG_V0		2u
#define REG_CHAIN	15u
#define REG_RA		31u

/* The form of the instructions that load the address, by the second one, which never changes. */
static int load_length(const volatile u32 *code)
{
	return (code[1] & LUI_MASK) == LUI_AT ? 6 : 2;
}

int long_call_length(const volatile u32 *code)
{
	int i = load_length(code);

	if (!IS_MOVE(code[i], REG_AT, REG_RA))
		return 0;
	while (code[i] != JALR_V1)
		/* With another move the next call begins. */
		if (++i == MAX_LENGTH || IS_MOVE(code[i], REG_AT, REG_RA))
			return 0;
	/* A move of the static chain back from v0 belongs to the call, which has saved it there. */
	return IS_MOVE(code[i + 2], REG_CHAIN, REG_V0) ? i + 3 : i + 2;
}

/* The low half is signed: from 0x8000 on the upper half is one more. */
static u32 upper(unsigned long address)
{
	return (address + 0x8000) >> 16 & 0xffff;
}

int long_call_load(const volatile u32 *code, unsigned long address, u32 *load)
{
	u32 low = address & 0xffff;

#ifdef CONFIG_64BIT
	if (load_length(code) == 6) {
		unsigned long rounded = address + 0x80008000ul;

		load[0] = LUI_V1 | upper(rounded >> 32);
		load[1] = LUI_AT | upper(address);
		load[2] = ADD_LOW_V1 | (rounded >> 32 & 0xffff);
		load[3] = ADD_LOW_AT | low;
		load[4] = DSLL32_V1_V1_0;
		load[5] = DADDU_V1_V1_AT;
		return 6;
	}
	/* lui sign-extends: an address that it cannot load differs after truncation. */
	if ((long)(s32)(upper(address) << 16) + (s16)low != (long)address)
		return 0;
#endif
	load[0] = LUI_V1 | upper(address);
	load[1] = ADD_LOW_V1 | low;
	return 2;
}
