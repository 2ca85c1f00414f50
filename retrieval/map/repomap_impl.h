/* repomap_impl.h - inside the map: memory for its strings, its files as they are read, and making its tables. */
#ifndef MYTH_REPOMAP_IMPL_H
#define MYTH_REPOMAP_IMPL_H

#include "retrieval/store/buffer.h"
#include "repomap.h"

/* ---- repomap_file.c ---- */

typedef struct myth_pool_block myth_pool_block;

typedef struct {
    myth_mem *mem;
    myth_pool_block *block;
    bool is_out_of_memory;
} myth_pool;

void *myth_pool_take(myth_pool *p, size_t n); /* zeroed memory; NULL when there is none */
/* a zero-terminated copy; "" when there is no memory */
const char *myth_pool_text(myth_pool *p, const void *s, size_t n);
void myth_pool_close(myth_pool *p);

typedef struct {
    const char *name, *parent;
    uint32_t idx; /* place in the file */
    uint32_t line0, line1, name_line;
    uint32_t up;    /* index + 1 of the row that it is shown under, 0 = none */
    uint32_t order; /* place in the text */
    uint64_t off, signature_off, signature_bytes;
    myth_symbol_kind kind;
    bool is_exported, is_listed; /* is_listed: it may be a line of the text */
    bool is_public;              /* exported, and not to its own package alone: pub(crate) */
    bool is_given;               /* by a package's entry, to strangers */
    double share, value;
} myth_repomap_row;

typedef struct {
    int64_t id;
    const char *path, *language, *summary;
    uint32_t place, flags, tier;
    double rank, value, most; /* value: of its line; most: no line of it or of a later file has more */
    myth_repomap_row *symbol; /* sorted by line, outer ones first */
    myth_repomap_risk *risk;
    int64_t *test; /* ids of the test files */
    uint32_t n_symbol, n_risk, n_test;
    bool has_entry; /* its package has an entry that gives on what strangers use */
} myth_repomap_entry;

typedef struct {
    myth_mem *mem;
    myth_store *store;
    const myth_repomap_opts *opts; /* with_summaries, show */
    sqlite3_stmt *next, *facts, *symbols, *path, *summary;
} myth_repomap_reader;

myth_status myth_repomap_reader_open(myth_repomap_reader *r, myth_mem *mem, myth_store *s,
                                     const myth_repomap_opts *opts, myth_error *err);
void myth_repomap_reader_close(myth_repomap_reader *r);
/* Reads the file on the next place below `under` ("" = all); *has is false at the end. */
myth_status myth_repomap_reader_next(myth_repomap_reader *r, myth_pool *pool, const char *under, myth_repomap_entry *e,
                                     bool *has, myth_error *err);
/* Makes the signature of a symbol as one line, cut when too long. */
myth_status myth_repomap_signature(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                                   const myth_repomap_row *row, const char **out, myth_error *err);
/* The same as a line of the text: shorter where it is long. */
myth_status myth_repomap_line(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                              const myth_repomap_row *row, const char **out, myth_error *err);
/* Lists the imported modules as written, each once. */
myth_status myth_repomap_imports(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                                 const char ***out, uint32_t *n, myth_error *err);
/* The path of a file of the index; *out "" when there is none. */
myth_status myth_repomap_path(myth_repomap_reader *r, myth_pool *pool, int64_t id, const char **out, myth_error *err);

/* ---- repomap_make.c ---- */

/* The tables facts, links and ranks as they must be; for this connection alone when they cannot be written or when
 * there is a query. Leaves the store in a read. *has_own: some are in memory, to be dropped by myth_repomap_drop. */
myth_status myth_repomap_make(myth_mem *mem, myth_index *x, const myth_repomap_opts *opts, bool *has_own,
                              bool *has_answer, myth_error *err);
void myth_repomap_drop(myth_index *x);

#endif
