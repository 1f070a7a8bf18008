/* SPDX-License-Identifier: GPL-2.0-only */
/* Owners that clean up when they go out of scope; take_* hands ownership on. */
#ifndef ACLTAP_UTIL_CLEANUP_H
#define ACLTAP_UTIL_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _free_ __attribute__((cleanup(cleanup_free)))
#define _fd_ __attribute__((cleanup(cleanup_fd))) /* initialise with -1 */
#define _file_ __attribute__((cleanup(cleanup_file)))

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) take_ptr_ = (p);                                                     \
		(p) = NULL;                                                                        \
		take_ptr_;                                                                         \
	})

static inline int take_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

#endif
