/* SPDX-License-Identifier: MIT */
#ifndef _SYSCALL_H
#define _SYSCALL_H

/*
 * System calls of Linux: their numbers, how they are made, and where a program begins, for the
 * ABIs of the small kernels.  Numbers: include/uapi/asm-generic/unistd.h for arm64, and
 * arch/mips/kernel/syscalls/ for MIPS.
 */

#if defined(__aarch64__)

enum {
	NR_mount = 40, NR_openat = 56, NR_close = 57, NR_read = 63, NR_write = 64, NR_reboot = 142,
	NR_getppid = 173, NR_finit_module = 273,
};

static inline long syscall5(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc	#0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}

__asm__(".globl _start\n"
	"_start:\n"
	"	mov	x0, sp\n"
	"	bl	init_main\n");

#elif defined(__mips__)

#if _MIPS_SIM == _ABIO32
enum {
	NR_read = 4003, NR_write = 4004, NR_close = 4006, NR_mount = 4021, NR_getppid = 4064,
	NR_reboot = 4088, NR_openat = 4288, NR_finit_module = 4348,
};
/* The fifth argument is on the stack, above the room for the first four. */
#define FIFTH_ARGUMENT "	addiu	$sp, $sp, -24\n	sw	%[fifth], 16($sp)\n"
#define AFTER_CALL "	addiu	$sp, $sp, 24\n"
#define ALIGN_STACK "	addiu	$sp, $sp, -32\n"
#else
enum {
	NR_read = 5000, NR_write = 5001, NR_close = 5003, NR_getppid = 5108, NR_mount = 5160,
	NR_reboot = 5164, NR_openat = 5247, NR_finit_module = 5307,
};
#define FIFTH_ARGUMENT "	move	$8, %[fifth]\n"
#define AFTER_CALL ""
#define ALIGN_STACK ""
#endif

static inline long syscall5(long number, long a, long b, long c, long d, long e)
{
	register long v0 __asm__("$2") = number;
	register long a0 __asm__("$4") = a;
	register long a1 __asm__("$5") = b;
	register long a2 __asm__("$6") = c;
	register long a3 __asm__("$7") = d;

	__asm__ volatile(FIFTH_ARGUMENT
			 "	syscall\n"
			 AFTER_CALL
			 : "+r"(v0), "+r"(a3)
			 : "r"(a0), "r"(a1), "r"(a2), [fifth] "r"(e)
			 : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15",
			   "$24", "$25", "hi", "lo", "memory");
	/* $7 says whether it failed. */
	return a3 ? -v0 : v0;
}

__asm__(".globl _start\n"
	"_start:\n"
	"	move	$4, $sp\n"
	ALIGN_STACK
	"	jal	init_main\n");

#endif

#endif
