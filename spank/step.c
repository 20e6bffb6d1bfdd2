/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "step.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/launch.h"
#include "base/lifeline.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/sock.h"
#include "memory.h"
#include "options.h"
#include "site.h"
#include "spankapi.h"

static char plan_program[] = LF_LIBEXECDIR "/loongforge-plan";

enum {
	STEP_EXTERN = 0xfffffffc, /* slurm.h; spank.h does not show them */
	STEP_SPECIAL = 0xfffffff0, /* batch and interactive lie above */
	WORD_MAX = 40
};

static struct step {
	bool on, refused;
	bool lazy; /* batch and interactive: the first client launches */
	struct lf_step_id id;
	uint32_t uid, gid, restart, nodes, local_tasks, exited;
	char node[LF_NODE_NAME_MAX];
	char plan[LF_START_MAX]; /* doc/formats/plan.md, first half */
	char start[LF_START_MAX]; /* second half */
	char socket[LF_SOCK_NAME_MAX];
	int listen_fd;
	int life[2]; /* 0: ours, 1: the orchestrator's */
	uint64_t drain_ms;
	char memlock[WORD_MAX];
} step = { .listen_fd = -1, .life = { -1, -1 } };

static void identify(spank_t sp)
{
	const char *node = getenv("SLURMD_NODENAME"); /* slurmd's own word */
	char restart[16] = "";
	uint64_t count = sp_item(sp, S_SLURM_RESTART_COUNT, 0);

	step.id.job = sp_item(sp, S_JOB_ID, 0);
	step.id.step = sp_item(sp, S_JOB_STEPID, STEP_EXTERN);
	step.id.node = sp_item(sp, S_JOB_NODEID, 0);
	step.uid = sp_item(sp, S_JOB_UID, (uint32_t)-1);
	step.gid = sp_item(sp, S_JOB_GID, (uint32_t)-1);
	/* Slurm fills the item in for batch steps only. */
	if (sp_getenv(sp, "SLURM_RESTART_COUNT", restart, sizeof(restart)))
		(void)lf_parse_u64(restart, 0, UINT32_MAX, &count);
	step.restart = (uint32_t)count;
	step.nodes = sp_item(sp, S_JOB_NNODES, 1);
	step.local_tasks = sp_item(sp, S_JOB_LOCAL_TASK_COUNT, 1);
	step.lazy = step.id.step >= STEP_SPECIAL;
	(void)snprintf(step.node, sizeof(step.node), "%s", node ? node : "?");
}

/* Appends to the plan as loongforge-plan would have.  Other nodes do not know
 * of such a refusal. */
static void add(const char *kind, const char *code, const struct lf_err *e,
		const char *remedy)
{
	size_t n = strlen(step.plan);

	(void)snprintf(step.plan + n, sizeof(step.plan) - n,
		       "%s=%s\t%s\t%s\n%s", kind, code, e->text, remedy,
		       *kind == 'r' ? "alone=1\n" : "");
}

static void take_settings(void)
{
	char text[WORD_MAX];
	uint64_t seconds = LF_DRAIN_SECS_DEFAULT;

	site_setting(step.node, "launch.drain_seconds", "", text, sizeof(text));
	(void)lf_parse_u64(text, 1, LF_DRAIN_SECS_MAX, &seconds);
	step.drain_ms = 1000 * seconds;
	site_setting(step.node, "memory.memlock", "unlimited", step.memlock,
		     sizeof(step.memlock));
}

/* The part of the job's environment that plan and orchestrator may need. */
static char **pick_env(spank_t sp)
{
	static const char *const prefixes[] = {
		"SLURM",	"PATH=",  "HOME=", "USER=",	  "TMPDIR=",
		"LANG=",	"LC_",	  "TZ=",   "PWD=",	  "LOONGFORGE",
		"MASTER_",	"RANK=",  "WORLD_SIZE=",	  "LOCAL_RANK=",
		"OMP_NUM",	"TORCH_", "PYTHONPATH=",
		"CUDA_VISIBLE_DEVICES="
	};
	size_t n = 0, kept = 0;
	char **env = NULL, **out;

	if (spank_get_item(sp, S_JOB_ENV, &env) != ESPANK_SUCCESS)
		env = NULL;
	while (env && env[n])
		n++;
	out = calloc(n + 1, sizeof(*out));
	for (size_t i = 0; out && i < n; i++)
		for (size_t p = 0; p < sizeof(prefixes) / sizeof(*prefixes);
		     p++)
			if (!strncmp(env[i], prefixes[p],
				     strlen(prefixes[p]))) {
				out[kept++] = env[i];
				break;
			}
	return out;
}

static int run_as_user(char **argv, char **env, uint64_t ms, char *out,
		       size_t n, struct lf_err *e)
{
	struct lf_child c = { .argv = argv,
			      .envp = env,
			      .uid = step.uid,
			      .gid = step.gid,
			      .deadline_ms = (int)ms,
			      .out = out,
			      .size = n };

	return lf_child_run(&c, e);
}

/* loongforge-plan, as the user, says what is to be done. */
static void make_plan(spank_t sp)
{
	char words[2048]; /* paths and numbers; the user's own are words apart */
	char *argv[] = { plan_program,
			 "step",
			 words,
			 (char *)options_mode(sp),
			 (char *)options_set(sp),
			 NULL };
	lf_autofree char **env = pick_env(sp);
	struct lf_err e = { "no memory" };
	char *cut;

	(void)snprintf(words, sizeof(words),
		       "job=%u\nstep=%u\nrestart=%u\nnodeid=%u\nnodes=%u\n"
		       "tasks=%u\nworld=%u\ncpus=%u\nnode=%s\nrun=%s\n"
		       "socket=%s\n",
		       step.id.job, step.id.step, step.restart, step.id.node,
		       step.nodes, step.local_tasks,
		       sp_item(sp, S_JOB_TOTAL_TASK_COUNT, 1),
		       sp_item(sp, S_STEP_CPUS_PER_TASK, 0), step.node,
		       site_run(), step.socket);
	if (!env || run_as_user(argv, env, LF_PROBE_MS, step.plan,
				sizeof(step.plan), &e) < 0) {
		step.plan[0] = '\0';
		add("refuse", "LF-LCH-02", &e,
		    "is LoongForge whole on this node?");
	}
	cut = strstr(step.plan, "\n--\n");
	if (cut) {
		(void)snprintf(step.start, sizeof(step.start), "%s", cut + 4);
		cut[1] = '\0';
	}
}

/* Calls fn for each line of the plan that is of this kind, its value split at
 * tabs; returns how many there are. */
struct line {
	const char *word[3];
};

static int each(const char *kind, void (*fn)(const struct line *l, void *arg),
		void *arg)
{
	char copy[LF_START_MAX], *cursor = copy, *key, *value;
	int n = 0;

	memcpy(copy, step.plan, sizeof(copy));
	while (lf_parse_pair(&cursor, '\n', &key, &value) > 0) {
		struct line l = { { "", "", "" } };

		if (strcmp(key, kind) != 0)
			continue;
		for (int i = 0; i < 3 && value; i++)
			l.word[i] = strsep(&value, "\t");
		if (fn)
			fn(&l, arg);
		n++;
	}
	return n;
}

static void make_folder(void)
{
	lf_autoclose int fd = -1;
	char path[256], name[32];
	struct stat here, up;
	struct lf_err e = { "" };
	int rc;

	(void)snprintf(path, sizeof(path), "%s/seg", site_run());
	rc = lf_fs_open_dir(path, &fd, &e);
	/* A site without it, or not mounted there: users must not fill what
	 * lies below.  Nothing needs it yet. */
	if (rc == -ENOENT ||
	    (rc == 0 && (fstat(fd, &here) < 0 || fstatat(fd, "..", &up, 0) < 0 ||
			 here.st_dev == up.st_dev)))
		return;
	(void)snprintf(name, sizeof(name), "%u.%u", step.id.job, step.restart);
	if (rc == 0) {
		rc = lf_fs_user_dir(fd, name, step.uid, step.gid, &e);
		(void)lf_err_wrap(&e, rc, "%s", path);
	}
	if (rc < 0) {
		add("tell", "LF-SEG-01", &e,
		    "the job runs without memory segments; ask your "
		    "administrator to look at that folder");
	}
}

/* What loongforged has to know: the plan's second half, and the secret, which
 * no environment and no command line ever holds. */
static void send_start(void)
{
	size_t n = strlen(step.start);

	(void)snprintf(step.start + n, sizeof(step.start) - n, "secret=%s\n",
		       options_secret());
	(void)lf_lifeline_send(step.life[0], step.start);
}

static void open_sockets(void)
{
	struct lf_err e;
	int rc = lf_sock_listen(step.socket, &step.listen_fd, &e);

	if (rc == 0)
		rc = lf_lifeline_open(step.life, &e);
	if (rc == 0)
		send_start();
	else
		add("refuse", "LF-LCH-01", &e, "");
}

/* What the prolog has left for a job that is not to run here, with or without
 * the option; lines of a plan. */
static bool gated(void)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s.%u.refuse", site_run(),
		       step.node, step.id.job);
	if (access(path, F_OK) < 0 || site_off(true) ||
	    lf_fs_read(path, 0, LF_START_MAX, &text, NULL) < 0)
		return false;
	(void)snprintf(step.plan, sizeof(step.plan), "%s", text);
	return true;
}

void step_begin(spank_t sp, int ac, char **av)
{
	struct lf_err e;

	/* 24.11 leaves it where tasks would see it. */
	(void)spank_unsetenv(sp, "_SLURM_SPANK_OPTION_loongforge_"
				 "loongforge_secret");
	if (sp_item(sp, S_JOB_STEPID, STEP_EXTERN) == STEP_EXTERN)
		return;
	site_open(ac, av);
	identify(sp);
	/* Who only wants to know gets the whole verdict. */
	step.on = step.refused = strcmp(options_mode(sp), "check") && gated();
	if (step.refused || !*options_mode(sp))
		return;
	(void)spank_unsetenv(sp, "LOONGFORGE_SOCKET"); /* an outer step's */
	if (!strcmp(options_mode(sp), "off") || site_off(false)) {
		slurm_info("loongforge: off");
		return;
	}
	step.on = true;
	take_settings();
	if (lf_sock_name(&step.id, step.socket, &e) < 0)
		add("refuse", "LF-LCH-01", &e, "");
	else
		make_plan(sp);
	make_folder();
	step.refused = each("refuse", NULL, NULL) + each("exit", NULL, NULL) >
		       0;
	if (!step.refused && !step.lazy)
		open_sockets();
}

/* In the task's process: the first one tells what it adds here. */
void step_task_privileged(spank_t sp)
{
	struct lf_err e;
	int rc;

	if (!step.on || step.refused)
		return;
	rc = memory_lock(sp, step.memlock);
	if (rc == 0)
		return;
	(void)lf_err(&e, rc, "locked-memory limit: expected %s, found %s",
		     step.memlock, strerror(-rc));
	add("tell", "LF-MEM-01", &e,
	    "set LimitMEMLOCK=infinity in slurmd's unit and leave it "
	    "CAP_SYS_RESOURCE");
}

static void tell(const struct line *l, void *arg)
{
	struct lf_finding f = { .code = l->word[0],
				.what = l->word[1],
				.remedy = *l->word[2] ? l->word[2] : NULL };

	sp_say(&f, step.node);
}

static void launch(spank_t sp)
{
	char id[32];
	char *argv[] = { LF_LIBEXECDIR "/loongforged", id, NULL };
	lf_autofree char **env = pick_env(sp);
	struct lf_launch l = { argv, env, step.listen_fd, step.life[1] };
	struct lf_err e;

	(void)snprintf(id, sizeof(id), "%u.%u", step.id.job, step.id.step);
	if (env && lf_launch(&l, &e) == 0)
		return;
	add("refuse", "LF-LCH-02", &e,
	    "is LoongForge whole on this node, and before pyxis in "
	    "plugstack.conf?");
	step.refused = true;
}

static void set_number(const struct line *l, void *arg)
{
	(void)lf_parse_u64(l->word[0], 0, UINT64_MAX, arg);
}

/* Every task of this node ends here.  Other tasks, of other nodes too, would
 * wait for them until they time out: TERM for all, which unlike a plain scancel
 * leaves srun listening to what we say. */
static void exit_refused(spank_t sp, bool first)
{
	char id[32];
	char *argv[] = { "/usr/bin/env", "scancel", "--signal=TERM", id, NULL };
	uint64_t code = 1;

	(void)snprintf(id, sizeof(id), "%u.%u", step.id.job, step.id.step);
	(void)signal(SIGTERM, SIG_IGN); /* our own, below */
	if (first && step.nodes > 1 && each("alone", NULL, NULL) > 0)
		(void)run_as_user(argv, pick_env(sp), LF_SCONTROL_MS, NULL, 0,
				  NULL);
	(void)each("exit", set_number, &code);
	_exit((int)code);
}

static void set_variable(const struct line *l, void *arg)
{
	spank_t sp = arg;
	const char *value = l->word[1];
	bool local = !strcmp(value, "@local_rank");
	char number[16];

	if (local || !strcmp(value, "@rank")) { /* the task's own */
		(void)snprintf(number, sizeof(number), "%u",
			       sp_item(sp, local ? S_TASK_ID : S_TASK_GLOBAL_ID,
				       0));
		value = number;
	}
	(void)spank_setenv(sp, l->word[0], value, 1);
}

void step_task(spank_t sp)
{
	bool first = sp_item(sp, S_TASK_ID, 0) == 0;
	uint64_t nodes = 0;

	if (!step.on)
		return;
	if (!step.refused && first && !step.lazy)
		launch(sp);
	if (first) {
		(void)each("tell", tell, NULL);
		(void)each("refuse", tell, NULL);
	}
	if (step.refused)
		exit_refused(sp, first);
	(void)each("env", set_variable, sp);
	if (each("numa", set_number, &nodes) > 0)
		memory_prefer(nodes);
}

void step_forked(void)
{
	/* The tasks' copies are enough; ours would hide the orchestrator's
	 * death. */
	lf_auto_close(&step.life[1]);
	lf_auto_close(&step.listen_fd);
}

/* Prints notices, notes who sends them; false at end of file: it is gone. */
static bool hear(pid_t *pid, int *lines)
{
	char text[LF_NOTICE_MAX];
	pid_t sender;
	int rc = 1;

	/* Bounded: whoever sends for ever must not keep us here. */
	for (int i = 0; i < 4 * LF_NOTICE_LINES; i++) {
		rc = lf_lifeline_recv(step.life[0], text, sizeof(text),
				      &sender);
		if (rc <= 0)
			break;
		*pid = sender;
		lf_clean(text, "");
		if (*text && (*lines)++ < LF_NOTICE_LINES)
			slurm_spank_log("%s", text);
	}
	return rc != 0;
}

/* Waits until the orchestrator has closed its end and has really exited: a
 * process that is still there when task_exit returns costs Slurm a second. */
static bool wait_gone(pid_t *pid, int *lines, uint64_t until)
{
	lf_autoclose int pidfd = -1;
	bool alive = hear(pid, lines);

#ifdef SYS_pidfd_open
	if (*pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, *pid, 0);
#endif
	for (uint64_t now; alive && (now = lf_clock_ms()) < until;) {
		struct pollfd p = { step.life[0], POLLIN, 0 };

		(void)poll(&p, 1, (int)(until - now));
		if (*lines >= LF_NOTICE_LINES) /* a flood of them */
			(void)poll(NULL, 0, 20);
		alive = hear(pid, lines);
	}
	if (!alive && pidfd >= 0) {
		struct pollfd p = { pidfd, POLLIN, 0 };

		(void)poll(&p, 1, 200);
	}
	return !alive;
}

static void say_killed(void)
{
	slurm_spank_log("loongforge: %s: orchestrator did not end within %u s, "
			"killed (LF-LCH-03)",
			step.node, (unsigned)(step.drain_ms / 1000));
}

/* With the user's rights: the kernel named the pid, but the user could have
 * passed the socket on. */
static void kill_it(pid_t pid)
{
	char number[16];
	char *argv[] = { plan_program, "kill", number, NULL };

	say_killed();
	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)run_as_user(argv, NULL, LF_KILL_MS, NULL, 0, NULL);
}

static void end_orchestrator(void)
{
	pid_t pid = 0;
	int lines = 0;

	step_forked();
	(void)shutdown(step.life[0], SHUT_WR); /* drain and go */
	if (!wait_gone(&pid, &lines, lf_clock_ms() + step.drain_ms) &&
	    pid > 1) {
		kill_it(pid);
		(void)wait_gone(&pid, &lines, lf_clock_ms() + LF_KILL_MS);
	}
	lf_auto_close(&step.life[0]);
}

/* A client of the batch step may have started one: it serves our socket. */
static void end_lazy(void)
{
	char ms[24], killed[8];
	char *argv[] = { plan_program, "end", step.socket, ms, NULL };

	(void)snprintf(ms, sizeof(ms), "%llu",
		       (unsigned long long)step.drain_ms);
	if (run_as_user(argv, NULL, step.drain_ms + 2 * LF_KILL_MS, killed,
			sizeof(killed), NULL) == 0 &&
	    *killed == 'k')
		say_killed();
}

void step_task_exit(spank_t sp)
{
	if (!step.on || ++step.exited < step.local_tasks)
		return;
	if (step.lazy)
		end_lazy();
	else if (step.life[0] >= 0)
		end_orchestrator();
	step.on = false;
}
