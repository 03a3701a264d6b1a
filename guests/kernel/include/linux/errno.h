/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_ERRNO_H
#define _LINUX_ERRNO_H

#define ENOENT	2
#define EIO	5
#define EBADF	9
#define ENOMEM	12
#define EFAULT	14
#define EBUSY	16
#define EEXIST	17
#define EINVAL	22
#define ERANGE	34
#define ENOSYS	38

#endif
