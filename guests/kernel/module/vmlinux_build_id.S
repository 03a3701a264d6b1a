/* SPDX-License-Identifier: MIT */
/*
 * A part of every module: which kernel it is linked against. The build writes that kernel's note to
 * a file; in front of the number lie three words and the name "GNU".
 */
	.section .rodata, "a", %progbits
	.balign	4
	.global	__vmlinux_build_id
	.type	__vmlinux_build_id, %object
__vmlinux_build_id:
	.incbin	"vmlinux.build-id", 16
	.size	__vmlinux_build_id, . - __vmlinux_build_id
