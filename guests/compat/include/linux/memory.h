/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MEMORY_H
#define _COMPAT_LINUX_MEMORY_H

/* Only one CPU changes text, and it is not interrupted, so no lock is needed. */
#define text_mutex
#define mutex_lock(mutex)
#define mutex_unlock(mutex)
#define __acquires(lock)
#define __releases(lock)

#endif
