/* open_index.h - the index of a directory as commands want it: made when there is none, brought up to date, progress on
 * a terminal. */
#ifndef MYTH_OPEN_INDEX_H
#define MYTH_OPEN_INDEX_H

#include "frontend/cli/cli.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Made anew when it is damaged. That, and what could not be read, is said on standard error. Booked in mem; closed by
 * myth_index_close. MYTH_ENOTFOUND: no directory, or no file in it. */
myth_status myth_cli_index(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, myth_error *err);

/* Whether nothing of this name was said about the index before; it now counts as said. An empty file beside the
 * database remembers it; where that cannot be made the answer is true each time. */
bool myth_cli_says_first(const myth_index *x, const char *name);

/* The exit code of a command that answers from what it could read, and whose MYTH_EXIT_FINDINGS says that nothing was
 * found: MYTH_EXIT_INCOMPLETE instead of both when something could not be read (cli->n_unread). */
int myth_cli_answered(const myth_cli *cli, int code);

#ifdef __cplusplus
}
#endif
#endif
