/* repomap_file.c - reads one file of a map from the tables; a pool holds its strings. */
#define _GNU_SOURCE /* memmem */
#include "repomap_impl.h"
#include "brief.h"
#include "filegraph.h"
#include "headline.h"
#include "retrieval/names/join_lines.h"
#include "retrieval/rank/rank.h"
#include "engine/base/text.h"
#include "retrieval/scan/languages.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL_BYTES = 64 << 10, SIGNATURE_CAP = 200, SIGNATURE_READ = 1024, SHOWN_CAP = 400, ROWS_MAX = 20000 };

/* ---- pool ---- */

struct myth_pool_block {
    myth_pool_block *next;
    size_t n, cap;
};

void *myth_pool_take(myth_pool *p, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (!p->block || p->block->cap - p->block->n < n) {
        size_t cap = n > POOL_BYTES ? n : POOL_BYTES;
        myth_pool_block *b = myth_alloc(p->mem, MYTH_MEM_OTHER, "map", sizeof(*b) + cap + 16);
        p->is_out_of_memory |= !b;
        if (!b)
            return NULL;
        b->cap = cap;
        b->next = p->block;
        p->block = b;
    }
    char *at = (char *)p->block + ((sizeof(*p->block) + 15) & ~(size_t)15) + p->block->n;
    p->block->n += n;
    return at;
}

const char *myth_pool_text(myth_pool *p, const void *s, size_t n)
{
    char *t = myth_pool_take(p, n + 1);
    if (!t)
        return "";
    if (n)
        memcpy(t, s, n);
    t[n] = '\0';
    return t;
}

void myth_pool_close(myth_pool *p)
{
    while (p->block) {
        myth_pool_block *next = p->block->next;
        myth_free(p->mem, p->block);
        p->block = next;
    }
}

/* ---- reader ---- */

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "no memory for a map"); }

myth_status myth_repomap_reader_open(myth_repomap_reader *r, myth_mem *mem, myth_store *s,
                                     const myth_repomap_opts *opts, myth_error *err)
{
    *r = (myth_repomap_reader){.mem = mem, .store = s, .opts = opts};
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } want[] = {
        {&r->next, "SELECT r.place, r.file_id, r.rank, r.data, f.path, f.language, f.flags, f.hash FROM ranks r CROSS "
                   "JOIN files f ON f.id=r.file_id "
                   "ORDER BY r.place"},
        {&r->facts, "SELECT data FROM facts WHERE file_id=?1"},
        {&r->symbols, "SELECT id, name, parent, kind, line0, line1, name_line, off, signature_off, signature_bytes, "
                      "flags FROM symbols "
                      "WHERE id BETWEEN ?1 AND ?2 ORDER BY id"},
        {&r->path, "SELECT path FROM files WHERE id=?1"},
        {&r->summary, "SELECT text FROM summaries WHERE hash=?1"},
    };
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]) && st == MYTH_OK; i++)
        st = myth_store_fail(s, sqlite3_prepare_v2(myth_store_db(s), want[i].sql, -1, want[i].stmt, NULL), err);
    return st;
}

void myth_repomap_reader_close(myth_repomap_reader *r)
{
    sqlite3_stmt *q[] = {r->next, r->facts, r->symbols, r->path, r->summary};
    for (int i = 0; i < 5; i++)
        sqlite3_finalize(q[i]);
    *r = (myth_repomap_reader){0};
}

static const char *column_text(myth_pool *pool, sqlite3_stmt *q, int i)
{
    const void *s = sqlite3_column_blob(q, i);
    return s ? myth_pool_text(pool, s, (size_t)sqlite3_column_bytes(q, i)) : "";
}

static myth_status damaged(const char *what, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "the index is damaged (%s of a file)", what);
}

/* Reads one line of a file and filters it for showing. */
static const char *shown(const myth_repomap_reader *r, myth_pool *pool, const char *line)
{
    char text[SHOWN_CAP];
    size_t n = strlen(line);
    if (r->opts->show && n) {
        n = r->opts->show(r->opts->show_arg, text, sizeof(text), line, n);
        line = text;
    }
    return myth_pool_text(pool, line, n);
}

/* ---- what is known of a file ---- */

static myth_status read_facts(myth_repomap_reader *r, myth_pool *pool, myth_repomap_entry *e, myth_error *err)
{
    sqlite3_bind_int64(r->facts, 1, e->id);
    int rc = sqlite3_step(r->facts);
    myth_status st = myth_store_fail(r->store, rc, err);
    e->summary = "";
    const unsigned char *p = rc == SQLITE_ROW ? sqlite3_column_blob(r->facts, 0) : NULL;
    if (p) {
        myth_bytes b = {p, p + sqlite3_column_bytes(r->facts, 0), false};
        const char *summary = myth_bytes_string(&b);
        e->summary = shown(r, pool, summary);
        uint64_t n = myth_bytes_number(&b);
        e->risk = n <= MYTH_RISK_N ? myth_pool_take(pool, n * sizeof(*e->risk)) : NULL;
        while (e->risk && e->n_risk < n && !b.is_bad) {
            uint64_t tag = myth_bytes_number(&b);
            uint32_t line = (uint32_t)myth_bytes_number(&b);
            const char *text = myth_bytes_string(&b);
            b.is_bad |= tag >= MYTH_RISK_N;
            if (!b.is_bad)
                e->risk[e->n_risk++] = (myth_repomap_risk){(myth_risk)tag, line, shown(r, pool, text)};
        }
        if (b.is_bad || n > MYTH_RISK_N)
            st = damaged("facts", err);
    }
    sqlite3_reset(r->facts);
    return st;
}

/* The stored summary of this content, if there is one. */
static myth_status read_summary(myth_repomap_reader *r, myth_pool *pool, myth_repomap_entry *e, int hash,
                                myth_error *err)
{
    char line[MYTH_HEADLINE_CAP];
    sqlite3_bind_value(r->summary, 1, sqlite3_column_value(r->next, hash));
    int rc = sqlite3_step(r->summary);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(r->summary, 0) : NULL;
    if (text && myth_one_line(line, sizeof(line), text, (size_t)sqlite3_column_bytes(r->summary, 0)))
        e->summary = shown(r, pool, line);
    myth_status st = myth_store_fail(r->store, rc, err);
    sqlite3_reset(r->summary);
    return st;
}

/* Whether a symbol may be a line of the text: what a file offers to others, but no members of types, include guards
 * or tests. */
static bool is_listed(const myth_repomap_row *row)
{
    bool is_inner = row->parent[0] != '\0';
    switch (row->kind) {
    case MYTH_SYMBOL_TEST: return false;
    case MYTH_SYMBOL_CONSTANT:
    case MYTH_SYMBOL_VARIABLE: return !is_inner;
    /* longer than "#define " and the name */
    case MYTH_SYMBOL_MACRO: return row->signature_bytes > strlen(row->name) + 9;
    case MYTH_SYMBOL_TYPE: return strcmp(row->parent, row->name) != 0; /* the struct of a typedef */
    default: return true;
    }
}

/* Sorts rows, which mostly are in order already. */
static void sort(void *row, size_t n, size_t bytes, int (*compare)(const void *a, const void *b))
{
    const char *p = row;
    size_t i = 1;
    while (i < n && compare(p + (i - 1) * bytes, p + i * bytes) <= 0)
        i++;
    if (i < n)
        qsort(row, n, bytes, compare);
}

static int by_line(const void *a, const void *b)
{
    const myth_repomap_row *x = a, *y = b;
    if (x->line0 != y->line0)
        return (x->line0 > y->line0) - (x->line0 < y->line0);
    if (x->line1 != y->line1)
        return (x->line1 < y->line1) - (x->line1 > y->line1);
    return (x->idx > y->idx) - (x->idx < y->idx);
}

static int by_name(const void *a, const void *b)
{
    const myth_repomap_row *x = *(myth_repomap_row *const *)a, *y = *(myth_repomap_row *const *)b;
    int d = strcmp(x->name, y->name);
    d = d ? d : strcmp(x->parent, y->parent);
    d = d ? d : (x->kind == MYTH_SYMBOL_VARIABLE) - (y->kind == MYTH_SYMBOL_VARIABLE);
    return d ? d : (x > y) - (x < y);
}

/* Lists only one of several symbols with one name: typedef struct queue { ... } queue, a macro in two branches of an
 * #if, a getter and its setter. It is the first, and a function before a variable: var send = require("send"). */
static bool mark_listed(myth_pool *pool, myth_repomap_entry *e)
{
    myth_repomap_row **row = myth_pool_take(pool, ((size_t)e->n_symbol + 1) * sizeof(*row));
    if (!row)
        return false;
    for (uint32_t i = 0; i < e->n_symbol; i++)
        row[i] = &e->symbol[i];
    if (e->n_symbol)
        qsort(row, e->n_symbol, sizeof(*row), by_name);
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        bool is_again =
            i > 0 && strcmp(row[i - 1]->name, row[i]->name) == 0 && strcmp(row[i - 1]->parent, row[i]->parent) == 0;
        row[i]->is_listed = e->tier < 2 && !is_again && is_listed(row[i]);
    }
    return true;
}

/* Whether the row is a type at the top of the file, under which its members can be shown. */
static bool is_top_type(const myth_repomap_row *y)
{
    return y->is_listed && !y->up && !y->parent[0] && (y->kind == MYTH_SYMBOL_CLASS || y->kind == MYTH_SYMBOL_TYPE);
}

/* Puts members that are written away from their type (Go, impl blocks of Rust) under it: `type` are the rows of the
 * types by name. */
static void find_types(myth_repomap_entry *e, myth_repomap_row **type, uint32_t n)
{
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        myth_repomap_row *y = &e->symbol[i];
        if (y->up || !y->parent[0] || y->kind > MYTH_SYMBOL_METHOD)
            continue;
        uint32_t lo = 0, hi = n;
        while (lo < hi) {
            const uint32_t mid = lo + (hi - lo) / 2;
            if (strcmp(type[mid]->name, y->parent) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < n && strcmp(type[lo]->name, y->parent) == 0)
            y->up = (uint32_t)(type[lo] - e->symbol) + 1;
    }
}

/* Numbers the rows so that each comes before its members, and siblings in the order of their lines. */
static bool number_rows(myth_pool *pool, myth_repomap_entry *e)
{
    uint32_t *child = myth_pool_take(pool, 2 * ((size_t)e->n_symbol + 1) * sizeof(*child));
    if (!child)
        return false;
    uint32_t *next = child + e->n_symbol + 1, order = 0; /* lists of indexes + 1; child[0]: rows without a type */
    memset(child, 0, 2 * ((size_t)e->n_symbol + 1) * sizeof(*child));
    for (uint32_t i = e->n_symbol; i > 0; i--) {
        next[i] = child[e->symbol[i - 1].up];
        child[e->symbol[i - 1].up] = i;
    }
    for (uint32_t at = child[0]; at;) {
        e->symbol[at - 1].order = ++order;
        if (child[at]) {
            at = child[at];
            continue;
        }
        while (at && !next[at])
            at = e->symbol[at - 1].up;
        at = at ? next[at] : 0;
    }
    return true;
}

/* Finds for each symbol the listed symbol of several lines that encloses it, or the type that it belongs to. */
static bool find_outer(myth_pool *pool, myth_repomap_entry *e)
{
    uint32_t n = 0;
    myth_repomap_row **type = myth_pool_take(pool, ((size_t)e->n_symbol + 1) * sizeof(*type));
    if (!type)
        return false;
    uint32_t up = 0;
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        myth_repomap_row *y = &e->symbol[i];
        while (up && e->symbol[up - 1].line1 < y->line1)
            up = e->symbol[up - 1].up;
        y->up = up;
        if (y->is_listed && y->line1 > y->line0)
            up = i + 1;
    }
    for (uint32_t i = 0; i < e->n_symbol; i++)
        if (is_top_type(&e->symbol[i]))
            type[n++] = &e->symbol[i];
    sort(type, n, sizeof(*type), by_name);
    find_types(e, type, n);
    return number_rows(pool, e);
}

static myth_status read_symbols(myth_repomap_reader *r, myth_pool *pool, myth_repomap_entry *e, myth_error *err)
{
    uint32_t cap = 0;
    int rc;
    sqlite3_bind_int64(r->symbols, 1, e->id * MYTH_SYMBOL_IDS);
    sqlite3_bind_int64(r->symbols, 2, e->id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1);
    while ((rc = sqlite3_step(r->symbols)) == SQLITE_ROW && e->n_symbol < ROWS_MAX) {
        if (e->n_symbol == cap) {
            cap = 2 * cap + 32;
            myth_repomap_row *row = myth_pool_take(pool, cap * sizeof(*row));
            if (!row)
                break;
            if (e->n_symbol)
                memcpy(row, e->symbol, e->n_symbol * sizeof(*row));
            e->symbol = row;
        }
        myth_repomap_row *y = &e->symbol[e->n_symbol++];
        *y = (myth_repomap_row){
            .name = column_text(pool, r->symbols, 1),
            .parent = column_text(pool, r->symbols, 2),
            .idx = (uint32_t)(sqlite3_column_int64(r->symbols, 0) % MYTH_SYMBOL_IDS),
            .line0 = (uint32_t)sqlite3_column_int64(r->symbols, 4),
            .line1 = (uint32_t)sqlite3_column_int64(r->symbols, 5),
            .name_line = (uint32_t)sqlite3_column_int64(r->symbols, 6),
            .off = (uint64_t)sqlite3_column_int64(r->symbols, 7),
            .signature_off = (uint64_t)sqlite3_column_int64(r->symbols, 8),
            .signature_bytes = (uint64_t)sqlite3_column_int64(r->symbols, 9),
            .kind = (myth_symbol_kind)sqlite3_column_int(r->symbols, 3),
            .is_exported = (sqlite3_column_int64(r->symbols, 10) & MYTH_SYMBOL_EXPORTED) != 0,
        };
    }
    myth_status st = myth_store_fail(r->store, rc, err);
    sqlite3_reset(r->symbols);
    sort(e->symbol, e->n_symbol, sizeof(*e->symbol), by_line);
    if (st == MYTH_OK && (!mark_listed(pool, e) || !find_outer(pool, e)))
        return no_memory(err);
    return st;
}

/* Says of exported symbols whether they are for others too. */
static myth_status find_public(myth_repomap_reader *r, myth_repomap_entry *e, myth_error *err)
{
    static const char inner[] = "pub(";
    const bool is_rust = strcmp(e->language, "rust") == 0;
    char text[sizeof(inner) - 1];
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        myth_repomap_row *y = &e->symbol[i];
        y->is_public = y->is_exported;
        if (!y->is_public || !is_rust || y->signature_bytes < sizeof(text))
            continue;
        myth_status st = myth_store_text(r->store, (unsigned char *)text, e->id, y->signature_off, sizeof(text), err);
        if (st != MYTH_OK)
            return st;
        y->is_public = memcmp(text, inner, sizeof(text)) != 0;
    }
    return MYTH_OK;
}

static int by_idx(const void *a, const void *b)
{
    uint32_t x = (*(myth_repomap_row *const *)a)->idx, y = (*(myth_repomap_row *const *)b)->idx;
    return (x > y) - (x < y);
}

/* Reads the symbols' shares of the rank, and the tests. */
static myth_status read_rank(myth_pool *pool, myth_repomap_entry *e, const unsigned char *p, size_t n, myth_error *err)
{
    myth_bytes b = {p, p ? p + n : NULL, false};
    uint64_t n_share = myth_bytes_number(&b);
    e->has_entry = n_share & 1;
    n_share /= 2;
    myth_repomap_row **row = myth_pool_take(pool, ((size_t)e->n_symbol + 1) * sizeof(*row));
    if (!row)
        return no_memory(err);
    for (uint32_t i = 0; i < e->n_symbol; i++)
        row[i] = &e->symbol[i];
    sort(row, e->n_symbol, sizeof(*row), by_idx);
    uint32_t at = 0;
    double most = 0;
    for (uint64_t i = 0; i < n_share && !b.is_bad; i++) {
        uint32_t idx = (uint32_t)myth_bytes_number(&b);
        const uint64_t number = myth_bytes_number(&b);
        const uint64_t half = number / 2;
        double share = (double)half / MYTH_SHARE_ONE;
        most = share > most ? share : most;
        while (at < e->n_symbol && row[at]->idx < idx)
            at++;
        if (at < e->n_symbol && row[at]->idx == idx) {
            row[at]->share = share;
            row[at]->is_given = number & 1;
            row[at]->is_public |= row[at]->is_given;
        }
    }
    e->most = e->rank * (most + MYTH_SHARE_UNUSED);
    uint64_t n_test = myth_bytes_number(&b);
    e->test = n_test <= MYTH_TESTS_MAX ? myth_pool_take(pool, (n_test + 1) * sizeof(*e->test)) : NULL;
    for (; e->test && e->n_test < n_test && !b.is_bad; e->n_test++)
        e->test[e->n_test] = (int64_t)myth_bytes_number(&b);
    return b.is_bad || n_test > MYTH_TESTS_MAX ? damaged("ranks", err) : MYTH_OK;
}

/* Whether strangers cannot import it: only in JavaScript and its like does the entry alone say what a package gives;
 * in other languages a module inside can be imported too. Members go with their type. */
static bool is_inner(const myth_repomap_entry *e, const myth_repomap_row *y)
{
    if (!e->has_entry || myth_language_get(e->language)->family != MYTH_FAMILY_JS)
        return false;
    while (!y->is_given && y->up)
        y = &e->symbol[y->up - 1];
    return !y->is_given;
}

/* How much a symbol of a kind says about its file, other things being equal. What the entry does not give, types that
 * only report what went wrong, and macros and values that no entry gives, are of use when the rest is known. */
static double weight_of(const myth_repomap_entry *e, const myth_repomap_row *y)
{
    static const char *const faults[] = {"Error", "Exception", "Warning", "Fault"};
    const double least = 0.25;
    const bool is_value = y->kind == MYTH_SYMBOL_MACRO || y->kind == MYTH_SYMBOL_CONSTANT ||
                          y->kind == MYTH_SYMBOL_VARIABLE || y->kind == MYTH_SYMBOL_MODULE;
    double weight = is_inner(e, y) ? least : 1;
    if (is_value && !y->is_given)
        return weight * least;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (myth_text_ends(y->name, faults[i]))
            return weight * least;
    return weight;
}

/* Sets the order of showing: a symbol has the part of the file's rank that comes through it, and those that nobody
 * uses a small part in the order of their lines. A type has at least the value of its best member. */
static void value_symbols(myth_repomap_entry *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        myth_repomap_row *y = &e->symbol[i];
        n += y->is_listed && y->is_public;
        y->value = e->rank * weight_of(e, y) * (y->share + MYTH_SHARE_UNUSED / (n + 1));
    }
    e->value = e->rank * MYTH_SHARE_UNUSED / 2;
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        const myth_repomap_row *y = &e->symbol[i];
        if (!y->is_listed || !y->is_public)
            continue;
        for (uint32_t up = y->up; up && e->symbol[up - 1].value < y->value; up = e->symbol[up - 1].up)
            e->symbol[up - 1].value = y->value;
        if (e->value < y->value)
            e->value = y->value;
    }
}

static bool is_under(const char *path, size_t n, const char *under)
{
    size_t n_under = strlen(under);
    return n_under == 0 || (n > n_under && memcmp(path, under, n_under) == 0 && path[n_under] == '/') ||
           (n == n_under && memcmp(path, under, n) == 0);
}

myth_status myth_repomap_reader_next(myth_repomap_reader *r, myth_pool *pool, const char *under, myth_repomap_entry *e,
                                     bool *has, myth_error *err)
{
    sqlite3_stmt *q = r->next;
    myth_status st = MYTH_OK;
    int rc;
    *has = false;
    *e = (myth_repomap_entry){0};
    do
        rc = sqlite3_step(q);
    while (rc == SQLITE_ROW && !is_under(sqlite3_column_blob(q, 4), (size_t)sqlite3_column_bytes(q, 4), under));
    if (rc != SQLITE_ROW)
        return myth_store_fail(r->store, rc, err);
    e->place = (uint32_t)sqlite3_column_int64(q, 0);
    e->id = sqlite3_column_int64(q, 1);
    e->rank = sqlite3_column_double(q, 2);
    e->path = column_text(pool, q, 4);
    e->language = column_text(pool, q, 5);
    e->flags = (uint32_t)sqlite3_column_int64(q, 6);
    e->tier = (uint32_t)myth_filegraph_tier(myth_filegraph_kinds(e->path, e->language, e->flags));
    MYTH_TRY(read_facts(r, pool, e, err));
    if (r->opts->with_summaries)
        MYTH_TRY(read_summary(r, pool, e, 7, err));
    MYTH_TRY(read_symbols(r, pool, e, err));
    MYTH_TRY(find_public(r, e, err));
    const unsigned char *data = sqlite3_column_blob(q, 3);
    MYTH_TRY(read_rank(pool, e, data, data ? (size_t)sqlite3_column_bytes(q, 3) : 0, err));
    *has = true;
    value_symbols(e);
    if (pool->is_out_of_memory)
        st = no_memory(err);
fail:
    return st;
}

/* ---- what is read when it is shown ---- */

/* Removes blanks that a line break leaves inside of brackets: f( a, b, ) becomes f(a, b). */
static size_t tidy(char *s, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_after_open = at > 0 && (s[at - 1] == '(' || s[at - 1] == '[');
        if (s[i] == ' ' && (is_after_open || (i + 1 < n && (s[i + 1] == ')' || s[i + 1] == ']'))))
            continue;
        if (at > 0 && s[at - 1] == ',' && (s[i] == ')' || s[i] == ']'))
            at--;
        s[at++] = s[i];
    }
    s[at] = '\0';
    return at;
}

/* The end of a signature, before its value or the opening of a body. */
static size_t trim(const char *s, size_t n, myth_symbol_kind kind, const char *name)
{
    if (kind == MYTH_SYMBOL_CONSTANT || kind == MYTH_SYMBOL_VARIABLE)
        for (size_t i = 0; i < n; i++)
            if (s[i] == '=' && i > 0) {
                n = i - (s[i - 1] == ':'); /* Go: x := 1 */
                break;
            }
    if (kind == MYTH_SYMBOL_MACRO) { /* keep the name and its parameters */
        const char *at = memmem(s, n, name, strlen(name));
        size_t end = at ? (size_t)(at - s) + strlen(name) : n;
        const char *close = end < n && s[end] == '(' ? memchr(s + end, ')', n - end) : NULL;
        n = close ? (size_t)(close - s) + 1 : end;
    }
    while (n > 0 && (strchr(" \t\r\n{:=;,\\", s[n - 1]) || (n > 1 && s[n - 1] == '>' && s[n - 2] == '=')))
        n--;
    return n;
}

myth_status myth_repomap_line(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                              const myth_repomap_row *row, const char **out, myth_error *err)
{
    char line[SHOWN_CAP];
    myth_status st = myth_repomap_signature(r, pool, e, row, out, err);
    if (st != MYTH_OK || row->kind > MYTH_SYMBOL_METHOD || strlen(*out) >= sizeof(line))
        return st;
    strcpy(line, *out);
    if (row->up && e->symbol[row->up - 1].is_public)
        myth_drop_receiver(line);
    myth_brief(line, row->name);
    *out = myth_pool_text(pool, line, strlen(line));
    return MYTH_OK;
}

myth_status myth_repomap_signature(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                                   const myth_repomap_row *row, const char **out, myth_error *err)
{
    char text[SIGNATURE_READ], line[SIGNATURE_CAP], name[SIGNATURE_CAP];
    size_t n = row->signature_bytes < sizeof(text) ? (size_t)row->signature_bytes : sizeof(text);
    *out = "";
    myth_one_line(name, sizeof(name) / 2, row->name, strlen(row->name));
    if (row->kind == MYTH_SYMBOL_ROUTE || row->kind == MYTH_SYMBOL_TEST) {
        snprintf(line, sizeof(line), "%s %.150s", myth_symbol_kind_name(row->kind),
                 strncmp(name, "ROUTE ", 6) == 0 ? name + 6 : name);
        *out = shown(r, pool, line);
        return MYTH_OK;
    }
    myth_status st = myth_store_text(r->store, (unsigned char *)text, e->id, row->signature_off, n, err);
    if (st != MYTH_OK)
        return st;
    n = myth_drop_comments(text, n, e->language);
    n = trim(text, n, row->kind, row->name);
    n = tidy(line, myth_one_line(line, sizeof(line), text, myth_join_lines(text, n)));
    if (!strstr(line, name) && n + strlen(name) + 2 < sizeof(line)) { /* typedef struct { ... } name */
        if (n)
            line[n++] = ' ';
        strcpy(line + n, name);
    }
    *out = shown(r, pool, line);
    return MYTH_OK;
}

typedef struct {
    myth_pool *pool;
    const char **name;
    uint32_t n, cap;
} import_list;

static bool take_import(void *arg, const myth_store_ref *ref)
{
    import_list *l = arg;
    char name[SIGNATURE_CAP];
    if (ref->kind != MYTH_REF_IMPORT || !myth_one_line(name, sizeof(name), ref->name, strlen(ref->name)))
        return true;
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->name[i], name) == 0)
            return true;
    if (l->n == l->cap) {
        const char **list = myth_pool_take(l->pool, (2 * (size_t)l->cap + 16) * sizeof(*list));
        if (!list)
            return false;
        if (l->n)
            memcpy(list, l->name, l->n * sizeof(*list));
        l->name = list;
        l->cap = 2 * l->cap + 16;
    }
    l->name[l->n++] = myth_pool_text(l->pool, name, strlen(name));
    return true;
}

myth_status myth_repomap_imports(myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                                 const char ***out, uint32_t *n, myth_error *err)
{
    import_list l = {.pool = pool};
    myth_status st = myth_store_refs(r->store, e->id, take_import, &l, err);
    *out = l.name;
    *n = l.n;
    return st == MYTH_OK && pool->is_out_of_memory ? no_memory(err) : st;
}

myth_status myth_repomap_path(myth_repomap_reader *r, myth_pool *pool, int64_t id, const char **out, myth_error *err)
{
    sqlite3_bind_int64(r->path, 1, id);
    int rc = sqlite3_step(r->path);
    *out = rc == SQLITE_ROW ? column_text(pool, r->path, 0) : "";
    myth_status st = myth_store_fail(r->store, rc, err);
    sqlite3_reset(r->path);
    return st;
}
