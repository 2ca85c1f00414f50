/* symbol_rows.c - see symbol_rows.h.
 *
 * Row       definitions(file_id, n, data): data is a zstd frame of columns with n numbers each (buffer.h), one
 *           after the other: kind + EXPORTED + SAME_PARENT, line0, line1 - line0, name_line - line0, off, bytes,
 *           signature_off - off, bytes - signature_bytes; then the names, each with its zero; then the parents of
 *           the symbols without SAME_PARENT, each with its zero. line0 and off are differences to the symbol
 *           before. Differences have their sign in the lowest bit
 * Cursor    holds the decoded rows of one file. A cursor in an inner loop may share them, so they are counted */
#include "symbol_rows.h"
#include "engine/base/array.h"
#include "store_impl.h"
#include "retrieval/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum { KIND = 0x0f, EXPORTED = 0x10, SAME_PARENT = 0x20, N_NUMBER = 8 };
enum {
    ID,
    FILE_ID,
    NAME,
    PARENT,
    KIND_COLUMN,
    LINE0,
    LINE1,
    NAME_LINE,
    OFF,
    BYTES,
    SIGNATURE_OFF,
    SIGNATURE_BYTES,
    FLAGS
};
enum { BY_ALL, BY_NAME, BY_FILE };

static const char declaration[] =
    "CREATE TABLE symbols(id INTEGER, file_id INTEGER, name TEXT, parent TEXT, kind INTEGER, line0 INTEGER, line1 "
    "INTEGER, "
    "name_line INTEGER, off INTEGER, bytes INTEGER, signature_off INTEGER, signature_bytes INTEGER, flags INTEGER)";

typedef struct {
    const char *name, *parent;
    int64_t number[N_NUMBER]; /* in the order of the row's columns */
} symbol;

/* The decoded symbols of one file, with a count of its holders. */
struct myth_symbol_file {
    uint32_t n_holder, n;
    uint32_t version; /* SQLite's data version when the row was read */
    int64_t file_id;
    myth_mem *mem;
    unsigned char *text;
    symbol row[];
};
typedef struct myth_symbol_file symbol_file;

/* ---- the bytes of a row ---- */

static uint64_t fold_sign(int64_t v) { return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0); }
static int64_t unfold_sign(uint64_t v) { return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0)); }

static bool is_parent_of_last(const myth_chunks *c, uint32_t i)
{
    return strcmp(c->names + c->symbol[i].parent, i ? c->names + c->symbol[i - 1].parent : "") == 0;
}

static uint64_t number_of(const myth_chunks *c, uint32_t i, int column)
{
    static const myth_symbol none;
    const myth_symbol *y = &c->symbol[i], *last = i ? &c->symbol[i - 1] : &none;
    switch (column) {
    case 0: return (uint64_t)y->kind | (y->is_exported ? EXPORTED : 0) | (is_parent_of_last(c, i) ? SAME_PARENT : 0);
    case 1: return fold_sign((int64_t)y->line0 - last->line0);
    case 2: return fold_sign((int64_t)y->line1 - y->line0);
    case 3: return fold_sign((int64_t)y->name_line - y->line0);
    case 4: return fold_sign((int64_t)(y->off - last->off));
    case 5: return y->bytes;
    case 6: return fold_sign((int64_t)(y->signature_off - y->off));
    default: return fold_sign((int64_t)(y->bytes - y->signature_bytes));
    }
}

void myth_symbol_rows_encode(myth_buffer *b, const myth_chunks *c, uint32_t n)
{
    for (int column = 0; column < N_NUMBER; column++)
        for (uint32_t i = 0; i < n; i++)
            myth_buffer_number(b, number_of(c, i, column));
    for (uint32_t i = 0; i < n; i++)
        myth_buffer_string(b, c->names + c->symbol[i].name);
    for (uint32_t i = 0; i < n; i++)
        if (!is_parent_of_last(c, i))
            myth_buffer_string(b, c->names + c->symbol[i].parent);
}

/* Whether the numbers are in the range of a symbol: readers narrow them to 32 bits and calculate with them. */
static bool is_symbol(const int64_t number[N_NUMBER])
{
    bool is = (number[0] & KIND) < MYTH_SYMBOL_KIND_N;
    for (int i = 1; i <= 3; i++)
        is = is && number[i] >= 0 && number[i] <= UINT32_MAX;
    for (int i = 4; i < N_NUMBER; i++)
        is = is && number[i] >= 0 && number[i] <= MYTH_FILE_BYTES;
    return is;
}

/* Decodes a row. False: it does not have the form described above. */
static bool decode(symbol_file *f, const unsigned char *data, size_t n_data)
{
    myth_bytes b = {data, data + n_data, false};
    const char *parent = "";
    for (int column = 0; column < N_NUMBER; column++)
        for (uint32_t i = 0; i < f->n; i++) {
            const uint64_t v = myth_bytes_number(&b);
            f->row[i].number[column] = column == 0 || column == 5 ? (int64_t)v : unfold_sign(v);
        }
    for (uint32_t i = 0; i < f->n; i++)
        f->row[i].name = myth_bytes_string(&b);
    for (uint32_t i = 0; i < f->n; i++) {
        int64_t *v = f->row[i].number;
        const int64_t *last = i ? f->row[i - 1].number : NULL;
        if (!(v[0] & SAME_PARENT))
            parent = myth_bytes_string(&b);
        f->row[i].parent = parent;
        v[1] = (int64_t)((uint64_t)v[1] + (last ? (uint64_t)last[1] : 0));
        v[2] = (int64_t)((uint64_t)v[2] + (uint64_t)v[1]);
        v[3] = (int64_t)((uint64_t)v[3] + (uint64_t)v[1]);
        v[4] = (int64_t)((uint64_t)v[4] + (last ? (uint64_t)last[4] : 0));
        v[6] = (int64_t)((uint64_t)v[6] + (uint64_t)v[4]);
        v[7] = (int64_t)((uint64_t)v[5] - (uint64_t)v[7]);
        b.is_bad |= !is_symbol(v);
    }
    return !b.is_bad && b.p == b.end;
}

/* ---- the rows of a file ---- */

static void let_go(symbol_file *f)
{
    if (!f || --f->n_holder)
        return;
    myth_mem *mem = f->mem;
    myth_free(mem, f->text);
    myth_free(mem, f);
}

static myth_status torn(const myth_store *s, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                            "%.120s: the index is damaged (symbols are missing)", s->path);
}

/* Reads the symbols of the first file in the range that has any. *out NULL: none has; else the caller releases it. */
static myth_status get_file(symbol_file **out, myth_store *s, int64_t first, int64_t last, myth_error *err)
{
    uint32_t version = 0;
    symbol_file *f = NULL;
    size_t n_text = 0;
    *out = NULL;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (s->symbols.last && s->symbols.last->file_id == first && s->symbols.last->version == version) {
        s->symbols.last->n_holder++;
        *out = s->symbols.last;
        return MYTH_OK;
    }
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_DEFINITIONS, err);
    if (!q)
        return err ? err->code : MYTH_EFORMAT;
    sqlite3_bind_int64(q, 1, first);
    sqlite3_bind_int64(q, 2, last);
    int rc = sqlite3_step(q);
    myth_status st = myth_store_fail(s, rc, err);
    if (rc == SQLITE_ROW) {
        int64_t n = sqlite3_column_int64(q, 1);
        if (n <= 0 || n > MYTH_SYMBOL_IDS)
            st = torn(s, err);
        else if (!(f = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", sizeof(*f) + (size_t)n * sizeof(*f->row))))
            st = myth_fail(err, MYTH_ENOMEM, "no memory for %lld symbols", (long long)n);
        if (st == MYTH_OK) {
            *f = (symbol_file){
                .n_holder = 1,
                .n = (uint32_t)n,
                .version = version,
                .file_id = sqlite3_column_int64(q, 0),
                .mem = s->mem,
            };
            st = myth_store_unpack(s, &f->text, &n_text, sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2),
                                   err);
            if (st == MYTH_OK && !decode(f, f->text, n_text))
                st = torn(s, err);
        }
    }
    sqlite3_reset(q);
    if (st != MYTH_OK) {
        let_go(f);
        return st;
    }
    if (f) {
        let_go(s->symbols.last);
        s->symbols.last = f;
        f->n_holder++;
    }
    *out = f;
    return MYTH_OK;
}

/* Drops the cached file, because its row is about to change. */
static void forget_last(myth_store *s)
{
    let_go(s->symbols.last);
    s->symbols.last = NULL;
}

void myth_symbol_rows_forget(myth_store *s)
{
    forget_last(s);
    myth_free(s->mem, s->symbols.waiting);
    s->symbols = (myth_symbol_state){NULL, NULL, 0, 0};
}

/* ---- names ---- */

static uint32_t key_of(const char *name, size_t n) { return (uint32_t)(XXH3_64bits(name, n) & 0x7fffffff); }

static int by_key(const void *a, const void *b)
{
    const myth_symbol_name *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->file_id > y->file_id) - (x->file_id < y->file_id);
}

myth_status myth_symbol_rows_add_names(myth_store *s, int64_t file_id, const myth_chunks *c, uint32_t n,
                                       myth_error *err)
{
    myth_symbol_state *w = &s->symbols;
    forget_last(s);
    if (!MYTH_ARRAY_MORE(s->mem, MYTH_MEM_OTHER, "index", &w->waiting, w->n_waiting, n, &w->cap_waiting))
        return myth_fail(err, MYTH_ENOMEM, "no memory for %zu names", w->n_waiting + n);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = c->names + c->symbol[i].name;
        w->waiting[w->n_waiting++] = (myth_symbol_name){file_id, key_of(name, strlen(name))};
    }
    return MYTH_OK;
}

static myth_status run_name(myth_store *s, enum myth_statement which, uint32_t key, int64_t file_id, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, which, err);
    if (!q)
        return err ? err->code : MYTH_EFORMAT;
    sqlite3_bind_int64(q, 1, key);
    sqlite3_bind_int64(q, 2, file_id);
    return myth_store_run(s, q, err);
}

myth_status myth_symbol_rows_flush(myth_store *s, myth_error *err)
{
    myth_symbol_name *w = s->symbols.waiting;
    const size_t n = s->symbols.n_waiting;
    myth_status st = MYTH_OK;
    s->symbols.n_waiting = 0;
    if (n)
        qsort(w, n, sizeof(*w), by_key);
    for (size_t i = 0; i < n && st == MYTH_OK; i++)
        if (i == 0 || by_key(&w[i], &w[i - 1]))
            st = run_name(s, MYTH_SQL_PUT_NAME, w[i].key, w[i].file_id, err);
    return st;
}

myth_status myth_symbol_rows_drop_names(myth_store *s, int64_t file_id, int64_t *n, myth_error *err)
{
    symbol_file *f;
    size_t n_left = 0;
    for (size_t i = 0; i < s->symbols.n_waiting; i++)
        if (s->symbols.waiting[i].file_id != file_id)
            s->symbols.waiting[n_left++] = s->symbols.waiting[i];
    s->symbols.n_waiting = n_left;
    myth_status st = get_file(&f, s, file_id, file_id, err);
    *n = st == MYTH_OK && f ? f->n : 0;
    for (uint32_t i = 0; st == MYTH_OK && f && i < f->n; i++)
        st = run_name(s, MYTH_SQL_DROP_NAME, key_of(f->row[i].name, strlen(f->row[i].name)), file_id, err);
    let_go(f);
    forget_last(s);
    return st;
}

/* ---- the table ---- */

typedef struct {
    sqlite3_vtab base;
    myth_store *store;
} table;

typedef struct {
    sqlite3_vtab_cursor base;
    symbol_file *file; /* NULL at the end */
    uint32_t at;
    int64_t last;       /* last file to look at */
    int64_t *candidate; /* for a search by name: the files that may have it */
    size_t n_candidate, next_candidate;
    char *name;
    size_t n_name;
} cursor;

static int fail_table(cursor *c, myth_status st, const myth_error *err)
{
    sqlite3_vtab *t = c->base.pVtab;
    sqlite3_free(t->zErrMsg);
    t->zErrMsg = sqlite3_mprintf("%s", err->msg);
    return st == MYTH_ENOMEM ? SQLITE_NOMEM : st == MYTH_EIO ? SQLITE_IOERR : SQLITE_CORRUPT;
}

static int table_connect(sqlite3 *db, void *store, int n_arg, const char *const *arg, sqlite3_vtab **out, char **msg)
{
    (void)n_arg, (void)arg, (void)msg;
    int rc = sqlite3_declare_vtab(db, declaration);
    table *t = rc == SQLITE_OK ? sqlite3_malloc(sizeof(*t)) : NULL;
    if (!t)
        return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
    *t = (table){.store = store};
    *out = &t->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

/* Prefers a search by name over one by files. Bounds of ids become bounds of files; SQLite compares the rest. */
static int table_plan(sqlite3_vtab *t, sqlite3_index_info *x)
{
    int name = -1, low = -1, high = -1, n_arg = 0;
    (void)t;
    for (int i = 0; i < x->nConstraint; i++) {
        const int column = x->aConstraint[i].iColumn, op = x->aConstraint[i].op;
        if (!x->aConstraint[i].usable)
            continue;
        if (column == NAME && op == SQLITE_INDEX_CONSTRAINT_EQ)
            name = i;
        if ((column == ID || column == FILE_ID) &&
            (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT))
            low = i;
        if ((column == ID || column == FILE_ID) &&
            (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT))
            high = i;
    }
    x->idxNum = name >= 0 ? BY_NAME : low >= 0 && high >= 0 ? BY_FILE : BY_ALL;
    x->estimatedCost = x->idxNum == BY_NAME ? 20 : x->idxNum == BY_FILE ? 50 : 1e7;
    x->estimatedRows = x->idxNum == BY_ALL ? 1000000 : 20;
    if (x->idxNum == BY_NAME) {
        x->aConstraintUsage[name].argvIndex = 1;
    } else if (x->idxNum == BY_FILE) {
        static char of_id[] = "i", of_file[] = "f";
        x->aConstraintUsage[low].argvIndex = ++n_arg;
        if (high != low)
            x->aConstraintUsage[high].argvIndex = ++n_arg;
        /* a range over two columns: no query has one */
        if (x->aConstraint[low].iColumn != x->aConstraint[high].iColumn) {
            x->aConstraintUsage[low].argvIndex = x->aConstraintUsage[high].argvIndex = 0;
            x->idxNum = BY_ALL;
        }
        x->idxStr = x->aConstraint[low].iColumn == ID ? of_id : of_file;
    }
    x->orderByConsumed = x->nOrderBy == 1 && x->aOrderBy[0].iColumn == ID && !x->aOrderBy[0].desc;
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    (void)t;
    cursor *c = sqlite3_malloc(sizeof(*c));
    if (!c)
        return SQLITE_NOMEM;
    *c = (cursor){.file = NULL};
    *out = &c->base;
    return SQLITE_OK;
}

static void cursor_clear(cursor *c)
{
    let_go(c->file);
    sqlite3_free(c->candidate);
    sqlite3_free(c->name);
    c->file = NULL;
    c->candidate = NULL;
    c->name = NULL;
    c->at = 0;
    c->n_candidate = c->next_candidate = c->n_name = 0;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
    cursor_clear((cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool has_name(const cursor *c, const symbol *y)
{
    return strlen(y->name) == c->n_name && memcmp(y->name, c->name, c->n_name) == 0;
}

/* Moves to the first row at or after the cursor. */
static int settle(cursor *c)
{
    myth_store *s = ((table *)(void *)c->base.pVtab)->store;
    myth_error err = {0};
    while (c->file) {
        while (c->at < c->file->n && c->name && !has_name(c, &c->file->row[c->at]))
            c->at++;
        if (c->at < c->file->n)
            return SQLITE_OK;
        int64_t next = c->file->file_id + 1, last = c->last;
        let_go(c->file);
        c->file = NULL;
        c->at = 0;
        if (c->name && c->next_candidate == c->n_candidate)
            return SQLITE_OK;
        if (c->name)
            next = last = c->candidate[c->next_candidate++];
        myth_status st = next <= last ? get_file(&c->file, s, next, last, &err) : MYTH_OK;
        if (st == MYTH_OK && c->name && !c->file)
            st = torn(s, &err); /* `names` has an entry for a file without symbols */
        if (st != MYTH_OK)
            return fail_table(c, st, &err);
    }
    return SQLITE_OK;
}

static int find_candidates(cursor *c, myth_store *s, sqlite3_value *name)
{
    myth_error err = {0};
    const void *text = sqlite3_value_blob(name);
    size_t cap = 0;
    int rc;
    c->n_name = (size_t)sqlite3_value_bytes(name);
    if (!(c->name = sqlite3_malloc64(c->n_name + 1)))
        return SQLITE_NOMEM;
    if (c->n_name)
        memcpy(c->name, text, c->n_name);
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_NAMES, &err);
    if (!q)
        return fail_table(c, err.code, &err);
    sqlite3_bind_int64(q, 1, key_of(c->name, c->n_name));
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (c->n_candidate == cap) {
            cap = 2 * cap + 16;
            int64_t *grown = sqlite3_realloc64(c->candidate, cap * sizeof(*grown));
            if (!grown) {
                rc = SQLITE_NOMEM;
                break;
            }
            c->candidate = grown;
        }
        c->candidate[c->n_candidate++] = sqlite3_column_int64(q, 0);
    }
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *of, int n_arg, sqlite3_value **arg)
{
    cursor *c = (cursor *)base;
    myth_store *s = ((table *)(void *)base->pVtab)->store;
    myth_error err = {0};
    int64_t first = INT64_MIN;
    int rc = SQLITE_OK;
    cursor_clear(c);
    c->last = INT64_MAX;
    if (plan == BY_NAME) {
        if ((rc = find_candidates(c, s, arg[0])) != SQLITE_OK || c->n_candidate == 0)
            return rc;
        first = c->last = c->candidate[c->next_candidate++];
    } else if (plan == BY_FILE) {
        int shift = of && of[0] == 'i' ? 20 : 0;
        _Static_assert(MYTH_SYMBOL_IDS == 1 << 20, "ids of symbols are ids of files times this");
        first = sqlite3_value_int64(arg[0]) >> shift;
        c->last = sqlite3_value_int64(arg[n_arg - 1]) >> shift;
    }
    myth_status st = first <= c->last ? get_file(&c->file, s, first, c->last, &err) : MYTH_OK;
    if (st == MYTH_OK && plan == BY_NAME && !c->file)
        st = torn(s, &err);
    return st == MYTH_OK ? settle(c) : fail_table(c, st, &err);
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    c->at++;
    return settle(c);
}

static int cursor_eof(sqlite3_vtab_cursor *base) { return !((cursor *)base)->file; }

static int64_t id_of(const cursor *c) { return c->file->file_id * MYTH_SYMBOL_IDS + c->at; }

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
    const cursor *c = (cursor *)base;
    const symbol *y = &c->file->row[c->at];
    switch (column) {
    case ID: sqlite3_result_int64(ctx, id_of(c)); break;
    case FILE_ID: sqlite3_result_int64(ctx, c->file->file_id); break;
    case NAME: sqlite3_result_text(ctx, y->name, -1, SQLITE_TRANSIENT); break;
    case PARENT:
        if (*y->parent)
            sqlite3_result_text(ctx, y->parent, -1, SQLITE_TRANSIENT);
        break;
    case KIND_COLUMN: sqlite3_result_int64(ctx, y->number[0] & KIND); break;
    case FLAGS: sqlite3_result_int64(ctx, y->number[0] & EXPORTED ? MYTH_SYMBOL_EXPORTED : 0); break;
    default: sqlite3_result_int64(ctx, y->number[column - LINE0 + 1]); break;
    }
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = id_of((cursor *)base);
    return SQLITE_OK;
}

/* A module without xCreate is usable on each connection that registers it, and needs no row in the schema. */
static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = table_connect,
    .xBestIndex = table_plan,
    .xDisconnect = table_disconnect,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_filter,
    .xNext = cursor_next,
    .xEof = cursor_eof,
    .xColumn = cursor_column,
    .xRowid = cursor_rowid,
};

myth_status myth_symbol_rows_register(myth_store *s, myth_error *err)
{
    return sqlite3_create_module_v2(s->db, "symbols", &module, s, NULL) == SQLITE_OK
             ? MYTH_OK
             : myth_fail(err, MYTH_ENOMEM, "%.160s: no memory for SQLite", s->path);
}

/* ---- check ---- */

myth_status myth_symbol_rows_check(myth_store *s, void (*report)(void *arg, const char *line), void *arg,
                                   myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t n_name = 0, n_row = 0;
    char line[160];
    sqlite3_stmt *q = NULL;
    symbol_file *f = NULL;
    myth_symbol_name *all = NULL;
    for (int64_t next = INT64_MIN; st == MYTH_OK && (st = get_file(&f, s, next, INT64_MAX, err)) == MYTH_OK && f;
         next = f->file_id + 1, let_go(f)) {
        if (!(all = myth_alloc_n(s->mem, MYTH_MEM_OTHER, "index", f->n, sizeof(*all)))) {
            st = myth_fail(err, MYTH_ENOMEM, "no memory for %u names", f->n);
            continue;
        }
        for (uint32_t i = 0; i < f->n; i++)
            all[i] = (myth_symbol_name){f->file_id, key_of(f->row[i].name, strlen(f->row[i].name))};
        qsort(all, f->n, sizeof(*all), by_key);
        for (uint32_t i = 0; i < f->n && st == MYTH_OK; i++) {
            if (i > 0 && all[i].key == all[i - 1].key)
                continue;
            n_name++;
            if (!(q = myth_store_statement(s, MYTH_SQL_HAS_NAME, err))) {
                st = err ? err->code : MYTH_EFORMAT;
                break;
            }
            sqlite3_bind_int64(q, 1, all[i].key);
            sqlite3_bind_int64(q, 2, f->file_id);
            int rc = sqlite3_step(q);
            st = myth_store_fail(s, rc, err);
            sqlite3_reset(q);
            if (rc == SQLITE_DONE) {
                snprintf(line, sizeof(line), "file %lld: a symbol's name is missing from the table names",
                         (long long)f->file_id);
                report(arg, line);
            }
        }
        myth_free(s->mem, all);
    }
    if (st != MYTH_OK)
        return st;
    int rc = sqlite3_prepare_v2(s->db, "SELECT count(*) FROM names", -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        n_row = (uint64_t)sqlite3_column_int64(q, 0);
    st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    if (st == MYTH_OK && n_row != n_name) {
        snprintf(line, sizeof(line), "the table names has %llu names, the symbols have %llu", (unsigned long long)n_row,
                 (unsigned long long)n_name);
        report(arg, line);
    }
    return st;
}
