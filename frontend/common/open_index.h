/* open_index.h - opens the index of a directory for a command: creates it if there is none, brings it up to date, and
 * shows progress on a terminal.
 *
 * Owner    the caller closes the index with myth_index_close
 * Threads  one */
#ifndef MYTH_OPEN_INDEX_H
#define MYTH_OPEN_INDEX_H

#include "frontend/cli/cli.h"
#include "frontend/inspect/report/missed.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens and updates the index; a damaged one is rebuilt. Notes on standard error name a rebuild and every file that
 * could not be read. unread, unless NULL, gets a row for each of them: an inspection lists them, because they may hold
 * what was asked for. Past MYTH_UNREAD_ROWS one last row for "." says that there are more. The index is booked in mem.
 * MYTH_ENOTFOUND: dir is not a directory, or has no file to index. */
enum { MYTH_UNREAD_ROWS = 100 };
myth_status myth_cli_index_in(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, const char *cache_dir,
                              myth_missed_list *unread, myth_error *err);
/* The same in the folder of caches. */
myth_status myth_cli_index(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, myth_missed_list *unread,
                           myth_error *err);
/* Brings an open index up to date, with the same notes and rows. */
myth_status myth_cli_index_update(myth_index *x, myth_cli *cli, myth_missed_list *unread, myth_error *err);

/* Whether this is the first call with this name for the index, in any run: for notes that are printed once for each
 * index. An empty file beside the database remembers it; if it cannot be created, the answer is always true. */
bool myth_cli_says_first(const myth_index *x, const char *name);

/* The exit code of a search: `code` (MYTH_EXIT_CLEAN, or MYTH_EXIT_FINDINGS when nothing was found), but
 * MYTH_EXIT_INCOMPLETE instead of both when a file or directory could not be read (cli->n_unread). */
int myth_cli_answered(const myth_cli *cli, int code);

/* Says which files were not read for definitions and uses (myth_index_find_unparsed), as a line that is safe to print:
 * "big.c was not read for definitions (parse: more than 10000 steps)". *n 0: there are none, and `line` is "". */
myth_status myth_cli_unparsed(char line[160], uint64_t *n, myth_index *x, myth_error *err);
/* The same as a note on standard error. *n may be NULL. */
myth_status myth_cli_note_unparsed(uint64_t *n, myth_cli *cli, myth_index *x, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
