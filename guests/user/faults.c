// SPDX-License-Identifier: MIT
/* Programs that do what they must not. None of them comes to its end. */
#include "user.h"

/* Where nothing is mapped for anybody. */
USER_PROGRAM(null_store)
{
	int *volatile null = (int *)8;

	*null = 1;
	return 1;
}

/* The kernel: the one name of it that programs may use. */
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
	/* No instruction on any of the architectures. */
	static const unsigned int code[] = { 0x28, 0x28 };
	void (*function)(void) = (void (*)(void))code;

	function();
	return 1;
}
