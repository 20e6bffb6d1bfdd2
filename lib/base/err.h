/* SPDX-License-Identifier: Apache-2.0 */
/* err - the one line that a person reads when something failed.
 *
 * Functions return 0 or -errno and take a last `struct lf_err *`, which may be
 * NULL.  On success the text is untouched.  lf_err returns its code, so that it
 * fits in a return statement; lf_err_wrap puts the caller's context in front.
 */
#ifndef LF_ERR_H
#define LF_ERR_H

enum {
	LF_ERR_MAX = 512 /* bytes; two paths and a sentence */
};

struct lf_err {
	char text[LF_ERR_MAX];
};

int lf_err(struct lf_err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int lf_err_wrap(struct lf_err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
