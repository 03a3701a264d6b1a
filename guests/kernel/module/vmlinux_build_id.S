/* SPDX-License-Identifier: MIT */
/*
 * A part of every module: the build id of its kernel. The build writes that kernel's note to a
 * file; before the id it has three words and the name "GNU".
 */
	.section .rodata, "a", %progbits
	.balign	4
	.global	__vmlinux_build_id
	.type	__vmlinux_build_id, %object
__vmlinux_build_id:
	.incbin	"vmlinux.build-id", 16
	.size	__vmlinux_build_id, . - __vmlinux_build_id
