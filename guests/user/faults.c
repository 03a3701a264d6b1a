// SPDX-License-Identifier: MIT
/* Programs that fault. None of them reaches its end. */
#include "user.h"

/* An unmapped address. */
USER_PROGRAM(null_store)
{
	int *volatile null = (int *)8;

	*null = 1;
	return 1;
}

/* The kernel's memory: the only kernel symbol available to programs. */
extern const char _text[];

USER_PROGRAM(kernel_load)
{
	return *(const volatile char *)_text | 1;
}

USER_PROGRAM(kernel_store)
{
	*(volatile char *)_text = 0;
	return 1;
}

USER_PROGRAM(kernel_jump)
{
	void (*volatile function)(void) = (void (*)(void))_text;

	function();
	return 1;
}

USER_PROGRAM(bad_instruction)
{
	/* An undefined instruction on all architectures. */
	static const unsigned int code[] = { 0x28, 0x28 };
	void (*function)(void) = (void (*)(void))code;

	function();
	return 1;
}
