// SPDX-License-Identifier: MIT
/*
 * Programs in user mode: start, system calls and exceptions.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/syscalls.h>
#include <linux/thread.h>
#include <linux/user.h>

#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/user.h>

static u32 stacks_in_use;

static const struct user_program *find_program(const char *name)
{
	const struct user_program *program;

	for (program = __start_user_programs; program < __stop_user_programs; program++)
		if (!strcmp(program->name, name))
			return program;
	panic("there is no program %s", name);
}

static unsigned int take_stack(void)
{
	unsigned int i;

	for (i = 0; i < USER_PROGRAMS; i++)
		if (!(__atomic_fetch_or(&stacks_in_use, 1u << i, __ATOMIC_ACQUIRE) & 1u << i))
			return i;
	panic("more than %d programs at the same time", USER_PROGRAMS);
}

void user_exit(int status)
{
	__atomic_fetch_and(&stacks_in_use, ~(1u << current->user_stack), __ATOMIC_RELEASE);
	thread_exit(status);
}

static notrace long call(const struct pt_regs *regs)
{
	unsigned long arguments[6];
	unsigned long index = syscall_get_nr(regs) - __NR_Linux;

	if (index >= NR_syscalls - __NR_Linux)
		return -ENOSYS;
	syscall_get_arguments(regs, arguments);
	return sys_call_table[index](arguments[0], arguments[1], arguments[2], arguments[3],
				     arguments[4], arguments[5]);
}

/* With tracing disabled a system call only tests the flags twice. */
notrace void do_syscall(struct pt_regs *regs)
{
	if (traced_syscall())
		syscall_trace_enter(regs);
	syscall_set_return_value(regs, call(regs));
	if (traced_syscall())
		syscall_trace_leave(regs);
}

notrace void prepare_return_to_user(void)
{
	for (;;) {
		raw_local_irq_disable();
		if (likely(!(READ_ONCE(current->flags) & _TIF_NEED_RESCHED)))
			break;
		raw_local_irq_enable();
		schedule();
	}
}

void user_exception(struct pt_regs *regs, const char *what)
{
	printk("%s[%d]: killed at %#lx: %s\n", current->comm, current->pid,
	       instruction_pointer(regs), what);
	user_exit(USER_KILLED);
}

/* Not traced, because it never returns: the next user of this stack is a system call. */
static notrace int user_thread(void *argument)
{
	const struct user_program *program = argument;

	current->user_stack = take_stack();
	arch_enter_user((unsigned long)program->entry,
			USER_BASE + USER_SIZE - current->user_stack * USER_STACK_SIZE);
}

struct thread_info *user_program_start(const char *name)
{
	const struct user_program *program = find_program(name);

	return kthread_run(user_thread, (void *)program, name);
}

int run_user_program(const char *name)
{
	return kthread_join(user_program_start(name));
}
