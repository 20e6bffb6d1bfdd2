/* SPDX-License-Identifier: Apache-2.0 */
/* elf - a look into a shared object without loading it.
 *
 * 64-bit little-endian only.  The file is anybody's: every offset and size is
 * checked against it, and what is read is bounded.  -ENOEXEC: not such a file.
 */
#ifndef LF_COMM_ELF_H
#define LF_COMM_ELF_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Where the section lies.  -ENOENT: there is none of that name. */
int lf_elf_section(int fd, const char *name, off_t *at, uint64_t *size);
/* The first 4 bytes of the object that a dynamic symbol names. */
int lf_elf_u32(int fd, const char *symbol, uint32_t *out);

#endif
