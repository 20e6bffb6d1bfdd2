/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "doctor_slurm.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/limits.h"
#include "comm/elf.h"
#include "conf/conf.h"

enum {
	SHOW_MAX = 64 << 10, /* bytes of `scontrol show config`: about 8 KiB */
	INCLUDE_DEPTH = 4,
	WORDS = 8
};

struct slurm {
	struct doctor *d;
	struct site *site;
	char version[64];    /* "22.05.8" */
	char show[SHOW_MAX]; /* "" when slurmctld does not answer */
	char plugstack[PATH_MAX], plugindir[PATH_MAX];
	char plugin[PATH_MAX];	  /* ours, as listed */
	int entries, ours, pyxis; /* how many, and places from 1 */
	int times;		  /* how often we are listed */
};

static bool shown(const struct slurm *s, const char *key, char *buf, size_t n)
{
	size_t m = strlen(key);

	for (const char *p = s->show; *p;) {
		size_t len = strcspn(p, "\n");
		const char *eq = memchr(p, '=', len);

		if (eq && !strncmp(p, key, m) && strchr(" =", p[m])) {
			eq += 1 + strspn(eq + 1, " ");
			(void)snprintf(buf, n, "%.*s", (int)strcspn(eq, "\n"),
				       eq);
			return *buf && strcmp(buf, "(null)") != 0;
		}
		p += len + (p[len] == '\n');
	}
	return false;
}

static bool ask(struct slurm *s)
{
	char *version[] = { "--version", NULL };
	char *show[] = { "show", "config", NULL };
	char out[256];
	int rc = doctor_run(s->d, "scontrol", version, LF_SCONTROL_MS, out,
			    sizeof(out));

	if (rc < 0 || sscanf(out, "%*s %63[0-9.]", s->version) != 1) {
		doctor_aside(s->d,
			     rc == -ENOENT
				     ? "Slurm: there is no scontrol here"
				     : "Slurm: it is not configured here");
		return false;
	}
	if (doctor_run(s->d, "scontrol", show, LF_SCONTROL_MS, s->show,
		       sizeof(s->show)) < 0) {
		s->show[0] = '\0';
		doctor_aside(s->d, "Slurm's settings: slurmctld gives no "
				   "answer");
	}
	return true;
}

static void find_files(struct slurm *s)
{
	const char *env = getenv("SLURM_CONF");
	char conf[PATH_MAX];
	const char *slash;

	if (!shown(s, "SLURM_CONF", conf, sizeof(conf)))
		(void)snprintf(conf, sizeof(conf), "%s",
			       env ? env : "/etc/slurm/slurm.conf");
	slash = strrchr(conf, '/');
	if (!shown(s, "PlugStackConfig", s->plugstack, sizeof(s->plugstack)))
		(void)snprintf(s->plugstack, sizeof(s->plugstack),
			       "%.*s/plugstack.conf",
			       slash ? (int)(slash - conf) : 1,
			       slash ? conf : ".");
	(void)shown(s, "PluginDir", s->plugindir, sizeof(s->plugindir));
}

static void take_argument(struct slurm *s, const char *word)
{
	if (!strncmp(word, "config=", 7))
		(void)snprintf(s->site->config, PATH_MAX, "%s", word + 7);
	if (!strncmp(word, "run=", 4))
		(void)snprintf(s->site->run, PATH_MAX, "%s", word + 4);
}

static void take_entry(struct slurm *s, char **word, int words)
{
	const char *slash = strrchr(word[1], '/');
	const char *name = slash ? slash + 1 : word[1];

	s->entries++;
	if (!strncmp(name, "spank_pyxis", 11) && !s->pyxis)
		s->pyxis = s->entries;
	if (strncmp(name, "spank_loongforge", 16) != 0)
		return;
	s->times++;
	if (s->ours)
		return;
	s->ours = s->entries;
	(void)snprintf(s->plugin, sizeof(s->plugin), "%s", word[1]);
	for (int i = 2; i < words; i++)
		take_argument(s, word[i]);
}

static void read_stack(struct slurm *s, const char *path, int depth);

/* As Slurm: a glob, relative to the folder of slurm.conf. */
static void read_included(struct slurm *s, const char *pattern, int depth)
{
	const char *slash = strrchr(s->plugstack, '/');
	char at[PATH_MAX];
	glob_t g;

	(void)snprintf(
		at, sizeof(at), "%s%.*s%s", s->d->root,
		*pattern == '/' || !slash ? 0 : (int)(slash - s->plugstack) + 1,
		s->plugstack, pattern);
	if (glob(at, 0, NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++)
		read_stack(s, g.gl_pathv[i], depth + 1);
	globfree(&g);
}

static int split(char *line, char *word[WORDS])
{
	int n = 0;

	line[strcspn(line, "#\n")] = '\0';
	while (n < WORDS) {
		line += strspn(line, " \t\r");
		if (!*line)
			break;
		word[n++] = line;
		line += strcspn(line, " \t\r");
		if (*line)
			*line++ = '\0';
	}
	return n;
}

static void read_stack(struct slurm *s, const char *path, int depth)
{
	FILE *f = depth < INCLUDE_DEPTH ? fopen(path, "re") : NULL;
	char line[4096], *word[WORDS];

	while (f && fgets(line, sizeof(line), f)) {
		int n = split(line, word);

		if (n >= 2 && !strcasecmp(word[0], "include"))
			read_included(s, word[1], depth);
		else if (n >= 2)
			take_entry(s, word, n);
	}
	if (f)
		(void)fclose(f);
}

static void judge_stack(struct slurm *s)
{
	char path[PATH_MAX];
	struct lf_note *n;

	read_stack(s, doctor_path(s->d, path, s->plugstack), 0);
	s->site->listed = s->ours > 0;
	if (!s->ours) {
		n = lf_note(&s->d->notes, "LF-INS-01",
			    "%.160s does not list spank_loongforge.so",
			    s->plugstack);
		lf_note_remedy(n, "add the line of "
				  "share/loongforge/plugstack.conf");
		return;
	}
	if (s->pyxis && s->pyxis < s->ours)
		lf_note_remedy(lf_note(&s->d->notes, "LF-INS-02",
				       "%.160s: pyxis stands before LoongForge",
				       s->plugstack),
			       "move LoongForge's line up");
	if (s->times > 1)
		lf_note_remedy(lf_note(&s->d->notes, "LF-INS-02",
				       "%.160s lists LoongForge %d times",
				       s->plugstack, s->times),
			       "keep one line");
}

/* "22.05" of 0x160508. */
static void judge_plugin(struct slurm *s)
{
	char path[PATH_MAX], full[PATH_MAX], built[32] = "", runs[32];
	lf_autoclose int fd = -1;
	uint32_t v = 0;
	struct lf_note *n;

	(void)snprintf(full, sizeof(full), "%.2000s%s%.2000s",
		       *s->plugin == '/' ? "" : s->plugindir,
		       *s->plugin == '/' ? "" : "/", s->plugin);
	fd = open(doctor_path(s->d, path, full),
		  O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		n = lf_note(&s->d->notes, "LF-INS-03", "%.160s: %s", full,
			    strerror(errno));
		lf_note_remedy(n, "install it on every node, or mend the line "
				  "of plugstack.conf");
		return;
	}
	if (lf_elf_u32(fd, "plugin_version", &v) == 0)
		(void)snprintf(built, sizeof(built), "%u.%02u", v >> 16 & 255,
			       v >> 8 & 255);
	(void)snprintf(runs, sizeof(runs), "%.5s", s->version);
	if (!strcmp(built, runs))
		return;
	n = lf_note(&s->d->notes, "LF-INS-04", "%.160s: built for Slurm", full);
	lf_note_expected(n, "%s, which runs", runs);
	lf_note_found(n, "%s", *built ? built : "no version in it");
	lf_note_remedy(n, "build it with --with-slurm for %s", runs);
}

static void judge_flags(struct slurm *s)
{
	static const char *const enough[] = { "alloc", "contain", "x11",
					      "runinjob" };
	char flags[256] = "none";
	struct lf_note *n;

	if (!*s->show)
		return;
	(void)shown(s, "PrologFlags", flags, sizeof(flags));
	for (size_t i = 0; i < sizeof(enough) / sizeof(*enough); i++)
		if (strcasestr(flags, enough[i]))
			return;
	n = lf_note(&s->d->notes, "LF-INS-05",
		    "slurm.conf, PrologFlags: the prolog runs late or never");
	lf_note_expected(n, "Alloc or Contain");
	lf_note_found(n, "%s", *flags ? flags : "none");
	lf_note_remedy(n, "PrologFlags=Alloc,Contain and restart slurmctld");
}

static void judge_wait(struct slurm *s, const struct lf_conf *c)
{
	uint64_t drain = lf_keys_number(&c->values, LF_KEY_DRAIN_SECONDS);
	char text[64];
	struct lf_note *n;
	long wait;

	if (!shown(s, "KillWait", text, sizeof(text)))
		return;
	wait = strtol(text, NULL, 10);
	if (wait <= 0 || (uint64_t)wait >= drain + 5)
		return;
	n = lf_note(&s->d->notes, "LF-INS-06", "launch.drain_seconds of %.120s",
		    s->site->config);
	lf_note_expected(n, "at most %ld, KillWait less 5", wait - 5);
	lf_note_found(n, "%llu", (unsigned long long)drain);
	lf_note_remedy(n, "lower it, or raise KillWait in slurm.conf");
}

static void read_conf(struct doctor *d, const struct site *site,
		      struct lf_conf *c)
{
	char path[PATH_MAX];
	struct lf_err e;
	int rc = lf_conf_read(doctor_path(d, path, site->config), c, &e);

	if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
		lf_note_remedy(
			lf_note(&d->notes, "LF-CFG-01", "%.240s", e.text),
			"loongforge config check; built-in values hold");
}

void doctor_slurm(struct doctor *d, struct site *site)
{
	static struct slurm s;
	static struct lf_conf c;

	s.d = d;
	s.site = site;
	*site = (struct site){ .config = LF_SYSCONFDIR "/loongforge.conf",
			       .run = LF_RUNDIR };
	if (ask(&s)) {
		find_files(&s);
		judge_stack(&s);
		judge_flags(&s);
	}
	read_conf(d, site, &c);
	if (!s.ours) /* nor is its configuration known */
		return;
	judge_plugin(&s);
	judge_wait(&s, &c);
}
