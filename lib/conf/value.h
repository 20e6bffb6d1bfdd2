/* SPDX-License-Identifier: Apache-2.0 */
/* value - forms of configuration values beyond plain numbers; strict as
 * base/parse.h: 0 and *out set, or -EINVAL or -ERANGE and *out left alone. */
#ifndef LF_VALUE_H
#define LF_VALUE_H

#include <stdint.h>

/* Bytes: digits with an optional K, M, G or T (powers of 1024). */
int lf_value_size(const char *s, uint64_t *out);
/* "LOW-HIGH" or "N": ports, 1 .. 65535, LOW <= HIGH. */
int lf_value_ports(const char *s, uint16_t *low, uint16_t *high);

#endif
