/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MEMORY_H
#define _COMPAT_LINUX_MEMORY_H

/* One CPU changes text, and it is not interrupted: there is nobody to be kept away. */
#define text_mutex
#define mutex_lock(mutex)
#define mutex_unlock(mutex)
#define __acquires(lock)
#define __releases(lock)

#endif
