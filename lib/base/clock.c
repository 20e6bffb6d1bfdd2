/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/clock.h"

#include <time.h>

uint64_t lf_clock_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
