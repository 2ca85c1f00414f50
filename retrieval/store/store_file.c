/* store_file.c - what the store holds of one file: writing it, deleting it, and making its rows of FTS5.
 *
 * FTS5    stores no text. A row is deleted by the words that it was made from, so the same function makes these
 *         words again from the stored rows and text
 * Words   of a line longer than MYTH_WORDS_LINE_BYTES only the beginning is indexed
 * Names   the column `names` of a chunk has its symbol, its parent, and every other name that is defined in it */
#define _GNU_SOURCE
#include "store_impl.h"
#include "fts_tokenizer.h"
#include "retrieval/limits.h"
#include "symbol_rows.h"
#include "engine/base/array.h"
#include "engine/base/utf16.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static myth_status no_memory(myth_error *err, uint64_t n)
{
    return myth_fail(err, MYTH_ENOMEM, "no memory for %llu bytes of a file", (unsigned long long)n);
}

static myth_status code_of(const myth_error *err) { return err ? err->code : MYTH_EFORMAT; }

void myth_store_hash(unsigned char hash[16], const unsigned char *text, uint64_t n)
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(text, n));
    memcpy(hash, c.digest, 16);
}

uint32_t myth_store_encoding(const unsigned char *text, uint64_t n)
{
    bool is_be;
    return !myth_utf16_is_marked(text, n, &is_be) ? 0 : is_be ? MYTH_FILE_UTF16_BE : MYTH_FILE_UTF16_LE;
}

/* ---- rows of FTS5 ---- */

typedef struct {
    int64_t off;
    size_t name; /* offset of the name in `text` */
} defined;

typedef struct {
    myth_mem *mem;
    char *text; /* the symbols' strings, then the `names` of the current row */
    size_t n_text, cap_text;
    defined *symbol;
    size_t n_symbol, cap_symbol;
    unsigned char *body; /* a UTF-16 file's chunk as UTF-8 */
    size_t cap_body;
} row_maker;

/* Room for n bytes more; the text may move. */
static bool reserve(row_maker *m, size_t n)
{
    return MYTH_ARRAY_MORE(m->mem, MYTH_MEM_OTHER, "index", &m->text, m->n_text, n, &m->cap_text);
}

static bool put_text(row_maker *m, const void *s, size_t n)
{
    if (!reserve(m, n))
        return false;
    memcpy(m->text + m->n_text, s, n);
    m->n_text += n;
    return true;
}

static bool put_symbol(row_maker *m, int64_t off, const char *name)
{
    if (!MYTH_ARRAY_ROOM(m->mem, MYTH_MEM_OTHER, "index", &m->symbol, m->n_symbol, &m->cap_symbol))
        return false;
    m->symbol[m->n_symbol++] = (defined){off, m->n_text};
    return put_text(m, name, strlen(name) + 1);
}

static void close_maker(row_maker *m)
{
    myth_free(m->mem, m->text);
    myth_free(m->mem, m->symbol);
    myth_free(m->mem, m->body);
}

static myth_status load_symbols(myth_store *s, row_maker *m, int64_t file_id, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_SYMBOLS, err);
    if (!q)
        return code_of(err);
    sqlite3_bind_int64(q, 1, file_id * MYTH_SYMBOL_IDS);
    sqlite3_bind_int64(q, 2, file_id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1);
    int rc;
    bool ok = true;
    while (ok && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 1);
        ok = put_symbol(m, sqlite3_column_int64(q, 0), name ? name : "");
    }
    myth_status st = ok ? myth_store_fail(s, rc, err) : no_memory(err, m->n_text);
    sqlite3_reset(q);
    return st;
}

static bool decode_utf16(row_maker *m, const unsigned char *text, uint64_t off, uint64_t n, bool is_be, size_t *n_body)
{
    if (m->cap_body < 3 * n + 4) {
        myth_free(m->mem, m->body);
        m->cap_body = 0;
        m->body = myth_alloc(m->mem, MYTH_MEM_OTHER, "index", 3 * n + 4);
        if (!m->body)
            return false;
        m->cap_body = 3 * n + 4;
    }
    *n_body = myth_utf16_to_utf8(m->body, text + off, n, off & 1, is_be);
    return true;
}

static bool put_name(row_maker *m, size_t start, const char *name)
{
    return !*name || ((m->n_text == start || put_text(m, " ", 1)) && put_text(m, name, strlen(name)));
}

/* Chunks and symbols both come in order of their offset; `next` is the first symbol after the chunks before. */
static bool put_names(row_maker *m, size_t start, const char *symbol, const char *parent, int64_t end, size_t *next)
{
    bool ok = put_name(m, start, symbol) && put_name(m, start, parent);
    for (; ok && *next < m->n_symbol && m->symbol[*next].off < end; ++*next) {
        size_t name = m->symbol[*next].name, n = strlen(m->text + name);
        if (strcmp(m->text + name, symbol) == 0 || strcmp(m->text + name, parent) == 0)
            continue;
        ok = (m->n_text == start || put_text(m, " ", 1)) && reserve(m, n) && put_text(m, m->text + name, n);
    }
    return ok;
}

/* The part of a chunk (*n bytes from off) whose words are indexed: words deep in a long line are not. *line is the
 * start of the line at off, and on return of the line at the chunk's end. */
static const unsigned char *words_of(const unsigned char *text, uint64_t off, uint64_t *n, uint64_t *line)
{
    const unsigned char *from = text + off, *end = from + *n, *last = memrchr(from, '\n', *n);
    if (off - *line >= MYTH_WORDS_LINE_BYTES) {
        const unsigned char *p = memchr(from, '\n', *n);
        from = p ? p + 1 : end;
    }
    if (last)
        *line = (uint64_t)(last + 1 - text);
    *n = (uint64_t)(end - from);
    return from;
}

typedef myth_status (*row_fn)(void *arg, const myth_store_row *row, myth_error *err);

/* A file whose rows are being made, and how far that has come. */
typedef struct {
    row_maker *m;
    const unsigned char *text;
    size_t start, next; /* start of `names` in the maker's text; the first symbol after the chunks before */
    uint64_t line;      /* start of the line where the next chunk begins */
    uint32_t flags;
    const char *path;
    row_fn on_row;
    void *arg;
} file_rows;

/* Makes the row of the next chunk. */
static myth_status make_row(file_rows *f, int64_t chunk_id, uint64_t off, uint64_t n, const char *symbol,
                            const char *parent, myth_error *err)
{
    row_maker *m = f->m;
    myth_store_row row = {.chunk_id = chunk_id, .path = f->path, .n_path = strlen(f->path), .n_body = n};
    size_t n_body = 0;
    m->n_text = f->start;
    row.body = words_of(f->text, off, &row.n_body, &f->line);
    if (!put_names(m, f->start, symbol, parent, (int64_t)(off + n), &f->next) || !put_text(m, "", 1))
        return no_memory(err, m->n_text);
    if (f->flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)) {
        if (!decode_utf16(m, f->text, (uint64_t)(row.body - f->text), row.n_body, (f->flags & MYTH_FILE_UTF16_BE) != 0,
                          &n_body))
            return no_memory(err, 3 * n);
        row.body = m->body;
        row.n_body = n_body;
    }
    row.names = m->text + f->start;
    row.n_names = m->n_text - f->start - 1;
    return f->on_row(f->arg, &row, err);
}

/* Begins with a file that is stored; *stored gets its row. */
static myth_status make_rows(myth_store *s, int64_t file_id, myth_file_counts *stored, row_fn on_row, void *arg,
                             myth_error *err)
{
    row_maker m = {.mem = s->mem};
    file_rows f = {.m = &m, .on_row = on_row, .arg = arg};
    unsigned char *text = NULL;
    char *path = NULL;
    uint64_t n_file = 0;
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_FILE, err);
    *stored = (myth_file_counts){0};
    if (!q)
        return code_of(err);
    sqlite3_bind_int64(q, 1, file_id);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        size_t n_path = (size_t)sqlite3_column_bytes(q, 0);
        n_file = (uint64_t)sqlite3_column_int64(q, 1);
        f.flags = (uint32_t)sqlite3_column_int64(q, 2);
        path = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", n_path + 1);
        if (path && n_path)
            memcpy(path, sqlite3_column_blob(q, 0), n_path);
        *stored = (myth_file_counts){.n_file = 1, .bytes = (int64_t)n_file, .n_lost = (f.flags & MYTH_FILE_LOST) != 0};
    }
    st = myth_store_fail(s, rc, err);
    sqlite3_reset(q);
    if (st == MYTH_OK && rc == SQLITE_ROW && n_file > 1u << 30)
        st = myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                              "%.120s: the index is damaged (a file's size)", s->path);
    if (st != MYTH_OK || rc != SQLITE_ROW)
        goto fail;
    f.path = path;
    f.text = text = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", n_file);
    if (!path || !text) {
        st = no_memory(err, n_file);
        goto fail;
    }
    MYTH_TRY(myth_store_text(s, text, file_id, 0, n_file, err));
    MYTH_TRY(load_symbols(s, &m, file_id, err));
    f.start = m.n_text;
    q = myth_store_statement(s, MYTH_SQL_GET_CHUNKS, err);
    if (!q) {
        st = code_of(err);
        goto fail;
    }
    sqlite3_bind_int64(q, 1, file_id);
    while (st == MYTH_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t off = (uint64_t)sqlite3_column_int64(q, 1), n = (uint64_t)sqlite3_column_int64(q, 2);
        const char *symbol = (const char *)sqlite3_column_text(q, 3), *parent = (const char *)sqlite3_column_text(q, 4);
        if (off > n_file || n > n_file - off) {
            st = myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                                  "%.120s: the index is damaged (a chunk outside its file)", s->path);
            break;
        }
        st = make_row(&f, sqlite3_column_int64(q, 0), off, n, symbol ? symbol : "", parent ? parent : "", err);
    }
    if (st == MYTH_OK)
        st = myth_store_fail(s, rc, err);
    sqlite3_reset(q);
fail:
    myth_free(s->mem, text);
    myth_free(s->mem, path);
    close_maker(&m);
    return st;
}

myth_status myth_store_rows(myth_store *s, int64_t file_id, row_fn on_row, void *arg, myth_error *err)
{
    myth_file_counts unused;
    return make_rows(s, file_id, &unused, on_row, arg, err);
}

static myth_status write_row(myth_store *s, enum myth_statement which, const myth_store_row *row, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, which, err);
    if (!q)
        return code_of(err);
    sqlite3_bind_int64(q, 1, row->chunk_id);
    sqlite3_bind_text64(q, 2, row->path, row->n_path, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text64(q, 3, row->names, row->n_names, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text64(q, 4, row->n_body ? (const char *)row->body : "", row->n_body, SQLITE_STATIC, SQLITE_UTF8);
    return myth_store_run(s, q, err);
}

static myth_status put_row(void *store, const myth_store_row *row, myth_error *err)
{
    return write_row(store, MYTH_SQL_PUT_FTS, row, err);
}
static myth_status drop_row(void *store, const myth_store_row *row, myth_error *err)
{
    return write_row(store, MYTH_SQL_DROP_FTS, row, err);
}

/* ---- a file in and out ---- */

static void bind_file(sqlite3_stmt *q, const myth_store_file *f)
{
    sqlite3_bind_int64(q, 1, f->id);
    sqlite3_bind_blob(q, 2, f->path, (int)strlen(f->path), SQLITE_STATIC);
    sqlite3_bind_int64(q, 3, f->mtime_ns);
    sqlite3_bind_int64(q, 4, (sqlite3_int64)f->bytes);
    sqlite3_bind_int64(q, 5, (sqlite3_int64)f->inode);
    sqlite3_bind_blob(q, 6, f->hash, sizeof(f->hash), SQLITE_STATIC);
    sqlite3_bind_text(q, 7, f->language, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 8, f->flags);
    if (f->note && *f->note)
        sqlite3_bind_text(q, 9, f->note, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 10, f->ctime_ns);
}

static void bind_name(sqlite3_stmt *q, int i, const char *name)
{
    if (*name)
        sqlite3_bind_text(q, i, name, -1, SQLITE_STATIC);
}

static int by_off(const void *a, const void *b)
{
    const defined *x = a, *y = b;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : (x->name > y->name) - (x->name < y->name);
}

/* As load_symbols, for a file that is about to be stored. */
static bool give_symbols(row_maker *m, const myth_chunks *c, uint32_t n_symbol)
{
    bool ok = true;
    for (uint32_t i = 0; i < n_symbol && ok; i++)
        ok = put_symbol(m, (int64_t)c->symbol[i].off, c->names + c->symbol[i].name);
    if (ok && m->n_symbol)
        qsort(m->symbol, m->n_symbol, sizeof(*m->symbol), by_off); /* symbols at the same offset keep their order */
    return ok;
}

/* Writes the chunks' rows and their rows of FTS5, with the same words that make_rows makes later from the stored
 * file. */
static myth_status put_chunks(myth_store *s, const myth_store_file *file, const unsigned char *text,
                              const myth_chunks *c, uint32_t n_symbol, myth_error *err)
{
    row_maker m = {.mem = s->mem};
    file_rows f = {.m = &m, .text = text, .flags = file->flags, .path = file->path, .on_row = put_row, .arg = s};
    myth_status st = give_symbols(&m, c, n_symbol) ? MYTH_OK : no_memory(err, m.n_text);
    f.start = m.n_text;
    for (uint32_t i = 0; i < c->n_chunk && st == MYTH_OK; i++) {
        const myth_chunk *k = &c->chunk[i];
        unsigned char hash[16];
        sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_PUT_CHUNK, err);
        if (!q) {
            st = code_of(err);
            break;
        }
        myth_store_hash(hash, text + k->off, k->bytes);
        const int64_t number[] = {file->id, (int64_t)k->off, (int64_t)k->bytes, k->line0, (int64_t)k->line1 - k->line0,
                                  k->kind};
        for (int n = 0; n < 6; n++)
            sqlite3_bind_int64(q, n + 1, number[n]);
        bind_name(q, 7, c->names + k->symbol);
        bind_name(q, 8, c->names + k->parent);
        if (k->doc_bytes) {
            sqlite3_bind_int64(q, 9, (sqlite3_int64)(k->doc_off - k->off));
            sqlite3_bind_int64(q, 10, (sqlite3_int64)k->doc_bytes);
        }
        sqlite3_bind_int64(q, 11, k->is_part ? MYTH_CHUNK_PART : 0);
        sqlite3_bind_blob(q, 12, hash, MYTH_CHUNK_HASH_BYTES, SQLITE_STATIC);
        st = myth_store_run(s, q, err);
        if (st == MYTH_OK)
            st = make_row(&f, sqlite3_last_insert_rowid(s->db), k->off, k->bytes, c->names + k->symbol,
                          c->names + k->parent, err);
    }
    close_maker(&m);
    return st;
}

static myth_status put_block(myth_store *s, int64_t id, const unsigned char *data, size_t n, myth_error *err)
{
    for (size_t at = 0; at < n; at += MYTH_PIECE_BYTES, id++) {
        sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_PUT_BLOCK, err);
        if (!q)
            return code_of(err);
        sqlite3_bind_int64(q, 1, id);
        sqlite3_bind_blob64(q, 2, data + at, n - at < MYTH_PIECE_BYTES ? n - at : MYTH_PIECE_BYTES, SQLITE_STATIC);
        myth_status st = myth_store_run(s, q, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static myth_status put_packed(myth_store *s, int64_t file_id, const myth_packed *p, uint32_t n_ref, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t at = 0;
    for (uint32_t i = 0; i < p->n_block && st == MYTH_OK; at = p->end[i++])
        st = put_block(s, file_id * (1 << MYTH_FILE_BITS) + ((int64_t)i << MYTH_PIECE_BITS), p->data + at,
                       p->end[i] - at, err);
    const struct {
        enum myth_statement which;
        uint32_t n;
        size_t end;
    } list[] = {
        {MYTH_SQL_PUT_REFS, n_ref, p->end[p->n_block]},
        {MYTH_SQL_PUT_DEFINITIONS, p->n_symbol, p->end[p->n_block + 1]},
    };
    for (int i = 0; i < 2 && st == MYTH_OK; at = list[i++].end) {
        if (!list[i].n)
            continue;
        sqlite3_stmt *q = myth_store_statement(s, list[i].which, err);
        if (!q)
            return code_of(err);
        sqlite3_bind_int64(q, 1, file_id);
        sqlite3_bind_int64(q, 2, list[i].n);
        sqlite3_bind_blob64(q, 3, p->data + at, list[i].end - at, SQLITE_STATIC);
        st = myth_store_run(s, q, err);
    }
    return st;
}

/* Adds a file's counts to the transaction's; times is 1 or -1. */
static void count(myth_store *s, const myth_file_counts *c, int64_t times)
{
    s->counts.n_file += times * c->n_file;
    s->counts.n_chunk += times * c->n_chunk;
    s->counts.n_symbol += times * c->n_symbol;
    s->counts.n_ref += times * c->n_ref;
    s->counts.bytes += times * c->bytes;
    s->counts.n_lost += times * c->n_lost;
}

static myth_status count_uses(myth_store *s, int64_t file_id, int64_t *n, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_GET_REFS, err);
    if (!q)
        return code_of(err);
    sqlite3_bind_int64(q, 1, file_id);
    int rc = sqlite3_step(q);
    *n = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_reset(q);
    return st;
}

myth_status myth_store_put(myth_store *s, const myth_store_file *f, const unsigned char *text,
                           const myth_chunks *chunks, const myth_packed *packed, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_PUT_FILE, err);
    if (!q)
        return code_of(err);
    s->block_id = -1;
    bind_file(q, f);
    MYTH_TRY(myth_store_run(s, q, err));
    MYTH_TRY(put_chunks(s, f, text, chunks, packed->n_symbol, err));
    MYTH_TRY(put_packed(s, f->id, packed, chunks->n_ref, err));
    MYTH_TRY(myth_symbol_rows_add_names(s, f->id, chunks, packed->n_symbol, err));
    count(s,
          &(myth_file_counts){1, chunks->n_chunk, packed->n_symbol, chunks->n_ref, (int64_t)f->bytes,
                              (f->flags & MYTH_FILE_LOST) != 0},
          1);
fail:
    return st;
}

myth_status myth_store_touch(myth_store *s, const myth_store_file *f, myth_error *err)
{
    sqlite3_stmt *q = myth_store_statement(s, MYTH_SQL_TOUCH_FILE, err);
    if (!q)
        return code_of(err);
    sqlite3_bind_int64(q, 1, f->id);
    sqlite3_bind_int64(q, 3, f->mtime_ns);
    sqlite3_bind_int64(q, 5, (sqlite3_int64)f->inode);
    sqlite3_bind_text(q, 7, f->language, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 8, f->flags);
    sqlite3_bind_int64(q, 10, f->ctime_ns);
    return myth_store_run(s, q, err);
}

myth_status myth_store_drop(myth_store *s, int64_t file_id, bool keeps_history, myth_error *err)
{
    static const enum myth_statement drop[] = {MYTH_SQL_DROP_CHUNKS, MYTH_SQL_DROP_DEFINITIONS, MYTH_SQL_DROP_REFS,
                                               MYTH_SQL_DROP_BLOCKS, MYTH_SQL_DROP_FILE,        MYTH_SQL_DROP_FACTS,
                                               MYTH_SQL_DROP_HISTORY};
    enum { N_DROP = sizeof(drop) / sizeof(drop[0]) };
    myth_file_counts had;
    myth_status st = make_rows(s, file_id, &had, drop_row, s, err);
    if (st == MYTH_OK)
        st = myth_symbol_rows_drop_names(s, file_id, &had.n_symbol, err);
    if (st == MYTH_OK)
        st = count_uses(s, file_id, &had.n_ref, err);
    s->block_id = -1;
    for (int i = 0; i < N_DROP - keeps_history && st == MYTH_OK; i++) {
        sqlite3_stmt *q = myth_store_statement(s, drop[i], err);
        if (!q)
            return code_of(err);
        int64_t ids = drop[i] == MYTH_SQL_DROP_BLOCKS ? 1 << MYTH_FILE_BITS : 1;
        sqlite3_bind_int64(q, 1, file_id * ids);
        if (ids > 1)
            sqlite3_bind_int64(q, 2, file_id * ids + ids - 1);
        st = myth_store_run(s, q, err);
        if (drop[i] == MYTH_SQL_DROP_CHUNKS)
            had.n_chunk = sqlite3_changes(s->db);
    }
    if (st == MYTH_OK)
        count(s, &had, -1);
    return st;
}

/* ---- uses of a name ---- */

typedef struct {
    int64_t *id;
    size_t n, cap;
} id_list;

/* The files whose text has the words of the name as a phrase; all files when none of its words is indexed. */
static myth_status files_with(myth_store *s, id_list *files, const char *name, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    size_t n = strlen(name), n_query = myth_fts_quote(NULL, 0, name, n);
    char *query = myth_alloc(s->mem, MYTH_MEM_OTHER, "index", n_query + 8);
    if (!query)
        return no_memory(err, n_query);
    memcpy(query, "body:", 5);
    myth_fts_quote(query + 5, n_query + 1, name, n);
    int rc = sqlite3_prepare_v2(s->db,
                                n_query ? "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT rowid FROM fts "
                                          "WHERE fts MATCH ?1) ORDER BY file_id"
                                        : "SELECT file_id FROM refs ORDER BY file_id",
                                -1, &q, NULL);
    if (n_query)
        sqlite3_bind_text(q, 1, query, -1, SQLITE_STATIC);
    bool ok = true;
    while (rc == SQLITE_OK && ok && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        ok = MYTH_ARRAY_ROOM(s->mem, MYTH_MEM_OTHER, "index", &files->id, files->n, &files->cap);
        if (ok)
            files->id[files->n++] = sqlite3_column_int64(q, 0);
        rc = SQLITE_OK;
    }
    myth_status st = ok ? myth_store_fail(s, rc, err) : no_memory(err, files->n * sizeof(*files->id));
    sqlite3_finalize(q);
    myth_free(s->mem, query);
    return st;
}

typedef struct {
    const char *name;
    bool (*on_ref)(void *arg, const myth_store_ref *ref);
    void *arg;
    bool go_on;
} named;

static bool is_named(void *arg, const myth_store_ref *ref)
{
    named *n = arg;
    if (strcmp(ref->name, n->name) == 0)
        n->go_on = n->on_ref(n->arg, ref);
    return n->go_on;
}

myth_status myth_store_refs_named(myth_store *s, const char *name, bool (*on_ref)(void *arg, const myth_store_ref *ref),
                                  void *arg, myth_error *err)
{
    id_list files = {0};
    named n = {name, on_ref, arg, true};
    myth_status st = files_with(s, &files, name, err);
    for (size_t i = 0; i < files.n && st == MYTH_OK && n.go_on; i++)
        st = myth_store_refs(s, files.id[i], is_named, &n, err);
    myth_free(s->mem, files.id);
    return st;
}
