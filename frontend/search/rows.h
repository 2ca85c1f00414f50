/* rows.h - prints what a search found, one row after the other, as text or as one list of JSON: lines, the definitions
 * and uses of a name, chunks.
 *
 * JSON     every row has path, start_line, end_line, symbol, kind, score, parts, text, and `match`, how it was found:
 *          line, context (a line near one), definition, use, near (a definition with a similar name), words. For a
 *          query that is a name, `found` says whether it occurs anywhere
 * Order    that of the calls. The list begins with its first row, so a search that is refused prints nothing
 * Owner    the caller sets the fields up to `shown` and calls myth_rows_close; paths and texts are lent by the call
 * Threads  one at a time */
#ifndef MYTH_SEARCH_ROWS_H
#define MYTH_SEARCH_ROWS_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_cli *cli;
    bool json, only_files, counts, explain;
    bool only_paths;               /* chunks are printed as the path of their file */
    bool is_name;                  /* the query is a name */
    bool is_silent;                /* lines are counted and not printed */
    bool has_context;              /* lines have others around them: groups of lines are parted by "--" */
    const myth_hits *hits;         /* chunks that are printed after the lines; NULL = none */
    bool *is_shown;                /* for each of them, whether a line inside of it was printed; false at first */
    const myth_occurrences *exact; /* definitions and uses that were printed before the lines; NULL = none */
    uint32_t n_exact;              /* how many of them */
    uint64_t n_row;                /* lines that were printed or counted */
    uint64_t most;                 /* when there are so many the search of lines ends; 0 = at its own end */

    /* kept by rows.c */
    myth_json_out j;
    bool has_begun; /* the list of JSON is open */
    char *last;     /* path of the previous line, when files are listed or counted */
    size_t cap_last;
    uint32_t last_line; /* with context: number of the previous line, 0 = none */
    uint64_t n_in_file; /* when they are counted: matching lines of `last` */
    bool is_full;       /* out of memory for `last` */
} myth_rows;

/* A line that matches, for myth_grep; arg is the myth_rows. False: no more lines are wanted. */
bool myth_rows_line(void *arg, const myth_grep_row *row);
/* A definition or a use of a name. */
void myth_rows_exact(myth_rows *r, const myth_occurrence *o);
/* A definition whose name is near to one that occurs nowhere. */
void myth_rows_near(myth_rows *r, const myth_near *near);
/* Remembers the chunks that have this line. */
void myth_rows_mark(myth_rows *r, const char *path, uint32_t line);
/* At most `most` chunks, without those that have a line that was printed. */
void myth_rows_hits(myth_rows *r, const myth_hits *hits, bool found, uint32_t most);

/* After the lines of a search. MYTH_ENOMEM: some row is missing. */
myth_status myth_rows_end_lines(myth_rows *r, myth_error *err);
/* Ends what was begun. ok: the search succeeded, so an empty list is printed if nothing was found. */
void myth_rows_close(myth_rows *r, bool ok);

#ifdef __cplusplus
}
#endif
#endif
