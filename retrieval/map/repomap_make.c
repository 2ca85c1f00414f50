/* repomap_make.c - makes the tables of a map when files have changed: facts of new files, then links and ranks of
 * all.
 *
 * Fresh    meta's `map` is the version of the rules that links were made by; an update that changes a file sets it
 *          to 0 in the same transaction. `map rules` is the version that facts were made by
 * Written  in one transaction under the index's lock. If that is not possible, and for a query, tables of the same
 *          names are made in the connection's memory: SQLite resolves unqualified names to temporary tables first */
#include "repomap_impl.h"
#include "filegraph.h"
#include "given.h"
#include "headline.h"
#include "mentions.h"
#include "engine/base/array.h"
#include "retrieval/index/index_impl.h"
#include "retrieval/limits.h"
#include "retrieval/rank/search.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_CAP = 200, QUERY_HITS = 24, LOCK_WAIT_MS = 200, PUT_WAIT_MS = 10000 };

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "no memory for a map"); }

/* Version of the rules: a hash of risk.def, and a number that is raised by hand when equal files give other
 * headlines or links. */
static int64_t rules_number(void)
{
    enum { RULES = 3 };
    return (int64_t)(myth_risks_version() >> 1) + RULES;
}

static myth_status run(myth_store *s, const char *sql, myth_error *err)
{
    return myth_store_fail(s, sqlite3_exec(myth_store_db(s), sql, NULL, NULL, NULL), err);
}

/* ---- facts ---- */

typedef struct {
    myth_risks *risks;
    uint32_t n;
} scanner;

static bool take_import(void *arg, const myth_store_ref *ref)
{
    if (ref->kind == MYTH_REF_IMPORT)
        myth_risks_import(((scanner *)arg)->risks, ref->name, ref->line);
    return true;
}

typedef struct {
    int64_t id;
    const char *path, *language;
    uint64_t bytes;
    uint32_t flags;
} fact_file;

static myth_status find_risks(scanner *s, myth_store *store, sqlite3_stmt *symbols, const fact_file *f,
                              const unsigned char *text, uint64_t n, myth_risk_found found[MYTH_RISK_N],
                              myth_error *err)
{
    s->n = 0;
    if ((f->flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)) || !myth_risks_begin(s->risks, f->language))
        return MYTH_OK;
    myth_status st = myth_store_refs(store, f->id, take_import, s, err);
    if (st != MYTH_OK)
        return st;
    int rc;
    sqlite3_bind_int64(symbols, 1, f->id * MYTH_SYMBOL_IDS);
    sqlite3_bind_int64(symbols, 2, f->id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1);
    while ((rc = sqlite3_step(symbols)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(symbols, 0);
        myth_risks_define(s->risks, name ? name : "", (myth_symbol_kind)sqlite3_column_int(symbols, 1),
                          (uint32_t)sqlite3_column_int64(symbols, 2));
    }
    st = myth_store_fail(store, rc, err);
    sqlite3_reset(symbols);
    if (st == MYTH_OK)
        s->n = myth_risks_find(s->risks, found, text, n);
    return st;
}

typedef struct {
    myth_mem *mem;
    uint64_t *row;
    size_t n, cap;
    bool is_out_of_memory;
} words;

static bool take_word(void *arg, const char *word, size_t n)
{
    words *w = arg;
    w->is_out_of_memory = !MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "map", &w->row, w->n, &w->cap);
    if (!w->is_out_of_memory)
        w->row[w->n++] = myth_filegraph_name(word, n);
    return !w->is_out_of_memory;
}

static int by_word(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Writes the names that a document or a header mentions, each once with how often. */
static void put_mentions(myth_buffer *b, myth_mem *mem, const fact_file *f, const char *text, uint64_t n)
{
    enum { MENTIONS_BYTES = 256 << 10 };
    words w = {.mem = mem};
    size_t n_word = 0;
    const bool is_code = myth_filegraph_is_code(myth_filegraph_kinds(f->path, f->language, f->flags));
    const myth_mentions_form form = myth_mentions_form_of(f->path, f->language, !is_code);
    if (form != MYTH_MENTIONS_NONE && !(f->flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)))
        myth_mentions(form, text, n < MENTIONS_BYTES ? n : MENTIONS_BYTES, take_word, &w);
    if (w.n)
        qsort(w.row, w.n, sizeof(*w.row), by_word);
    for (size_t i = 0; i < w.n; i++)
        n_word += i == 0 || w.row[i] != w.row[i - 1];
    myth_buffer_number(b, n_word);
    for (size_t i = 0, end; i < w.n; i = end) {
        for (end = i + 1; end < w.n && w.row[end] == w.row[i]; end++)
            ;
        myth_buffer_number(b, w.row[i]);
        myth_buffer_number(b, end - i);
    }
    b->is_out_of_memory |= w.is_out_of_memory;
    myth_free(mem, w.row);
}

typedef struct {
    myth_buffer *b;
    uint64_t n;
} given_writer;

static bool take_given(void *arg, const myth_given *g)
{
    given_writer *w = arg;
    myth_buffer_string(w->b, g->module);
    myth_buffer_number(w->b, g->n_name == 1 && *g->name == '*' ? 0 : myth_filegraph_name(g->name, g->n_name));
    w->n++;
    return true;
}

/* Writes what the file gives on: its number, then for each the module and the name's number, 0 = all. */
static void put_given(myth_buffer *b, myth_mem *mem, const fact_file *f, const char *text, uint64_t n)
{
    myth_buffer list = {.mem = mem};
    given_writer w = {&list, 0};
    if (!(f->flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)))
        myth_given_read(f->path, f->language, text, n, take_given, &w);
    myth_buffer_number(b, w.n);
    if (list.n)
        myth_buffer_put(b, list.data, list.n);
    b->is_out_of_memory |= list.is_out_of_memory;
    myth_buffer_close(&list);
}

static myth_status put_facts(scanner *s, myth_mem *mem, myth_store *store, sqlite3_stmt *symbols, sqlite3_stmt *put,
                             const fact_file *f, myth_error *err)
{
    char headline[MYTH_HEADLINE_CAP] = "", line[LINE_CAP];
    uint64_t n = f->bytes < MYTH_PARSE_FILE_BYTES ? f->bytes : MYTH_PARSE_FILE_BYTES;
    myth_risk_found found[MYTH_RISK_N];
    myth_status st = MYTH_OK;
    myth_buffer b = {.mem = mem};
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "map", n);
    if (!text)
        return no_memory(err);
    MYTH_TRY(myth_store_text(store, text, f->id, 0, n, err));
    MYTH_TRY(find_risks(s, store, symbols, f, text, n, found, err));
    if (!(f->flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)))
        myth_headline(headline, f->path, f->language, text, n);
    myth_buffer_string(&b, headline);
    myth_buffer_number(&b, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        myth_one_line(line, sizeof(line), (const char *)text + found[i].off,
                      found[i].bytes < 4096 ? found[i].bytes : 4096);
        myth_buffer_number(&b, (uint64_t)found[i].tag);
        myth_buffer_number(&b, found[i].line);
        myth_buffer_string(&b, line);
    }
    put_mentions(&b, mem, f, (const char *)text, n);
    put_given(&b, mem, f, (const char *)text, n);
    if (b.is_out_of_memory) {
        st = no_memory(err);
        goto fail;
    }
    sqlite3_bind_int64(put, 1, f->id);
    sqlite3_bind_blob64(put, 2, b.data, b.n, SQLITE_STATIC);
    int rc = sqlite3_step(put);
    st = myth_store_fail(store, rc, err);
    sqlite3_reset(put);
fail:
    myth_buffer_close(&b);
    myth_free(mem, text);
    return st;
}

/* Makes the facts of every file that has none. */
static myth_status make_facts(myth_mem *mem, myth_store *store, const myth_repomap_opts *opts, myth_error *err)
{
    static const char *const sql[] = {
        "SELECT id, path, language, bytes, flags FROM files WHERE id NOT IN (SELECT file_id FROM facts) ORDER BY id",
        "SELECT name, kind, name_line FROM symbols WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        "INSERT INTO facts(file_id, data) VALUES(?1, ?2)",
        "SELECT count(*) FROM files WHERE id NOT IN (SELECT file_id FROM facts)",
    };
    enum { N = sizeof(sql) / sizeof(sql[0]) };
    sqlite3_stmt *q[N] = {NULL};
    scanner s = {0};
    myth_status st = MYTH_OK;
    uint64_t n_done = 0, n_all = 0;
    int rc;
    MYTH_TRY(myth_risks_open(&s.risks, mem, err));
    for (int i = 0; i < N; i++)
        MYTH_TRY(myth_store_fail(store, sqlite3_prepare_v2(myth_store_db(store), sql[i], -1, &q[i], NULL), err));
    if (sqlite3_step(q[3]) == SQLITE_ROW)
        n_all = (uint64_t)sqlite3_column_int64(q[3], 0);
    while ((rc = sqlite3_step(q[0])) == SQLITE_ROW) {
        char path[4200];
        snprintf(path, sizeof(path), "%.*s", sqlite3_column_bytes(q[0], 1), (const char *)sqlite3_column_blob(q[0], 1));
        fact_file f = {sqlite3_column_int64(q[0], 0), path, (const char *)sqlite3_column_text(q[0], 2),
                       (uint64_t)sqlite3_column_int64(q[0], 3), (uint32_t)sqlite3_column_int64(q[0], 4)};
        f.language = f.language ? f.language : "";
        MYTH_TRY(put_facts(&s, mem, store, q[1], q[2], &f, err));
        if (opts->progress)
            opts->progress(opts->progress_arg, ++n_done, n_all);
        if (myth_cancelled(opts->is_cancelled)) {
            st = myth_fail(err, MYTH_ECANCEL, "stopped; the map was not made");
            goto fail;
        }
    }
    MYTH_TRY(myth_store_fail(store, rc, err));
fail:
    for (int i = 0; i < N; i++)
        sqlite3_finalize(q[i]);
    myth_risks_close(s.risks);
    return st;
}

/* ---- all ---- */

static myth_status make_tables(myth_mem *mem, myth_store *store, const myth_repomap_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_filegraph g = {0};
    double *start = NULL;
    MYTH_TRY(make_facts(mem, store, opts, err));
    MYTH_TRY(myth_filegraph_make(&g, mem, store, opts->is_cancelled, err));
    if (!(start = myth_filegraph_starts(&g, err))) {
        st = MYTH_ENOMEM;
        goto fail;
    }
    MYTH_TRY(myth_filegraph_rank(&g, start, MYTH_DAMPING_MAP, err));
    MYTH_TRY(myth_filegraph_save(&g, store, true, err));
fail:
    myth_free(mem, start);
    myth_filegraph_close(&g);
    return st;
}

bool myth_repomap_is_fresh(myth_store *store) { return myth_store_number(store, "map", 0) == rules_number(); }
static bool has_facts(myth_store *store) { return myth_store_number(store, "map rules", 0) == rules_number(); }

/* MYTH_ELOST: another process is writing. */
static myth_status make_stored(myth_mem *mem, myth_index *x, const myth_repomap_opts *opts, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    myth_status st = myth_index_lock_writer(x, LOCK_WAIT_MS, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_store_begin(store, err));
    if (!myth_repomap_is_fresh(store)) {
        if (!has_facts(store))
            MYTH_TRY(run(store, "DELETE FROM facts", err));
        MYTH_TRY(make_tables(mem, store, opts, err));
        MYTH_TRY(myth_store_set_number(store, "map", rules_number(), err));
        MYTH_TRY(myth_store_set_number(store, "map rules", rules_number(), err));
    }
    MYTH_TRY(myth_store_commit(store, err));
    myth_store_settle(store);
fail:
    myth_store_rollback(store);
    myth_index_unlock_writer(x);
    return st;
}

static const char own_ranks[] =
    "CREATE TEMP TABLE ranks(place INTEGER PRIMARY KEY, file_id INTEGER, rank REAL, data BLOB)";
static const char own_links[] = "CREATE TEMP TABLE links(file_id INTEGER PRIMARY KEY, data BLOB);"
                                "CREATE TEMP TABLE facts(file_id INTEGER PRIMARY KEY, data BLOB)";

static myth_status make_own(myth_mem *mem, myth_store *store, const myth_repomap_opts *opts, myth_error *err)
{
    myth_status st = run(store, own_links, err);
    if (st == MYTH_OK && has_facts(store))
        st = run(store, "INSERT INTO temp.facts SELECT * FROM main.facts", err);
    if (st == MYTH_OK)
        st = run(store, own_ranks, err);
    return st == MYTH_OK ? make_tables(mem, store, opts, err) : st;
}

/* ---- a query ---- */

/* The place in its file of a hit's definition + 1; 0 = it has none. */
static uint32_t symbol_of(sqlite3_stmt *q, const myth_hit *h)
{
    uint32_t found = 0;
    sqlite3_bind_int64(q, 1, h->file_id * MYTH_SYMBOL_IDS);
    sqlite3_bind_int64(q, 2, h->file_id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1);
    sqlite3_bind_text(q, 3, h->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 4, h->line0);
    sqlite3_bind_int64(q, 5, h->line1);
    if (*h->name && sqlite3_step(q) == SQLITE_ROW)
        found = 1 + (uint32_t)(sqlite3_column_int64(q, 0) % MYTH_SYMBOL_IDS);
    sqlite3_reset(q);
    return found;
}

/* Ranks files by what a search finds: each hit weighs the square of its score. */
static myth_status rank_for(myth_mem *mem, myth_store *store, const myth_hits *hits, bool has_table, myth_error *err)
{
    myth_filegraph g = {0};
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = NULL;
    size_t n = 0;
    myth_asked *asked = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)hits->n_hit + 1, sizeof(*asked));
    if (!asked)
        return no_memory(err);
    MYTH_TRY(myth_store_fail(store,
                             sqlite3_prepare_v2(myth_store_db(store),
                                                "SELECT id FROM symbols WHERE id BETWEEN ?1 AND ?2 AND "
                                                "CAST(name AS TEXT)=?3 AND line0<=?5 AND line1>=?4 ORDER BY id",
                                                -1, &q, NULL),
                             err));
    for (uint32_t i = 0; i < hits->n_hit; i++) {
        const myth_hit *h = &hits->hit[i];
        if (h->score > 0)
            asked[n++] = (myth_asked){h->file_id, symbol_of(q, h), h->score * h->score};
    }
    MYTH_TRY(myth_filegraph_load(&g, mem, store, err));
    MYTH_TRY(myth_filegraph_rank_for(&g, store, asked, n, err));
    if (!has_table)
        MYTH_TRY(run(store, own_ranks, err));
    MYTH_TRY(myth_filegraph_save(&g, store, false, err));
fail:
    sqlite3_finalize(q);
    myth_free(mem, asked);
    myth_filegraph_close(&g);
    return st;
}

void myth_repomap_drop(myth_index *x)
{
    static const char *const sql[] = {"DROP TABLE IF EXISTS temp.ranks", "DROP TABLE IF EXISTS temp.links",
                                      "DROP TABLE IF EXISTS temp.facts"};
    for (int i = 0; i < 3; i++)
        sqlite3_exec(myth_store_db(myth_index_store(x)), sql[i], NULL, NULL, NULL);
}

myth_status myth_repomap_make(myth_mem *mem, myth_index *x, const myth_repomap_opts *opts, bool *has_own,
                              bool *has_answer, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    myth_status st = MYTH_OK;
    myth_hits hits = {0};
    *has_own = false;
    *has_answer = true;
    if (opts->query) {
        myth_search_opts so = {
            .query = opts->query, .mode = MYTH_SEARCH_RANKED, .k = QUERY_HITS, .with_text = true, .narrow = true};
        MYTH_TRY(myth_search(&hits, x, &so, err));
    }
    *has_answer = !opts->query || hits.n_hit > 0;
    if (!myth_repomap_is_fresh(store) && !x->is_read_only) {
        st = make_stored(mem, x, opts, err);
        if (st != MYTH_OK && st != MYTH_ELOST)
            goto fail;
    }
    MYTH_TRY(myth_store_read_begin(store, err));
    if (!myth_repomap_is_fresh(store)) {
        *has_own = true;
        MYTH_TRY(make_own(mem, store, opts, err));
    }
    if (hits.n_hit) { /* a query that nothing answers has the map without one */
        bool has_table = *has_own;
        *has_own = true;
        MYTH_TRY(rank_for(mem, store, &hits, has_table, err));
    }
fail:
    myth_hits_free(&hits);
    return st;
}

myth_status myth_repomap_put_summary(myth_index *x, const char *path, const char *text, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    sqlite3_stmt *q = NULL;
    const char *sql =
        *text ? "INSERT OR REPLACE INTO summaries(hash, text) SELECT hash, ?2 FROM files WHERE path=CAST(?1 AS BLOB)"
              : "DELETE FROM summaries WHERE hash IN (SELECT hash FROM files WHERE path=CAST(?1 AS BLOB))";
    myth_status st = myth_index_lock_writer(x, PUT_WAIT_MS, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_store_begin(store, err));
    MYTH_TRY(myth_store_fail(store, sqlite3_prepare_v2(myth_store_db(store), sql, -1, &q, NULL), err));
    sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
    if (*text)
        sqlite3_bind_text(q, 2, text, -1, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    MYTH_TRY(myth_store_fail(store, rc, err));
    if (*text && sqlite3_changes(myth_store_db(store)) == 0) {
        st = myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_EXPLAIN_SCAN, "%.160s: not in the index", path);
        goto fail;
    }
    sqlite3_finalize(q);
    q = NULL;
    MYTH_TRY(myth_store_commit(store, err));
fail:
    sqlite3_finalize(q);
    myth_store_rollback(store);
    myth_index_unlock_writer(x);
    return st;
}
