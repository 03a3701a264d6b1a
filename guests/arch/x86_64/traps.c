// SPDX-License-Identifier: MIT
/* Gates and stacks for exceptions, and the reports of fatal ones. */
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/traps.h>
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/printk.h>
#include <linux/threads.h>
#include <linux/traps.h>
#include <linux/types.h>

#define VECTOR_BREAKPOINT	3
#define VECTOR_DOUBLE_FAULT	8
#define VECTOR_SIZE		16
#define GATE_INTERRUPT		0x8e		/* present, for the kernel; masks interrupts */
#define GATE_USER		0xee
#define TSS_AVAILABLE		0x89
#define FAULT_STACK_SIZE	8192

struct gate {
	u16 offset_low;
	u16 selector;
	u8 stack;			/* of the TSS's interrupt stack table; 0: the one in use */
	u8 type;
	u16 offset_middle;
	u32 offset_high;
	u32 unused;
};

struct tss {
	u32 unused;
	u64 sp0;			/* the stack of entries from user mode */
	u64 unused_sp[3];
	u64 ist1;
	u64 unused_ist[7];
	u16 unused_last;
	u16 io_map;
} __packed;

_Static_assert(sizeof(struct gate) == 16, "struct gate");
_Static_assert(sizeof(struct tss) == 104, "struct tss");

extern const char vectors[];
extern u64 gdt[];

static struct gate idt[256] __aligned(16);
static struct tss tss[NR_CPUS] __aligned(16);
static u8 fault_stacks[NR_CPUS][FAULT_STACK_SIZE] __aligned(16);

/* AMD64 Architecture Programmer's Manual, volume 2, chapter 8. */
static const char *const exception_names[] = {
	"divide error", "debug", "non-maskable interrupt", "breakpoint", "overflow",
	"bound range exceeded", "invalid opcode", "device not available", "double fault",
	"coprocessor segment overrun", "invalid TSS", "segment not present", "stack fault",
	"general protection fault", "page fault", "reserved", "x87 floating-point error",
	"alignment check", "machine check", "SIMD floating-point error",
};

const char *exception_name(unsigned long vector)
{
	if (vector >= sizeof(exception_names) / sizeof(exception_names[0]))
		return "reserved";
	return exception_names[vector];
}

void cpu_init_traps(unsigned int cpu)
{
	struct {
		u16 limit;
		u64 base;
	} __packed pointer = { sizeof(idt) - 1, (unsigned long)idt };
	u64 base = (unsigned long)&tss[cpu];
	u64 *descriptor = gdt + TSS_SELECTOR(cpu) / 8;

	tss[cpu].ist1 = (unsigned long)(fault_stacks[cpu] + FAULT_STACK_SIZE);
	tss[cpu].io_map = sizeof(struct tss);
	descriptor[0] = (sizeof(struct tss) - 1) | (base & 0xffffff) << 16 |
			(u64)TSS_AVAILABLE << 40 | (base >> 24 & 0xff) << 56;
	descriptor[1] = base >> 32;
	__asm__ volatile("lidt %0\n\tltr %1" : : "m"(pointer), "r"((u16)TSS_SELECTOR(cpu)));
}

void set_user_entry_stack(unsigned int cpu, void *stack_end)
{
	tss[cpu].sp0 = (unsigned long)stack_end;
}

void arch_trap_init(void)
{
	unsigned long offset = (unsigned long)vectors;
	int i;

	for (i = 0; i < 256; i++, offset += VECTOR_SIZE) {
		idt[i] = (struct gate) {
			.offset_low = offset,
			.selector = KERNEL_CS,
			.stack = i == VECTOR_DOUBLE_FAULT,
			.type = i == VECTOR_BREAKPOINT || i == USER_CALL_VECTOR ? GATE_USER :
										  GATE_INTERRUPT,
			.offset_middle = offset >> 16,
			.offset_high = offset >> 32,
		};
	}
	cpu_init_traps(0);
}

static void print_registers(const struct pt_regs *regs)
{
	console_register("rax", regs->ax, false);
	console_register("rbx", regs->bx, false);
	console_register("rcx", regs->cx, true);
	console_register("rdx", regs->dx, false);
	console_register("rsi", regs->si, false);
	console_register("rdi", regs->di, true);
	console_register("rbp", regs->bp, false);
	console_register("rsp", regs->sp, false);
	console_register("r8", regs->r8, true);
	console_register("r9", regs->r9, false);
	console_register("r10", regs->r10, false);
	console_register("r11", regs->r11, true);
	console_register("r12", regs->r12, false);
	console_register("r13", regs->r13, false);
	console_register("r14", regs->r14, true);
	console_register("r15", regs->r15, false);
	console_register("rflags", regs->flags, false);
	console_register("error", regs->error, true);
}

/*
 * unhandled_exception() - report an exception and stop
 * @regs: the interrupted registers
 * @vector: which one, and its error code
 */
__noreturn void unhandled_exception(struct pt_regs *regs, unsigned long vector,
				    unsigned long error);

noinline void unhandled_exception(struct pt_regs *regs, unsigned long vector, unsigned long error)
{
	const char *reason = exception_name(vector);
	unsigned long address;

	/* For a debugger: the base of fs is not used otherwise. */
	__asm__ volatile("wrmsr" : : "c"(MSR_FS_BASE), "a"((u32)error), "d"((u32)vector));

	_Static_assert(sizeof(*regs) == S_FRAME_SIZE, "S_FRAME_SIZE");
	_Static_assert(offsetof(struct pt_regs, r10) == S_R10, "S_R10");
	_Static_assert(offsetof(struct pt_regs, ax) == S_AX, "S_AX");
	_Static_assert(offsetof(struct pt_regs, bp) == S_BP, "S_BP");
	_Static_assert(offsetof(struct pt_regs, bx) == S_BX, "S_BX");
	_Static_assert(offsetof(struct pt_regs, syscallno) == S_SYSCALLNO, "S_SYSCALLNO");
	_Static_assert(offsetof(struct pt_regs, vector) == S_VECTOR, "S_VECTOR");
	_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "S_PC");
	_Static_assert(offsetof(struct pt_regs, sp) == S_SP, "S_SP");

	oops_enter(reason, regs);
	print_registers(regs);
	__asm__ volatile("movq %%cr2, %0" : "=r"(address));
	console_register("cr2", address, true);
	die(reason, regs);
}

/* Provided by a port that patches text by way of breakpoints; 0: not a breakpoint of the port. */
int __weak ftrace_int3_handler(struct pt_regs *regs)
{
	return 0;
}

/* Called by entry.S for exceptions of the kernel. */
void kernel_exception(struct pt_regs *regs);

void kernel_exception(struct pt_regs *regs)
{
	if (regs->vector == VECTOR_BREAKPOINT && ftrace_int3_handler(regs))
		return;
	unhandled_exception(regs, regs->vector, regs->error);
}
