/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/limits.h"
#include "orchestrator/cred.h"

static const char key[] = "00112233445566778899aabbccddeeff"
			  "00112233445566778899aabbccddeeff";
static const char other[] = "10112233445566778899aabbccddeeff"
			    "00112233445566778899aabbccddeeff";

static void bad_secrets(void **state)
{
	static const char *const rows[] = {
		"0",
		"00",
		"xx",
		"00112233445566778899aabbccddeeff",
		"00112233445566778899aabbccddeeff"
		"00112233445566778899aabbccddeeff00",
		"00112233445566778899aabbccddeeff"
		"00112233445566778899aabbccddeefg",
		"00112233445566778899aabbccddeeff"
		"00112233445566778899aabbccddeef",
	};
	struct lf_err e;

	for (size_t i = 0; i < COUNT(rows); i++) {
		check_int(rows[i], cred_open(rows[i], &e), -EINVAL);
		check_has(rows[i], e.text, "64 hex digits");
	}
}

static void damaged(void **state)
{
	char *sealed, text[64];
	struct lf_err e;
	size_t n;

	assert_int_equal(cred_open(key, NULL), 0);
	assert_int_equal(cred_unseal("", text, sizeof(text), &e), -EACCES);
	assert_int_equal(cred_unseal("!", text, sizeof(text), &e), -EACCES);
	assert_int_equal(cred_unseal("AAAA", text, sizeof(text), &e), -EACCES);
	assert_int_equal(cred_seal("secret words", &sealed, &e), 0);
	n = strlen(sealed);
	for (size_t i = 0; i < n; i++) {
		char was = sealed[i];

		sealed[i] = was == 'A' ? 'B' : 'A';
		check_int("one byte",
			  cred_unseal(sealed, text, sizeof(text), &e), -EACCES);
		sealed[i] = '\0';
		check_int("cut", cred_unseal(sealed, text, sizeof(text), &e),
			  -EACCES);
		sealed[i] = was;
	}
	check_int("no room", cred_unseal(sealed, text, 12, &e), -EACCES);
	check_int("just room", cred_unseal(sealed, text, 13, &e), 0);
	assert_string_equal(text, "secret words");
	assert_int_equal(cred_open(other, NULL), 0);
	check_int("another step's", cred_unseal(sealed, text, sizeof(text), &e),
		  -EACCES);
	free(sealed);
}

static void sealed_by_secret(void **state)
{
	static char big[LF_MSG_MAX + 2], back[LF_MSG_MAX + 1];
	char *one, *two, text[64] = "x";

	memset(big, 'b', LF_MSG_MAX + 1);
	assert_int_equal(cred_open(key, NULL), 0);
	assert_int_equal(cred_seal(big, &one, NULL), -EMSGSIZE);
	big[LF_MSG_MAX] = '\0';
	assert_int_equal(cred_seal(big, &one, NULL), 0);
	assert_int_equal(cred_unseal(one, back, sizeof(back), NULL), 0);
	assert_string_equal(back, big);
	free(one);
	assert_int_equal(cred_seal("", &one, NULL), 0);
	assert_int_equal(cred_seal("", &two, NULL), 0);
	assert_string_not_equal(one, two); /* a nonce each */
	assert_null(strstr(one, "secret"));
	assert_int_equal(cred_unseal(one, text, sizeof(text), NULL), 0);
	assert_string_equal(text, "");
	free(one);
	free(two);
}

static void sealed_by_munge(void **state)
{
	char *sealed = NULL, text[64];
	struct lf_err e;

	assert_int_equal(cred_open("", NULL), 0);
	NEEDS(cred_seal("words", &sealed, &e) == 0, "no munged answers");
	assert_int_equal(cred_unseal("MUNGE:rubbish:", text, sizeof(text), &e),
			 -EACCES);
	assert_int_equal(cred_unseal(sealed, text, sizeof(text), &e), 0);
	assert_string_equal(text, "words");
	check_int("replayed", cred_unseal(sealed, text, sizeof(text), &e),
		  -EACCES);
	free(sealed);
}

static int seal_as_nobody(void *arg)
{
	int *out = arg;
	char *sealed;

	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
	    cred_seal("words", &sealed, NULL) < 0)
		return 1;
	return write(out[1], sealed, strlen(sealed) + 1) > 0 ? 0 : 2;
}

static void made_by_another_user(void **state)
{
	char *mine = NULL, sealed[2048], text[64];
	struct lf_err e;
	int pipes[2];

	assert_int_equal(cred_open("", NULL), 0);
	NEEDS(is_root(), "only root can become somebody else");
	NEEDS(cred_seal("words", &mine, &e) == 0, "no munged answers");
	free(mine);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(in_child(seal_as_nobody, pipes), 0);
	assert_true(read(pipes[0], sealed, sizeof(sealed)) > 0);
	assert_int_equal(cred_unseal(sealed, text, sizeof(text), &e), -EACCES);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}

MAIN(T(bad_secrets), T(damaged), T(sealed_by_secret), T(sealed_by_munge),
     T(made_by_another_user))
