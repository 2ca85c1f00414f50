/* repomap.h - a directory on a page: folders, files, signatures, the most important first, never more tokens than asked
 * for.
 *
 * Text     src/                                                a folder, in order of their names; "./" is the root
 *            queue.c (c) [filesystem:31 sql:12] Items in order, one writer.  language where it is not that of the file
 *            above; risks with
 *                                                                                    their lines; what the file says of
 *                                                                                    itself
 *              imports queue.h, worker.h; tests tests/test_queue.c
 *              int queue_push(queue *q, item *it)              signatures in order of their lines, inner ones deeper
 *          (12 of 340 files)                                   at the end, unless all are there
 * Order    what is shown is decided line by line: a file's line by its rank (filegraph.h); its exported symbols, those
 *          first through which most of the rank comes, the k-th by the rank over k + 1, a class with its best member;
 *          imports and tests when the symbols are there. First sources, then tests and the like, then documents and
 *          data, then what is not exported
 * Budget   exact: the text is counted whole, and one line more would not fit. The counts of lines alone only say where
 *          to begin to look
 * Values   of constants and variables are not part of a signature
 * Names    are data: one line each, without controls, names of files with blanks or signs in quotes, what is too long
 *          cut
 * Same     bytes for the same tree, whatever was indexed before, by any number of threads
 * Stored   facts(file_id, data)        what only a file's text says: headline, risks; kept until the file changes
 *          links, ranks                filegraph.h; made anew by the first map after a change
 *          summaries(hash, text)       of a file's content, by whoever writes better ones than headlines; they stay
 *                                      when the file moves
 * Read-only indexes, and those that another process is writing, are mapped all the same: what is made stays in memory
 * Owner    a map reads one state of the index until it is closed; one map of an index at a time, no search or update
 *          while it is open
 * Errors   MYTH_ENOTFOUND no files, or none below `under`; MYTH_EARG a query without a word; MYTH_ECANCEL; those of the
 *          store */
#ifndef MYTH_REPOMAP_H
#define MYTH_REPOMAP_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"
#include "risk.h"

typedef struct myth_repomap myth_repomap;

typedef struct {
    const char *query; /* files that answer it, and what they lead to, come first; NULL = the same for all questions */
    const char *under; /* only files below this folder, relative to the root; NULL = all                            */
    /* What others may see of a text, at most cap - 1 bytes and a zero; returns how many. Of headlines, signatures,
     * lines of evidence. NULL = all. */
    size_t (*show)(void *arg, char *dst, size_t cap, const char *text, size_t n);
    void *show_arg;
    bool with_summaries; /* those of the table before headlines                                                       */
    const myth_cancel *is_cancelled;
    void (*progress)(void *arg, uint64_t done,
                     uint64_t all); /* files looked at; only when there is something to make */
    void *progress_arg;
} myth_repomap_opts;

/* Of an index that is up to date. */
myth_status myth_repomap_open(myth_repomap **out, myth_mem *mem, myth_index *x, const myth_repomap_opts *opts,
                              myth_error *err);
void myth_repomap_close(myth_repomap *m); /* takes NULL */
/* Files in it: all, or those below `under`. */
uint32_t myth_repomap_n_file(const myth_repomap *m);

/* ---- as text ---- */

typedef struct {
    /* How many tokens n bytes are. */
    myth_status (*count)(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err);
    void *arg;
    uint64_t max_token;
} myth_repomap_budget;

typedef struct {
    char *text; /* zero-terminated; "" when nothing fits */
    size_t n;
    uint64_t n_token;
    uint32_t n_shown, n_file; /* files */
    uint32_t n_counted;       /* calls of `count` for the whole text */
} myth_repomap_page;

myth_status myth_repomap_text(myth_repomap_page *out, myth_repomap *m, const myth_repomap_budget *budget,
                              myth_error *err);
void myth_repomap_page_free(myth_repomap_page *page, myth_mem *mem);

/* ---- as data ---- */

typedef struct {
    const char *name, *parent, *signature; /* parent may be "" */
    uint32_t line;
    myth_symbol_kind kind;
    bool is_exported;
    double share; /* of the file's rank that comes through it */
} myth_repomap_symbol;

typedef struct {
    myth_risk tag;
    uint32_t line;
    const char *text; /* of the line, as it is written, bounded */
} myth_repomap_risk;

typedef struct {
    const char *path, *language, *summary; /* summary may be ""; paths as they are */
    double rank;
    uint32_t flags;                          /* of the store */
    const myth_repomap_symbol *symbol;       /* in order of their places */
    const char *const *import, *const *test; /* modules as written, paths */
    const myth_repomap_risk *risk;
    uint32_t n_symbol, n_import, n_test, n_risk;
    bool is_shown; /* in the text made last     */
} myth_repomap_file;

/* Every file, most important first; on_file returns false to end. What it gets is valid during the call. */
myth_status myth_repomap_each(myth_repomap *m, bool (*on_file)(void *arg, const myth_repomap_file *f), void *arg,
                              myth_error *err);

/* Whether the tables are those of the files as they are indexed: then a map costs what it shows. */
bool myth_repomap_is_fresh(myth_store *s);

/* ---- summaries, for those who write them ---- */

/* Of a file's content; "" takes it away. MYTH_ENOTFOUND: no such file. */
myth_status myth_repomap_put_summary(myth_index *x, const char *path, const char *text, myth_error *err);

#endif
