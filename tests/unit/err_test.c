/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/err.h"

static void nobody_listens(void **state)
{
	assert_int_equal(lf_err(NULL, -EIO, "%s", "x"), -EIO);
	assert_int_equal(lf_err_wrap(NULL, -EIO, "%s", "x"), -EIO);
}

static void too_long_is_cut(void **state)
{
	char big[2 * LF_ERR_MAX];
	struct lf_err e;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(lf_err(&e, -EPERM, "%s", big), -EPERM);
	assert_int_equal(strlen(e.text), LF_ERR_MAX - 1);
	assert_int_equal(lf_err_wrap(&e, -EPERM, "%s", "front"), -EPERM);
	assert_int_equal(strlen(e.text), LF_ERR_MAX - 1);
	check_has("wrapped", e.text, "front: xxx");
	assert_int_equal(lf_err_wrap(&e, -EPERM, "%s", big), -EPERM);
	assert_int_equal(strlen(e.text), LF_ERR_MAX - 1);
}

static void context_goes_in_front(void **state)
{
	struct lf_err e = { "" };

	assert_int_equal(lf_err(&e, -ENOENT, "line %d: %s", 7, "no"), -ENOENT);
	assert_int_equal(lf_err_wrap(&e, -EINVAL, "file %s", "a"), -EINVAL);
	assert_string_equal(e.text, "file a: line 7: no");
}

MAIN(T(nobody_listens), T(too_long_is_cut), T(context_goes_in_front))
