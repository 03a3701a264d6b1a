// SPDX-License-Identifier: MIT
/*
 * Programs in user mode: how they begin, and how they are killed.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/syscalls.h>
#include <linux/thread.h>
#include <linux/user.h>

#include <asm/ptrace.h>
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

void user_exception(struct pt_regs *regs, const char *what)
{
	printk("%s[%d]: killed at %#lx: %s\n", current->comm, current->pid,
	       instruction_pointer(regs), what);
	user_exit(USER_KILLED);
}

/* Not traced, because it never returns: the next that happens on this stack is a system call. */
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
