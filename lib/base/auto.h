/* SPDX-License-Identifier: Apache-2.0 */
/* auto - clean-up by type: a variable so marked releases what it holds when it
 * goes out of scope; lf_steal hands it on instead. */
#ifndef LF_AUTO_H
#define LF_AUTO_H

#include <stdlib.h>
#include <unistd.h>

static inline void lf_auto_free(void *p)
{
	free(*(void **)p);
}

static inline void lf_auto_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

#define lf_autofree  __attribute__((cleanup(lf_auto_free)))
#define lf_autoclose __attribute__((cleanup(lf_auto_close)))

/* The pointer's value; the variable is NULL afterwards. */
#define lf_steal(p)                             \
	({                                      \
		__typeof__(*(p)) lf_val = *(p); \
		*(p) = NULL;                    \
		lf_val;                         \
	})

static inline int lf_steal_fd(int *fd)
{
	int val = *fd;

	*fd = -1;
	return val;
}

#endif
