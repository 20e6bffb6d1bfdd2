/* SPDX-License-Identifier: Apache-2.0 */
/* clean - text of others made fit for a terminal, a log and JSON.
 *
 * What is left is UTF-8 without control characters: every byte of one (C0, DEL
 * and C1, of which U+009B begins a command as ESC [ does), and every byte that
 * is no UTF-8, becomes '?'.
 */
#ifndef LF_CLEAN_H
#define LF_CLEAN_H

/* But for the characters of `keep`, such as "\t". */
void lf_clean(char *text, const char *keep);

#endif
