/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge - the command: a table of sub-commands, one file each. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum {
	EXIT_USAGE = 64
};

static const struct {
	const char *name;
	char *usage;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "status", "loongforge status", cli_status,
	  "what the orchestrators of a job are doing" },
	{ "topo", "loongforge topo", cli_topo,
	  "how GPUs and NICs are connected" },
	{ "check", "loongforge check", cli_check,
	  "is this machine, or a recorded one, as it should be" },
	{ "doctor", "loongforge doctor", cli_doctor,
	  "what is wrong with a job or its node, and what helps" },
	{ "config", "loongforge config", cli_config,
	  "check or show the configuration" },
};

static int usage(FILE *to, int rc)
{
	(void)fprintf(to, "Usage: loongforge COMMAND [ARGUMENTS]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		(void)fprintf(to, "  %-8s %s\n", commands[i].name,
			      commands[i].help);
	(void)fprintf(to, "\n`loongforge COMMAND --help` tells more; "
			  "loongforge(1) tells all.\n");
	return rc;
}

/* argp knows no -h of itself; no command has another meaning for it. */
static void spell_help(int argc, char **argv)
{
	static char help[] = "--help";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-h"))
			argv[i] = help;
}

static int run(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout, 0);
	if (!strcmp(argv[1], "--version")) {
		(void)puts(PACKAGE_STRING);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name)) {
			argv[1] = commands[i].usage; /* what argp calls us */
			return commands[i].run(argc - 1, argv + 1);
		}
	(void)fprintf(stderr, "loongforge: unknown command '%.64s'\n", argv[1]);
	return usage(stderr, EXIT_USAGE);
}

/* What did not reach its reader, on a full disk for one, is no success.  At
 * exit, since argp leaves by that after --help. */
static void end_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	(void)fprintf(stderr, "loongforge: standard output: %s\n",
		      strerror(errno));
	_exit(1);
}

int main(int argc, char **argv)
{
	(void)atexit(end_output);
	spell_help(argc, argv);
	return run(argc, argv);
}
