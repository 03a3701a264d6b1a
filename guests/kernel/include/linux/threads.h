/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_THREADS_H
#define _LINUX_THREADS_H

#ifndef NR_CPUS
#define NR_CPUS 1
#endif

#endif
