// SPDX-License-Identifier: MIT
/* What malloc needs of the kernel: see lib/libc.h. */
#include <linux/spinlock.h>

#include "../lib/libc.h"

static spinlock_t lock;

notrace void heap_lock(void)
{
	spin_lock(&lock);
}

notrace void heap_unlock(void)
{
	spin_unlock(&lock);
}
