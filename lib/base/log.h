/* SPDX-License-Identifier: Apache-2.0 */
/* log - one logfmt line an event, for daemons and commands; libraries do not.
 *
 * A line: time, level, then area and message.  One sink, an fd, which the
 * caller owns (default 2).  Control characters in a message become '?', so
 * that one event is always one line.  Warnings are limited in number, and what
 * was suppressed is counted.
 */
#ifndef LF_LOG_H
#define LF_LOG_H

enum lf_log_level { LF_LOG_ERROR, LF_LOG_WARN, LF_LOG_INFO, LF_LOG_DEBUG };

void lf_log_open(int fd, enum lf_log_level level);
/* -EINVAL unless ERROR, WARN, INFO or DEBUG. */
int lf_log_parse_level(const char *s, enum lf_log_level *out);
void lf_log(enum lf_log_level level, const char *area, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
