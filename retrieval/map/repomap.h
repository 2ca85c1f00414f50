/* repomap.h - a directory on one page: folders, files and signatures, the most important first, in at most a given
 * number of tokens.
 *
 * Text     for example, with notes to the right of each line:
 *            src/                                       a folder; folders are in order of their names, "./" is the root
 *              queue.c (c) [sql:12] Items in order.     language, unless the file above has the same; risks with their
 *                                                       lines; the file's headline
 *                imports queue.h; tests test_queue.c
 *                int queue_push(queue *q, item *it)     signatures in order of their lines, inner ones deeper
 *            (12 of 340 files)                          at the end, unless all files are shown
 * Order    lines are chosen one by one by their value. A symbol's is the rank that comes through it (filegraph.h), a
 *          quarter of that for macros, values and types of errors, and a little for what nobody uses; a type has the
 *          value of its best member, a file's line that of its best symbol. Risks are a part of the file's line with a
 *          quarter of its value; imports and tests come when the names are shown. Sources come before tests and the
 *          like, those before documents and data, and symbols that are not public come last: those that are not
 *          exported, and those for their own package alone (pub(crate))
 * Members  are shown under their type, also where the language writes them apart (Go, impl blocks of Rust)
 * Long     signatures of functions are shortened (brief.h); as data they are whole
 * Budget   is exact: the whole text is counted, and one more line would exceed the budget. Counts of single lines
 *          are used only to choose where the search begins
 * Values   of constants and variables are not shown
 * Names    are data: shown on one line without control characters, cut when too long; file names with blanks or
 *          unusual characters are quoted
 * Same     trees give the same bytes, whatever was indexed before and with any number of threads
 * Stored   facts(file_id, data)     what only a file's text tells (headline, risks, names that a document or a header
 *                                   mentions, what it gives on); kept until the file changes
 *          links, ranks             see filegraph.h; made anew by the first map after a change
 *          summaries(hash, text)    better descriptions than headlines, by a hash of the content, so that they stay
 *                                   when a file moves
 * An index that is read-only, or that another process is writing, can be mapped too: the tables are then kept in
 * memory
 * Owner    an open map reads one state of the index. One map of an index may be open at a time, without searches or
 *          updates
 * Threads  one at a time per map
 * Errors   MYTH_ENOTFOUND no files, or none below `under`; MYTH_EARG a query without a word; MYTH_ECANCEL; those of
 *          the store */
#ifndef MYTH_REPOMAP_H
#define MYTH_REPOMAP_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"
#include "risk.h"

typedef struct myth_repomap myth_repomap;

typedef struct {
    const char
        *query; /* files that answer this query, and what these use more than others do, come first; NULL = no query */
    const char *under; /* only files below this folder, relative to the root; NULL = all                            */
    /* Filters texts that are shown (headlines, signatures, lines of evidence), such as a redactor: writes at most
     * cap - 1 bytes and a zero, returns the bytes. NULL = show all. */
    size_t (*show)(void *arg, char *dst, size_t cap, const char *text, size_t n);
    void *show_arg;
    bool with_summaries; /* prefer stored summaries to headlines */
    const myth_cancel *is_cancelled;
    void (*progress)(void *arg, uint64_t done,
                     uint64_t all); /* files that were read; called only when tables are made */
    void *progress_arg;
} myth_repomap_opts;

/* Opens a map. The index must be up to date. */
myth_status myth_repomap_open(myth_repomap **out, myth_mem *mem, myth_index *x, const myth_repomap_opts *opts,
                              myth_error *err);
void myth_repomap_close(myth_repomap *m); /* takes NULL */
/* Number of files in the map: all, or those below `under`. */
uint32_t myth_repomap_n_file(const myth_repomap *m);
/* False: nothing of the index answers the query, so that the map is the one without it. */
bool myth_repomap_has_answer(const myth_repomap *m);

/* ---- as text ---- */

typedef struct {
    /* Counts the tokens of n bytes. */
    myth_status (*count)(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err);
    void *arg;
    uint64_t max_token;
} myth_repomap_budget;

typedef struct {
    char *text; /* zero-terminated; "" when nothing fits */
    size_t n;
    uint64_t n_token;
    uint32_t n_shown, n_file; /* numbers of files */
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
    double share; /* share of the file's rank that comes through it */
} myth_repomap_symbol;

typedef struct {
    myth_risk tag;
    uint32_t line;
    const char *text; /* text of the line, cut when too long */
} myth_repomap_risk;

typedef struct {
    const char *path, *language, *summary; /* summary may be ""; paths are not quoted */
    double rank;
    uint32_t flags;                          /* flags as in the store */
    const myth_repomap_symbol *symbol;       /* in order of their place in the file */
    const char *const *import, *const *test; /* modules as written, paths */
    const myth_repomap_risk *risk;
    uint32_t n_symbol, n_import, n_test, n_risk;
    bool is_shown; /* shown in the last text */
} myth_repomap_file;

/* Calls on_file for every file, the most important first, until it returns false. Data is valid during the call. */
myth_status myth_repomap_each(myth_repomap *m, bool (*on_file)(void *arg, const myth_repomap_file *f), void *arg,
                              myth_error *err);

/* Whether the stored tables are valid for the files as indexed; if so, a map costs only what it shows. */
bool myth_repomap_is_fresh(myth_store *s);

/* ---- summaries, for those who write them ---- */

/* Stores a summary for a file's content; "" deletes it. MYTH_ENOTFOUND: no such file. */
myth_status myth_repomap_put_summary(myth_index *x, const char *path, const char *text, myth_error *err);

#endif
