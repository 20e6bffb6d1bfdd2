/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "orchestrator/plan/plan.h"
#include "orchestrator/start.h"

static const char *const variables[] = {
	"MASTER_ADDR",
	"MASTER_PORT",
	"RANK",
	"WORLD_SIZE",
	"LOCAL_RANK",
	"OMP_NUM_THREADS",
	"TORCH_FR_BUFFER_SIZE",
	"TORCH_NCCL_DUMP_ON_TIMEOUT",
	"PYTHONPATH",
	"LOONGFORGE_ENV_SET",
	"LOONGFORGE_LOG_LEVEL",
	"CUDA_VISIBLE_DEVICES",
	"SLURM_CLUSTER_NAME",
	"SLURM_STEP_RESV_PORTS",
	"SLURM_STEP_NODELIST",
	"SLURM_LOONGFORGE_ADDRS",
	"SLURM_STEP_GPUS",
	"SLURM_MEM_BIND_TYPE",
	"TORCH_NCCL_TRACE_BUFFER_SIZE",
};

static struct plan plan;
static struct lf_buf out = LF_BUF(LF_START_MAX);

/* The plan for a step of two tasks on one node, but for what `words` say. */
static const char *write_plan(const char *words)
{
	static char all[8192];
	struct lf_err e = { "" };

	/* The job decides on the port, which others may want as well. */
	(void)snprintf(all, sizeof(all),
		       "job=%d\nstep=0\nrestart=1\nnodeid=0\nnodes=1\ntasks=2\n"
		       "world=2\ncpus=4\nnode=n1\nrun=%s\nsocket=sock/et\n"
		       "mode=on\nset=\n%s",
		       (int)getpid(), scratch("run"), words);
	plan = (struct plan){ 0 };
	check_int(e.text, plan_take(&plan, all, &e), 0);
	lf_buf_free(&out);
	plan_write(&plan, &out);
	assert_true(lf_buf_ok(&out));
	return lf_buf_text(&out);
}

static int clean(void **state)
{
	for (size_t i = 0; i < COUNT(variables); i++)
		(void)unsetenv(variables[i]);
	(void)unlink(scratch("run/n1.settings"));
	(void)mkdir(scratch("run"), 0755);
	lf_buf_free(&out);
	return 0;
}

static void lacks(const char *row, const char *text, const char *part)
{
	if (!strstr(text, part))
		return;
	print_error("%s: '%s' is in '%s'\n", row, part, text);
	fail();
}

static void bad_words(void **state)
{
	static const char *const rows[] = {
		"x",	      "=1",	     "job=",
		"job=x",      "job=-1",	     "job=4294967296",
		"nonsense=1", "job=1\nnode", "socket",
		"lazy=1",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };
		char text[64];

		(void)snprintf(text, sizeof(text), "%s", rows[i]);
		check_int(rows[i], plan_take(&plan, text, &e), -EINVAL);
		check_has(rows[i], e.text, "bad word");
	}
}

/* A plan that refuses says why and nothing else. */
static void refused(void **state)
{
	static const struct {
		const char *words, *level, *line;
	} rows[] = {
		{ "mode=\n", NULL, "refuse=LF-OPT-01\t" },
		{ "mode=off\n", NULL, "refuse=LF-OPT-01\t" },
		{ "mode=a\tb\n", NULL,
		  "refuse=LF-OPT-01\t--loongforge: expected on, check or off, found "
		  "'a" },
		{ "set=x\n", NULL,
		  "refuse=LF-OPT-03\t--loongforge-set: expected KEY=VALUE" },
		{ "set=x=1\n", NULL,
		  "refuse=LF-OPT-03\t--loongforge-set: unknown key 'x'\t" },
		{ "set=launch.ports=1-20\n", NULL, "administrator" },
		{ "set=log.level=DEBUG;log.dir=rel\n", NULL, "log.dir" },
		{ "", "loud",
		  "refuse=LF-OPT-03\tLOONGFORGE_LOG_LEVEL: log.level: " },
		{ "", "", "refuse=LF-OPT-03" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text;

		(void)clean(NULL);
		if (rows[i].level)
			(void)setenv("LOONGFORGE_LOG_LEVEL", rows[i].level, 1);
		text = write_plan(rows[i].words);
		check_has(rows[i].words, text, rows[i].line);
		lacks(rows[i].words, text, "env=");
		lacks(rows[i].words, text, "--\n");
	}
}

static void joins(void **state)
{
	static const struct {
		const char *had, *more;
		int rc;
		const char *text;
	} rows[] = {
		{ "", "x", -EINVAL, "expected KEY=VALUE" },
		{ "", "x=1", -ENOENT, "unknown key" },
		{ "x=1", "", -ENOENT, "unknown key" },
		{ "", "launch.ports=1-20", -EPERM, "administrator" },
		{ "log.level=INFO", "log.level=DEBUG", -EINVAL,
		  "log.level is given twice: INFO and DEBUG" },
		{ "", "", 0, "" },
		{ "log.level=DEBUG", "", 0, "log.level=DEBUG" },
		{ "log.level=DEBUG", "log.level=DEBUG", 0, "log.level=DEBUG" },
		{ "log.level=debug;env.threads=0", "log.level=DEBUG", 0,
		  "env.threads=no;log.level=DEBUG" },
		{ "env.threads=no", "log.level=DEBUG", 0,
		  "env.threads=no;log.level=DEBUG" },
		{ "", "log.level=INFO;log.level=DEBUG", 0, "log.level=DEBUG" },
		{ "", "log.dir=", 0, "log.dir=" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_buf b = LF_BUF(LF_SET_MAX);
		struct lf_err e = { "" };
		int rc = plan_join(rows[i].had, rows[i].more, &b, &e);

		check_int(rows[i].more, rc, rows[i].rc);
		if (rc < 0)
			check_has(rows[i].more, e.text, rows[i].text);
		else
			check_str(rows[i].more, lf_buf_text(&b), rows[i].text);
		lf_buf_free(&b);
	}
}

static void administrators_values(void **state)
{
	const char *file = scratch("run/n1.settings"), *text;

	NEEDS(is_root(), "settings must be root's");
	write_text(file, "env.threads=no\nlog.level=DEBUG\nlaunch.ports=1-9\n");
	text = write_plan("set=env.recorder=no\n");
	lacks("threads", text, "OMP_NUM_THREADS");
	lacks("recorder", text, "TORCH_FR_BUFFER_SIZE");
	check_has("level", text, "\nlog.level=DEBUG\n");
	check_has("ports", text, "env=MASTER_PORT\t1\n");
	text = write_plan("set=log.level=WARN;env.threads=yes\n");
	check_has("the user's wins", text, "\nlog.level=WARN\n");
	check_has("the user's wins", text, "env=OMP_NUM_THREADS\t4\n");
	(void)setenv("LOONGFORGE_LOG_LEVEL", "ERROR", 1);
	check_has("environment", write_plan(""), "\nlog.level=ERROR\n");
	check_has("option", write_plan("set=log.level=WARN\n"),
		  "\nlog.level=WARN\n");
}

/* A fault is told, and the job runs with built-in values. */
static void damaged_settings(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *why;
	} rows[] = {
		{ "log.level=DEBUG\n", 0666, "not trusted" },
		{ "log.level=loud\n", 0644, "log.level: expected" },
		{ "nonsense=1\n", 0644, "unknown key 'nonsense'" },
		{ "error=/etc/x:3: bad\n", 0644, "\t/etc/x:3: bad\t" },
		{ "damaged\n", 0644, "n1.settings: damaged" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text;

		NEEDS(is_root(), "settings must be root's");
		write_file(scratch("run/n1.settings"), rows[i].text,
			   strlen(rows[i].text), rows[i].mode);
		text = write_plan("");
		check_has(rows[i].text, text, "tell=LF-CFG-01\t");
		check_has(rows[i].text, text, rows[i].why);
		check_has(rows[i].text, text, "\nlog.level=INFO\n");
		lacks(rows[i].text, text, "refuse=");
	}
}

static void whole_plan(void **state)
{
	const char *text = write_plan("");
	char start_text[LF_START_MAX];
	static struct start s;
	struct lf_err e = { "" };

	check_has("plan", text,
		  "env=MASTER_ADDR\t127.0.0.1\n"
		  "env=MASTER_PORT\t");
	check_has("plan", text,
		  "env=RANK\t@rank\nenv=WORLD_SIZE\t2\n"
		  "env=LOCAL_RANK\t@local_rank\nenv=OMP_NUM_THREADS\t4\n");
	check_has("plan", text, "env=PYTHONPATH\t" LF_PYTHONDIR "\n");
	check_has("plan", text, "env=LOONGFORGE_SOCKET\tsock/et\n");
	check_has("plan", text, "env=LOONGFORGE_ENV_SET\tMASTER_ADDR=");
	lacks("plan", text, "numa=");
	lacks("plan", text, "tell=");
	/* The second half is what loongforged takes. */
	(void)snprintf(start_text, sizeof(start_text), "%s",
		       strstr(text, "\n--\n") + 4);
	check_int(e.text, start_parse(start_text, &s, &e), 0);
	assert_int_equal(s.job, getpid());
	assert_int_equal(s.restart, 1);
	assert_int_equal(s.tasks, 2);
	assert_string_equal(s.node, "n1");
	assert_int_equal(s.ports, LF_PORT_CANDIDATES);
}

static void users_values_are_kept(void **state)
{
	static const struct {
		const char *name, *line;
	} rows[] = {
		{ "MASTER_ADDR", "env=MASTER_ADDR\t" },
		{ "MASTER_PORT", "env=MASTER_PORT\t" },
		{ "RANK", "env=RANK\t" },
		{ "RANK", "env=WORLD_SIZE\t" }, /* the three belong together */
		{ "RANK", "env=LOCAL_RANK\t" },
		{ "WORLD_SIZE", "env=RANK\t" },
		{ "LOCAL_RANK", "env=RANK\t" },
		{ "OMP_NUM_THREADS", "env=OMP_NUM_THREADS\t" },
		{ "TORCH_FR_BUFFER_SIZE", "env=TORCH_FR_BUFFER_SIZE\t" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char note[64];

		/* An empty value is a value; so is one that another LoongForge
		 * step kept. */
		for (int way = 0; way < 3; way++) {
			(void)clean(NULL);
			(void)setenv(rows[i].name, way ? "5" : "", 1);
			(void)snprintf(note, sizeof(note),
				       "X=y;%s=kept: the user's;LAST=z",
				       rows[i].name);
			if (way == 2)
				(void)setenv("LOONGFORGE_ENV_SET", note, 1);
			lacks(rows[i].name, write_plan(""), rows[i].line);
			(void)snprintf(note, sizeof(note), "%s=kept",
				       rows[i].name);
			check_has(rows[i].name, lf_buf_text(&out), note);
		}
	}
}

static void outer_steps_values_are_replaced(void **state)
{
	(void)setenv("MASTER_PORT", "1", 1);
	(void)setenv("RANK", "9", 1);
	(void)setenv("LOCAL_RANK", "9", 1);
	(void)setenv("LOONGFORGE_ENV_SET",
		     "MASTER_ADDR=x;MASTER_PORT=from job and step;RANK=y", 1);
	check_has("ours", write_plan(""), "env=MASTER_PORT\t");
	lacks("a user's between", write_plan(""), "env=RANK\t");
	(void)setenv("LOONGFORGE_ENV_SET", "LOCAL_RANK=y;RANK=y", 1);
	check_has("ours", write_plan(""), "env=RANK\t@rank\n");
	lacks("the user's", write_plan(""), "env=MASTER_PORT\t");
}

static void ranks_of_one_task_with_many_gpus(void **state)
{
	static const struct {
		const char *row, *words, *gpus;
		bool ranks;
	} rows[] = {
		{ "one task, no GPU", "world=1\n", NULL, true },
		{ "one task, one GPU", "world=1\n", "0", true },
		{ "one task, two GPUs", "world=1\n", "0,1", false },
		{ "a task a node, two GPUs", "nodes=2\nworld=2\n", "0,1",
		  false },
		{ "two tasks, two GPUs", "world=2\n", "0,1", true },
		{ "a task a GPU", "nodes=2\nworld=16\n", "0,1,2,3", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)clean(NULL);
		if (rows[i].gpus)
			(void)setenv("CUDA_VISIBLE_DEVICES", rows[i].gpus, 1);
		check_int(rows[i].row,
			  strstr(write_plan(rows[i].words), "env=RANK\t") !=
				  NULL,
			  rows[i].ranks);
	}
}

static void switched_off(void **state)
{
	const char *text = write_plan("cpus=0\nset=env.rendezvous=no;"
				      "env.recorder=no;env.python=no\n");

	for (size_t i = 0; i < 9; i++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "env=%s\t", variables[i]);
		lacks(variables[i], text, line);
	}
	check_has("socket", text, "env=LOONGFORGE_SOCKET\tsock/et\n");
}

static void python_path(void **state)
{
	(void)setenv("PYTHONPATH", "/mine:/other", 1);
	check_has("appended", write_plan(""),
		  "env=PYTHONPATH\t/mine:/other:" LF_PYTHONDIR "\n");
	(void)setenv("PYTHONPATH", "/mine:" LF_PYTHONDIR, 1);
	lacks("there already", write_plan(""), "env=PYTHONPATH\t");
}

static void batch_step(void **state)
{
	const char *text = write_plan("step=4294967291\nworld=1\n");

	lacks("batch", text, "env=RANK");
	lacks("batch", text, "env=MASTER_PORT");
	check_has("batch", text, "env=LOONGFORGE_LOG_LEVEL\tINFO\n");
	check_has("batch", text, "env=LOONGFORGE_SOCKET\tsock/et\n");
}

static void first_node(void **state)
{
	const char *words = "nodes=2\nworld=4\nnodeid=1\n";

	lacks("no list", write_plan(words), "env=MASTER_ADDR\t");
	(void)setenv("SLURM_STEP_NODELIST", "[", 1);
	lacks("malformed", write_plan(words), "env=MASTER_ADDR\t");
	(void)setenv("SLURM_STEP_NODELIST", "n[07-08]", 1);
	check_has("name", write_plan(words), "env=MASTER_ADDR\tn07\n");
	(void)setenv("SLURM_LOONGFORGE_ADDRS", "n0=1.1.1.1,n07=10.0.0.7", 1);
	check_has("address", write_plan(words), "env=MASTER_ADDR\t10.0.0.7\n");
	(void)setenv("SLURM_LOONGFORGE_ADDRS", "n0=1.1.1.1,n077=2.2.2.2", 1);
	check_has("others'", write_plan(words), "env=MASTER_ADDR\tn07\n");
}

static int take_port(uint16_t port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void taken_port(void **state)
{
	const char *text = write_plan("");
	char want[128];
	int fd = take_port(plan.ports.master);

	(void)snprintf(want, sizeof(want),
		       "refuse=LF-PRT-01\tMASTER_PORT: expected port %u to be "
		       "free, found it held by pid %d\t",
		       plan.ports.master, (int)getpid());
	text = write_plan("");
	check_has("taken", text, want);
	check_has("taken", text, "alone=1\n");
	lacks("taken", text, "env=");
	lacks("another node", write_plan("nodeid=1\nnodes=2\n"), "refuse=");
	lacks("off", write_plan("set=env.rendezvous=no\n"), "refuse=");
	(void)setenv("MASTER_PORT", "29500", 1);
	lacks("the user's", write_plan(""), "refuse=");
	(void)close(fd);
}

static void memory_nodes(void **state)
{
	(void)setenv("SLURM_STEP_GPUS", "0", 1);
	check_has("GPUs", write_plan(""), "\nnuma=");
	lacks("off", write_plan("set=memory.policy=off\n"), "\nnuma=");
	(void)setenv("SLURM_MEM_BIND_TYPE", "none", 1);
	check_has("no binding", write_plan(""), "\nnuma=");
	(void)setenv("SLURM_MEM_BIND_TYPE", "local", 1);
	lacks("the user's binding", write_plan(""), "\nnuma=");
}

/* Whatever the user's environment holds, a plan is lines that the plugin
 * knows: one that is not ends its reading there, and the rest would be lost. */
static void well_formed(void **state)
{
	static const char *const known[] = { "tell=", "refuse=", "alone=",
					     "env=", "numa=" };
	static const char hostile[] = "/a\nb\n--\nrefuse=x\ty\tz";

	for (size_t i = 0; i < COUNT(variables); i++) {
		static char text[LF_START_MAX];
		char *line, *rest = text;

		(void)clean(NULL);
		(void)setenv(variables[i], hostile, 1);
		(void)snprintf(text, sizeof(text), "%s",
			       write_plan("nodes=2\nworld=4\n"));
		while ((line = strsep(&rest, "\n")) != NULL) {
			bool ok = !*line || !strcmp(line, "--");

			lacks(variables[i], line, "refuse=x\ty");

			for (size_t k = 0; !ok && k < COUNT(known); k++)
				ok = !strncmp(line, known[k], strlen(known[k]));
			if (!ok)
				check_str(variables[i], line, "a known line");
			if (!strcmp(line, "--"))
				break;
		}
	}
}

#define C(f) cmocka_unit_test_setup(f, clean)

MAIN(C(bad_words), C(refused), C(joins), C(administrators_values),
     C(damaged_settings), C(whole_plan), C(users_values_are_kept),
     C(outer_steps_values_are_replaced), C(ranks_of_one_task_with_many_gpus),
     C(switched_off), C(python_path), C(batch_step), C(first_node),
     C(taken_port), C(memory_nodes), C(well_formed))
