/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte is the number of the name. */
#include "fuzz.h"

#include <errno.h>

#include "base/hostlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char name[64], *list;
	int rc;

	if (n == 0)
		return 0;
	list = fuzz_text(data + 1, n - 1);
	rc = lf_hostlist_at(list, data[0] == 255 ? UINT32_MAX : data[0], name,
			    sizeof(name));
	MUST(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	if (rc == 0)
		MUST(*name && strlen(name) < sizeof(name) &&
		     !strpbrk(name, "[],"));
	free(list);
	return 0;
}
