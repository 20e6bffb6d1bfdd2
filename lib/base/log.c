/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/clock.h"

enum {
	WARN_BURST = 100,
	WARN_REFILL_MS = 10000
};

static unsigned long suppressed;
static const char *const names[] = { "ERROR", "WARN", "INFO", "DEBUG" };
static int sink = STDERR_FILENO;
static enum lf_log_level limit = LF_LOG_INFO;

void lf_log_open(int fd, enum lf_log_level level)
{
	sink = fd;
	limit = level;
}

int lf_log_parse_level(const char *s, enum lf_log_level *out)
{
	for (int i = LF_LOG_ERROR; s && i <= LF_LOG_DEBUG; i++) {
		if (strcasecmp(s, names[i]) == 0) {
			*out = (enum lf_log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* "2026-11-30T12:00:00.123456Z" */
static void wall_clock(char *buf, size_t n)
{
	struct timespec t;
	struct tm tm;
	size_t len;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	len = strftime(buf, n, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(buf + len, n - len, ".%06ldZ", t.tv_nsec / 1000);
}

/* Warnings are what strangers can provoke: a hundred at once, then one in ten
 * seconds, so that nobody fills a user's disk. */
static bool spend(void)
{
	static uint64_t full_at; /* ms at which the hundred is whole again */
	uint64_t now = lf_clock_ms();

	if (full_at < now)
		full_at = now;
	if (full_at - now >= WARN_BURST * WARN_REFILL_MS)
		return false;
	full_at += WARN_REFILL_MS;
	return true;
}

void lf_log(enum lf_log_level level, const char *area, const char *fmt, ...)
{
	char line[1024], when[32];
	va_list ap;
	size_t n;

	if (level > limit || sink < 0)
		return;
	if (level == LF_LOG_WARN && !spend()) {
		suppressed++;
		return;
	}
	wall_clock(when, sizeof(when));
	n = (size_t)snprintf(line, sizeof(line), "%s %-5s %s: ", when,
			     names[level], area);
	if (suppressed > 0)
		n += (size_t)snprintf(line + n, sizeof(line) - n,
				      "(%lu warnings suppressed) ", suppressed);
	suppressed = 0;
	va_start(ap, fmt);
	(void)vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	lf_clean(line + n, "");
	n += strlen(line + n);
	line[n++] = '\n';
	/* A full disk must not stop a job: the line is lost. */
	if (write(sink, line, n) < 0)
		return;
}
