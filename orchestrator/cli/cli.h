/* SPDX-License-Identifier: Apache-2.0 */
/* cli - the sub-commands of `loongforge`; each parses its own arguments and
 * returns the exit status: 0, 1 for a finding or failure (one line on stderr),
 * 64 for wrong usage. */
#ifndef LF_CLI_H
#define LF_CLI_H

int cli_check(int argc, char **argv);
int cli_config(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_topo(int argc, char **argv);

#endif
