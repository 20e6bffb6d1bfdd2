/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cred.h"

#include <errno.h>
#include <munge.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/limits.h"

static bool have_secret;
static unsigned char secret_key[crypto_secretbox_KEYBYTES];

int cred_open(const char *secret, struct lf_err *e)
{
	size_t n = 0;

	if (sodium_init() < 0)
		return lf_err(e, -EIO, "libsodium could not start");
	have_secret = *secret != '\0';
	if (have_secret &&
	    (sodium_hex2bin(secret_key, sizeof(secret_key), secret,
			    strlen(secret), NULL, &n, NULL) < 0 ||
	     n != sizeof(secret_key)))
		return lf_err(e, -EINVAL, "secret: expected 64 hex digits");
	return 0;
}

static int munge_seal(const char *text, char **out, struct lf_err *e)
{
	munge_ctx_t ctx = munge_ctx_create();
	munge_err_t rc = EMUNGE_NO_MEMORY;

	if (ctx)
		rc = munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, geteuid());
	if (rc == EMUNGE_SUCCESS)
		rc = munge_encode(out, ctx, text, (int)strlen(text));
	if (rc != EMUNGE_SUCCESS)
		(void)lf_err(e, -EACCES, "munge: %s: is munged running?",
			     ctx && munge_ctx_strerror(ctx) ?
				     munge_ctx_strerror(ctx) :
				     munge_strerror(rc));
	munge_ctx_destroy(ctx);
	return rc == EMUNGE_SUCCESS ? 0 : -EACCES;
}

static int munge_unseal(const char *sealed, char *text, size_t n,
			struct lf_err *e)
{
	void *data = NULL;
	int len = 0, ok = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid;
	munge_err_t rc = munge_decode(sealed, NULL, &data, &len, &uid, &gid);

	if (rc == EMUNGE_SUCCESS && uid == geteuid() && len >= 0 &&
	    (size_t)len < n) {
		memcpy(text, data, (size_t)len);
		text[len] = '\0';
		ok = 1;
	}
	free(data);
	if (ok)
		return 0;
	return lf_err(e, -EACCES, "munge: %s", rc == EMUNGE_SUCCESS ?
						       "made by another user" :
						       munge_strerror(rc));
}

static int box_seal(const char *text, char **out, struct lf_err *e)
{
	unsigned char box[crypto_secretbox_NONCEBYTES +
			  crypto_secretbox_MACBYTES + LF_MSG_MAX];
	size_t n = strlen(text), len, size;

	if (n > LF_MSG_MAX)
		return lf_err(e, -EMSGSIZE, "credential: too long");
	randombytes_buf(box, crypto_secretbox_NONCEBYTES);
	(void)crypto_secretbox_easy(box + crypto_secretbox_NONCEBYTES,
				    (const unsigned char *)text, n, box,
				    secret_key);
	len = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + n;
	size = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	*out = malloc(size);
	if (!*out)
		return lf_err(e, -ENOMEM, "credential: no memory");
	(void)sodium_bin2base64(*out, size, box, len,
				sodium_base64_VARIANT_ORIGINAL);
	return 0;
}

static int box_unseal(const char *sealed, char *text, size_t n,
		      struct lf_err *e)
{
	unsigned char box[crypto_secretbox_NONCEBYTES +
			  crypto_secretbox_MACBYTES + LF_MSG_MAX];
	size_t len = 0, over = crypto_secretbox_NONCEBYTES +
			       crypto_secretbox_MACBYTES;

	if (sodium_base642bin(box, sizeof(box), sealed, strlen(sealed), NULL,
			      &len, NULL,
			      sodium_base64_VARIANT_ORIGINAL) < 0 ||
	    len < over || len - over >= n ||
	    crypto_secretbox_open_easy((unsigned char *)text,
				       box + crypto_secretbox_NONCEBYTES,
				       len - crypto_secretbox_NONCEBYTES, box,
				       secret_key) < 0)
		return lf_err(e, -EACCES, "credential: not of this step");
	text[len - over] = '\0';
	return 0;
}

int cred_seal(const char *text, char **out, struct lf_err *e)
{
	return have_secret ? box_seal(text, out, e) : munge_seal(text, out, e);
}

int cred_unseal(const char *sealed, char *text, size_t n, struct lf_err *e)
{
	return have_secret ? box_unseal(sealed, text, n, e) :
			     munge_unseal(sealed, text, n, e);
}
