/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "hw/live.h"

static char machine[64]; /* the file that the fake reads */
static char fake[4096], fake_old[4096];

static bool built(char *path, size_t n, const char *variable, const char *name)
{
	const char *given = getenv(variable), *build = getenv("abs_builddir");

	if (given)
		(void)snprintf(path, n, "%s", given);
	else
		(void)snprintf(path, n, "%s/tests/fake/.libs/%s",
			       build ? build : ".", name);
	return access(path, R_OK) == 0;
}

#define NEEDS_FAKE(condition)                                                  \
	do {                                                                   \
		if (!(condition)) {                                            \
			print_message("# skipped: no fake NVML: set "          \
				      "LF_FAKE_NVML_LIBRARY[_OLD]\n");         \
			skip();                                                \
		}                                                              \
	} while (0)

static int setup(void **state)
{
	int fd;

	(void)snprintf(machine, sizeof(machine), "/tmp/lf-hw-nvml-XXXXXX");
	fd = mkstemp(machine);
	if (fd < 0)
		return -1;
	(void)close(fd);
	return setenv("LF_FAKE_NVML", machine, 1);
}

static int teardown(void **state)
{
	return unlink(machine);
}

static void put_text(const char *text)
{
	int fd = open(machine, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

#define SYSTEM "driver 550.54.15\ncuda 12040\n"
#define H100(n)                                                                \
	"gpu 00000000:" n "7:00.0 GPU-" n " 233010de NVIDIA H100 80GB "        \
	"HBM3\npcie 1 16 5 16 5\nstate 8 0 0 0 0\nplace 1 32 63\n"             \
	"fabric 3 0 0 1 0\n"

static struct lf_hw *live(const char *text)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	put_text(text);
	if (lf_hw_live_nvml(hw, fake, &e) != 0)
		fail_msg("%s", e.text);
	return hw;
}

static void no_driver(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_int_equal(lf_hw_live_nvml(hw, "/nonexistent.so", &e), -ENOENT);
	has(e.text, "NVML: ");
	lf_hw_free(hw);
}

static void no_start(void **state)
{
	struct lf_hw *hw;
	struct lf_err e = { "" };

	NEEDS_FAKE(*fake);
	hw = lf_hw_new();
	put_text("refuse nvmlInit_v2 9\n");
	assert_int_equal(lf_hw_live_nvml(hw, fake, &e), -ENOENT);
	has(e.text, "the driver is not loaded");
	put_text("refuse nvmlInit_v2 18\n");
	assert_int_equal(lf_hw_live_nvml(hw, fake, &e), -EIO);
	has(e.text, "different drivers");
	put_text("refuse nvmlDeviceGetCount_v2 999\n");
	assert_int_equal(lf_hw_live_nvml(hw, fake, &e), -EIO);
	has(e.text, "returned 999");
	lf_hw_free(hw);
}

/* A library that has none of the functions. */
static void foreign_library(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_int_equal(lf_hw_live_nvml(hw, "libc.so.6", &e), -EIO);
	has(e.text, "nvmlInit_v2 returned 13");
	assert_int_equal(hw->gpus, 0);
	lf_hw_free(hw);
}

static void one_gpu(void **state)
{
	struct lf_hw *hw;
	const struct lf_hw_gpu *g;

	NEEDS_FAKE(*fake);
	hw = live(SYSTEM H100("1") "minor 6\n");
	g = hw->gpu;
	assert_int_equal(hw->gpus, 1);
	assert_int_equal(g->minor, 6);
	assert_string_equal(hw->node.driver, "550.54.15");
	assert_string_equal(hw->node.cuda, "12.4");
	assert_int_equal(hw->node.gpus_attached, 1);
	assert_string_equal(g->bus, "0000:17:00.0");
	assert_string_equal(g->uuid, "GPU-1");
	assert_string_equal(g->name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(g->cpus, "32-63");
	assert_int_equal(g->index, 0);
	assert_int_equal(g->device_id, 0x2330);
	assert_int_equal(g->numa, 1);
	assert_int_equal(g->pcie.gen, 1);
	assert_int_equal(g->pcie.max_gen, 5);
	assert_int_equal(g->pcie.device_max_gen, 5);
	assert_int_equal(g->pcie.width, 16);
	assert_int_equal(g->pstate, 8);
	assert_int_equal(g->mig, 0);
	assert_int_equal(g->ecc_uncorrected, 0);
	assert_int_equal(g->remap_failed, 0);
	assert_int_equal(g->fabric, LF_FABRIC_COMPLETED);
	assert_int_equal(g->fabric_ok, 1);
	assert_string_equal(g->clique, "");
	assert_true(hw->nvlink_shown); /* the part has none */
	assert_int_equal(g->links_active, 0);
	assert_int_equal(g->xid, -1);
	lf_hw_free(hw);
}

/* `n` links of each of two GPUs: `line` of GPU 0, `other` of GPU 1. */
static struct lf_hw *linked(int n, const char *line, const char *other,
			    const char *rest)
{
	struct lf_buf b = LF_BUF(1 << 16);
	struct lf_hw *hw;

	lf_buf_add(&b, SYSTEM H100("1") "links 26562\n");
	for (int i = 0; i < n; i++)
		lf_buf_add(&b, "%s\n", line);
	lf_buf_add(&b, H100("2") "links 26562\n");
	for (int i = 0; i < n; i++)
		lf_buf_add(&b, "%s\n", other);
	lf_buf_add(&b, "level 0 1 50\n%s", rest);
	hw = live(lf_buf_text(&b));
	lf_buf_free(&b);
	return hw;
}

static void switched(void **state)
{
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	hw = linked(18, "link up 00000000:07:00.0 switch",
		    "link up 00000000:07:00.0 switch", "");
	assert_int_equal(hw->gpu[0].links_active, 18);
	assert_int_equal(hw->gpu[0].links_inactive, 0);
	assert_int_equal(hw->gpu[0].switch_links, 18);
	assert_int_equal(hw->gpu[0].link_mbps, 26562);
	assert_int_equal(hw->nvlink[0][1], 18);
	assert_int_equal(hw->path[0][1], LF_PATH_SYS);
	lf_hw_free(hw);
	/* more than nvml.h of any year has said */
	hw = linked(40, "link up fffffff:ff:ff.0 switch",
		    "link up fffffff:ff:ff.0 switch", "");
	assert_int_equal(hw->nvlink[0][1], 40);
	lf_hw_free(hw);
}

static void direct(void **state)
{
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	hw = linked(12, "link up 00000000:27:00.0 gpu",
		    "link up 00000000:17:00.0 gpu", "");
	assert_int_equal(hw->gpu[0].links_active, 12);
	assert_int_equal(hw->gpu[0].switch_links, 0);
	assert_int_equal(hw->nvlink[0][1], 12);
	assert_int_equal(hw->conflicts, 0);
	lf_hw_free(hw);
	hw = linked(6, "link down - unknown", "link down - unknown", "");
	assert_int_equal(hw->gpu[0].links_active, 0);
	assert_int_equal(hw->gpu[0].links_inactive, 6);
	assert_int_equal(hw->nvlink[0][1], 0);
	lf_hw_free(hw);
}

/* The remote end is not told; peer access says that they meet. */
static void out_of_sight(void **state)
{
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	hw = linked(4, "link up 00000000:07:00.0 switch",
		    "link up 00000000:08:00.0 switch", "p2p 0 1 0\n");
	assert_int_equal(hw->nvlink[0][1], 4);
	assert_int_equal(hw->p2p[0][1], 1);
	lf_hw_free(hw);
	hw = linked(4, "link up 00000000:07:00.0 switch",
		    "link up 00000000:08:00.0 switch", "p2p 0 1 5\n");
	assert_int_equal(hw->nvlink[0][1], -1);
	assert_int_equal(hw->p2p[1][0], 0);
	lf_hw_free(hw);
	hw = linked(4, "link up - unknown", "link up - unknown", "p2p 0 1 6\n");
	assert_int_equal(hw->p2p[0][1], -1);
	assert_int_equal(hw->nvlink[0][1], 4);
	assert_int_equal(hw->gpu[0].switch_links, 4);
	lf_hw_free(hw);
}

static void refusing(void **state)
{
	struct lf_hw *hw;
	const struct lf_hw_gpu *g;

	NEEDS_FAKE(*fake);
	hw = linked(4, "link up 00000000:27:00.0 gpu",
		    "link up 00000000:17:00.0 gpu", "refuse all 3\n");
	g = hw->gpu;
	assert_int_equal(hw->gpus, 2);
	assert_string_equal(g->bus, "");
	assert_int_equal(g->index, 0);
	assert_int_equal(g->pcie.gen, -1);
	assert_int_equal(g->fabric, LF_FABRIC_UNKNOWN);
	assert_int_equal(g->ecc_uncorrected, -1);
	assert_int_equal(g->mig, 0);
	assert_int_equal(hw->path[0][1], LF_PATH_UNKNOWN);
	assert_int_equal(g->links_active, -1); /* not "a part without" */
	assert_false(hw->nvlink_shown);
	lf_hw_free(hw);
	/* "unknown error" of the link calls is not "no link" */
	hw = linked(4, "link up 00000000:27:00.0 gpu",
		    "link up 00000000:17:00.0 gpu",
		    "refuse nvmlDeviceGetNvLinkState 999\n");
	assert_int_equal(hw->gpu[0].links_active, -1);
	assert_int_equal(hw->nvlink[0][1], -1);
	assert_false(hw->nvlink_shown);
	lf_hw_free(hw);
}

static void lost(void **state)
{
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	hw = live(SYSTEM H100("1") H100("2") "lost\n" H100("3"));
	assert_int_equal(hw->gpus, 3);
	assert_int_equal(hw->node.gpus_attached, 3);
	assert_int_equal(hw->gpu[0].xid, -1);
	assert_int_equal(hw->gpu[1].index, 1);
	assert_int_equal(hw->gpu[1].xid, 79);
	assert_int_equal(hw->gpu[2].index, 2);
	lf_hw_free(hw);
}

static void fabric(void **state)
{
	static const struct {
		const char *line;
		enum lf_hw_fabric state;
		int ok;
	} rows[] = {
		{ "fabric 0 0 0 0 0", LF_FABRIC_NONE, -1 },
		{ "fabric 1 0 0 0 0", LF_FABRIC_NOT_STARTED, -1 },
		{ "fabric 2 0 0 0 0", LF_FABRIC_IN_PROGRESS, -1 },
		{ "fabric 3 0 0 0 0", LF_FABRIC_COMPLETED, 1 },
		{ "fabric 3 7 0 1 0", LF_FABRIC_COMPLETED, 0 },
		{ "fabric 3 0 0 2 0", LF_FABRIC_COMPLETED, 0 },
		{ "fabric 77 0 0 0 0", LF_FABRIC_UNKNOWN, -1 },
	};
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];

		(void)snprintf(text, sizeof(text), SYSTEM H100("1") "%s\n",
			       rows[i].line);
		hw = live(text);
		same(rows[i].line, "state", (int)hw->gpu[0].fabric,
		     (int)rows[i].state);
		same(rows[i].line, "ok", hw->gpu[0].fabric_ok, rows[i].ok);
		lf_hw_free(hw);
	}
	hw = live(SYSTEM H100("1") "fabric 3 0 5 1 171\n");
	assert_string_equal(hw->gpu[0].clique,
			    "abababab-abab-abab-abab-abababababab.5");
	lf_hw_free(hw);
}

static void sick(void **state)
{
	struct lf_hw *hw;

	NEEDS_FAKE(*fake);
	hw = live(SYSTEM H100("1") "state 0 1 12 1 1\npcie 3 8 3 16 5\n");
	assert_int_equal(hw->gpu[0].mig, 1);
	assert_int_equal(hw->gpu[0].ecc_uncorrected, 12);
	assert_int_equal(hw->gpu[0].remap_pending, 1);
	assert_int_equal(hw->gpu[0].remap_failed, 1);
	assert_int_equal(hw->gpu[0].pcie.width, 8);
	assert_int_equal(hw->gpu[0].pcie.max_gen, 3);
	assert_int_equal(hw->gpu[0].pcie.device_max_gen, 5);
	lf_hw_free(hw);
}

static void old_driver(void **state)
{
	struct lf_hw *hw;
	struct lf_err e = { "" };

	NEEDS_FAKE(*fake_old);
	hw = lf_hw_new();
	put_text(SYSTEM H100("1") "links 25000\nlink up fffffff:ff:ff.0 "
				  "switch\n" H100(
					  "2") "links 25000\nlink up "
					       "fffffff:ff:ff.0 switch\n");
	assert_int_equal(lf_hw_live_nvml(hw, fake_old, &e), 0);
	assert_int_equal(hw->gpu[0].pcie.device_max_gen, -1);
	assert_int_equal(hw->gpu[0].fabric, LF_FABRIC_UNKNOWN);
	assert_int_equal(hw->nvlink[0][1], 1);
	lf_hw_free(hw);
}

/* The caller's deadline, not ours, ends it: the process can be killed. */
static void hanging(void **state)
{
	struct timespec nap = { .tv_nsec = 200 * 1000000L };
	int status;
	pid_t pid;

	NEEDS_FAKE(*fake);
	put_text(SYSTEM H100("1") "hang nvmlDeviceGetPerformanceState 60\n");
	pid = fork();
	if (pid == 0) {
		struct lf_hw *hw = lf_hw_new();

		(void)lf_hw_live_nvml(hw, fake, NULL);
		_exit(0);
	}
	assert_true(pid > 0);
	(void)nanosleep(&nap, NULL);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Without a deadline of its own a command hangs with the driver. */
static void a_deadline(void **state)
{
	struct lf_hw *hw;
	struct lf_err e = { "" };

	NEEDS_FAKE(*fake);
	hw = lf_hw_new();
	put_text(SYSTEM H100("1") "hang nvmlDeviceGetName 30\n");
	assert_int_equal(lf_hw_live(hw, fake, 300, &e), -ETIMEDOUT);
	has(e.text, "within 0.3 s, found it hanging");
	assert_string_equal(hw->node.driver, "");
	put_text(SYSTEM H100("1") "crash nvmlDeviceGetName\n");
	assert_int_equal(lf_hw_live(hw, fake, 10000, &e), -EIO);
	has(e.text, "ended by signal 9");
	assert_string_equal(hw->node.driver, "");
	put_text("refuse nvmlInit_v2 18\n");
	assert_int_equal(lf_hw_live(hw, fake, 10000, &e), -EIO);
	has(e.text, "different drivers");
	put_text(SYSTEM H100("1"));
	assert_int_equal(lf_hw_live(hw, fake, 10000, &e), 0);
	assert_string_equal(hw->node.driver, "550.54.15");
	put_text("refuse nvmlInit_v2 9\n");
	assert_int_equal(lf_hw_live(hw, fake, 10000, &e), 0);
	lf_hw_free(hw);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		T(no_driver),	 T(no_start), T(foreign_library),
		T(one_gpu),	 T(switched), T(direct),
		T(out_of_sight), T(refusing), T(lost),
		T(fabric),	 T(sick),     T(old_driver),
		T(hanging),	 T(a_deadline),
	};

	if (!built(fake, sizeof(fake), "LF_FAKE_NVML_LIBRARY", "nvml.so"))
		fake[0] = '\0';
	if (!built(fake_old, sizeof(fake_old), "LF_FAKE_NVML_LIBRARY_OLD",
		   "nvml-old.so"))
		fake_old[0] = '\0';
	return cmocka_run_group_tests_name("hw_nvml", all, setup, teardown);
}
