/* SPDX-License-Identifier: Apache-2.0 */
/* clock - monotonic time, for intervals. */
#ifndef LF_CLOCK_H
#define LF_CLOCK_H

#include <stdint.h>

uint64_t lf_clock_ms(void);

#endif
