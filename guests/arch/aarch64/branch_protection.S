/* SPDX-License-Identifier: MIT */
/*
 * Branch target identification and pointer authentication, for kernels built with
 * -mbranch-protection on a CPU with these features. On other CPUs the instructions are nops.
 */
#include <asm/module.h>
#include <asm/sysreg.h>
#include <linux/linkage.h>

/* Offsets in page_table (8 bytes for each GiB) of the kernel's text and modules' text. */
#define TEXT_ENTRY	((0x40000000 >> 30) * 8)
#define MODULES_ENTRY	((MODULES_ALIAS >> 30) * 8)

	/* Go to \target unless \field of ID register \register is implemented. */
	.macro	branch_without register, field, target
	mrs	x2, \register
	ubfx	x2, x2, #\field, #4
	cbz	x2, \target
	.endm

	/*
	 * Write the next pseudo-random number to each of two registers. x3 = state, x4 = an odd
	 * number.
	 */
	.macro	set_key low, high
	.irp	register, \low, \high
	add	x3, x3, x4
	eor	x3, x3, x3, lsr #29
	mul	x3, x3, x4
	eor	x5, x3, x3, lsr #32
	msr	\register, x5
	.endr
	.endm

	.text
/*
 * branch_protection_init - enable both; called on every CPU with the MMU off and without a stack
 *
 * Out: x0 = bits for SCTLR_EL1. Uses x2..x5.
 *
 * All CPUs have the same keys, from the counter at the boot of the first one, because threads
 * migrate with signed addresses on their stacks. User mode has the same keys. They differ between
 * boots, but are not secret; with -icount every run is the same.
 */
SYM_FUNC_START(branch_protection_init)
	mov	x0, #0
#ifdef __ARM_FEATURE_BTI_DEFAULT
	branch_without id_aa64pfr1_el1, ID_AA64PFR1_BT, 1f
	adrp	x2, page_table
	add	x2, x2, #:lo12:page_table
	ldr	x3, [x2, #TEXT_ENTRY]
	orr	x3, x3, #DESC_GP
	str	x3, [x2, #TEXT_ENTRY]
	ldr	x3, [x2, #MODULES_ENTRY]
	orr	x3, x3, #DESC_GP
	str	x3, [x2, #MODULES_ENTRY]
	dsb	sy
	orr	x0, x0, #SCTLR_BT1
1:
#endif
#ifdef __ARM_FEATURE_PAC_DEFAULT
	mrs	x2, id_aa64isar1_el1
	mov	x3, #(0xf << ID_AA64ISAR1_APA) | (0xf << ID_AA64ISAR1_API)
	tst	x2, x3
	b.ne	2f
	branch_without SYS_ID_AA64ISAR2_EL1, ID_AA64ISAR2_APA3, 3f
2:	adrp	x2, key_seed
	ldr	x3, [x2, #:lo12:key_seed]
	cbnz	x3, 4f
	mrs	x3, cntvct_el0
	orr	x3, x3, #1
	str	x3, [x2, #:lo12:key_seed]
4:	ldr	x4, =0x9e3779b97f4a7c15	/* 2^64 / golden ratio: bits without a pattern */
	set_key	SYS_APIAKEYLO_EL1, SYS_APIAKEYHI_EL1
	set_key	SYS_APIBKEYLO_EL1, SYS_APIBKEYHI_EL1
	set_key	SYS_APDAKEYLO_EL1, SYS_APDAKEYHI_EL1
	set_key	SYS_APDBKEYLO_EL1, SYS_APDBKEYHI_EL1
	ldr	x2, =SCTLR_ENIA | SCTLR_ENIB | SCTLR_ENDA | SCTLR_ENDB
	orr	x0, x0, x2
3:
#endif
	ret
SYM_FUNC_END(branch_protection_init)

#ifdef __ARM_FEATURE_PAC_DEFAULT
	.data				/* not .bss, which is cleared later */
	.balign	8
key_seed:
	.quad	0
#endif
