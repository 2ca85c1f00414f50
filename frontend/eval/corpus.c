/* corpus.c - see corpus.h. A database in memory with the full-text table of the index: row ids of `fts` are pieces, a
 * row of the corpus is the file of its pieces. */
#include "corpus.h"
#include "engine/base/array.h"
#include "engine/base/json.h"
#include "definition.h"
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/rank/fuse.h"
#include "retrieval/limits.h"
#include "retrieval/rank/match.h"
#include "retrieval/rank/rank.h"
#include "retrieval/scan/scan.h"
#include "retrieval/vectors/vectors_faiss.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PIECE_BYTES = MYTH_CHUNK_BYTES * 5 / 4, /* with its blanks: where a piece may end at a line without indentation */
    PIECE_MAX_BYTES = 3 * MYTH_CHUNK_BYTES, /* where it ends at any line */
    ROW_BYTES = PIECE_MAX_BYTES,            /* a row up to this stays whole */
    NAMES_BYTES = 4096,                     /* read off a piece */
    SYMBOL_MAX = 64,                        /* a name that more pieces define is not looked up */
    BATCH = 64,                             /* pieces that are embedded at once */
    ROW_MAX = 1 << 28
};

typedef struct {
    char *id; /* one allocation: id, zero, path, zero */
    const char *path;
    uint32_t n_id, kinds;
    bool is_number;
} corpus_row;

struct myth_corpus {
    myth_mem *mem;
    sqlite3 *db;
    sqlite3_stmt *insert, *insert_symbol, *find_symbol;
    corpus_row *row;
    uint32_t *row_of; /* row of a piece; its index is the fts row id - 1 */
    uint32_t n_row, cap_row, n_piece, cap_piece;
    bool is_read; /* the first search was run */
    const myth_text_embedder *embedder;
    float *vector; /* [n_piece][dim], of the pieces before those that wait */
    uint32_t cap_vector, n_wait;
    char *wait[BATCH]; /* their texts */
    size_t n_text[BATCH];
};

static myth_status fail_db(const myth_corpus *c, myth_error *err, const char *what)
{
    bool is_memory = sqlite3_errcode(c->db) == SQLITE_NOMEM;
    return myth_fail(err, is_memory ? MYTH_ENOMEM : MYTH_EIO, "corpus: %s: %s", what, sqlite3_errmsg(c->db));
}

myth_status myth_corpus_open(myth_corpus **out, myth_mem *mem, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_corpus *c = myth_alloc(mem, MYTH_MEM_OTHER, "corpus", sizeof(*c));
    *out = NULL;
    if (!c)
        return myth_fail(err, MYTH_ENOMEM, "corpus: no memory");
    c->mem = mem;
    if (sqlite3_open_v2(":memory:", &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK) {
        st = myth_fail(err, MYTH_ENOMEM, "corpus: no database in memory: %s", sqlite3_errmsg(c->db));
        goto fail;
    }
    MYTH_TRY(myth_fts_register(c->db, err));
    MYTH_TRY(myth_match_register(c->db, mem, err));
    static const char schema[] = MYTH_FTS_TABLE ";"
                                                "CREATE TABLE symbols(name TEXT, piece INTEGER);"
                                                "CREATE INDEX symbols_name ON symbols(name);"
                                                "BEGIN";
    if (sqlite3_exec(c->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(c->db, "INSERT INTO fts(rowid, path, names, body) VALUES(?1, ?2, ?3, ?4)", -1, &c->insert,
                           NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(c->db, "INSERT INTO symbols VALUES(?1, ?2)", -1, &c->insert_symbol, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(c->db, "SELECT DISTINCT piece FROM symbols WHERE name = ?1 ORDER BY piece", -1,
                           &c->find_symbol, NULL) != SQLITE_OK) {
        st = fail_db(c, err, "making its tables");
        goto fail;
    }
    *out = c;
    return MYTH_OK;
fail:
    myth_corpus_close(c);
    return st;
}

void myth_corpus_close(myth_corpus *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_row; i++)
        myth_free(c->mem, c->row[i].id);
    sqlite3_finalize(c->insert);
    sqlite3_finalize(c->insert_symbol);
    sqlite3_finalize(c->find_symbol);
    sqlite3_close(c->db);
    for (uint32_t i = 0; i < c->n_wait; i++)
        myth_free(c->mem, c->wait[i]);
    myth_free(c->mem, c->vector);
    myth_free(c->mem, c->row);
    myth_free(c->mem, c->row_of);
    myth_free(c->mem, c);
}

const char *myth_corpus_id(const myth_corpus *c, uint32_t row, size_t *n, bool *is_number)
{
    *n = c->row[row].n_id;
    *is_number = c->row[row].is_number;
    return c->row[row].id;
}

/* ---- adding ---- */

static myth_status grow_list(myth_corpus *c, void **list, uint32_t *cap, uint32_t n, size_t size, myth_error *err)
{
    if (n >= ROW_MAX || !myth_array_more32(c->mem, MYTH_MEM_OTHER, "corpus", list, n, 1, cap, size))
        return myth_fail(err, MYTH_ENOMEM, "corpus: no memory for more than %u rows", n);
    return MYTH_OK;
}

/* Embeds the pieces that wait for their vectors. */
static myth_status embed_waiting(myth_corpus *c, myth_error *err)
{
    myth_embedder_text text[BATCH];
    if (c->n_wait == 0)
        return MYTH_OK;
    for (uint32_t i = 0; i < c->n_wait; i++)
        text[i] = (myth_embedder_text){c->wait[i], c->n_text[i]};
    float *to = c->vector + (size_t)(c->n_piece - c->n_wait) * c->embedder->dim;
    myth_status st = c->embedder->embed(c->embedder->arg, to, text, c->n_wait, false, err);
    while (c->n_wait > 0)
        myth_free(c->mem, c->wait[--c->n_wait]);
    return st;
}

/* Adds the last piece to those that wait for their vectors. */
static myth_status wait_for_vector(myth_corpus *c, const char *text, size_t n, myth_error *err)
{
    myth_status st =
        grow_list(c, (void **)&c->vector, &c->cap_vector, c->n_piece, c->embedder->dim * sizeof(float), err);
    if (st != MYTH_OK)
        return st;
    n = n < MYTH_EMBED_TEXT_BYTES ? n : MYTH_EMBED_TEXT_BYTES;
    char *copy = myth_alloc(c->mem, MYTH_MEM_OTHER, "corpus", n + 1);
    if (!copy)
        return myth_fail(err, MYTH_ENOMEM, "corpus: no memory for %zu bytes", n);
    memcpy(copy, text, n);
    c->wait[c->n_wait] = copy;
    c->n_text[c->n_wait++] = n;
    return c->n_wait == BATCH ? embed_waiting(c, err) : MYTH_OK;
}

myth_status myth_corpus_embed(myth_corpus *c, const myth_text_embedder *embedder, myth_error *err)
{
    myth_status st = myth_faiss_load(err);
    if (st != MYTH_OK)
        return st;
    if (c->n_row)
        return myth_fail(err, MYTH_EARG, "corpus: an embedder is given before the first row");
    c->embedder = embedder;
    return MYTH_OK;
}

myth_status myth_corpus_finish(myth_corpus *c, myth_error *err) { return embed_waiting(c, err); }

static myth_status add_symbol(myth_corpus *c, const char *name, size_t n, int64_t piece, myth_error *err)
{
    sqlite3_bind_text(c->insert_symbol, 1, name, (int)n, SQLITE_STATIC);
    sqlite3_bind_int64(c->insert_symbol, 2, piece);
    int rc = sqlite3_step(c->insert_symbol);
    sqlite3_reset(c->insert_symbol);
    return rc == SQLITE_DONE ? MYTH_OK : fail_db(c, err, "adding a name");
}

/* Names of a piece: those given, else those of its definitions, written to dst with spaces between. */
static myth_status add_names(myth_corpus *c, char *dst, size_t *n_dst, const myth_corpus_row *row, const char *text,
                             size_t n, int64_t piece, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *name;
    size_t n_name, pos = 0, at = 0;
    myth_word word;
    if (row->names) {
        while (st == MYTH_OK && myth_word_next(&word, row->names, row->n_names, &pos))
            st = add_symbol(c, row->names + word.off, word.bytes, piece, err);
        *n_dst = 0;
        return st;
    }
    while (st == MYTH_OK && myth_definition_next(&name, &n_name, text, n, &pos)) {
        if (at + n_name + 1 > NAMES_BYTES)
            break;
        memcpy(dst + at, name, n_name);
        dst[at + n_name] = ' ';
        at += n_name + 1;
        st = add_symbol(c, name, n_name, piece, err);
    }
    *n_dst = at;
    return st;
}

static myth_status add_piece(myth_corpus *c, const myth_corpus_row *row, const char *text, size_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    char names[NAMES_BYTES];
    size_t n_names = 0;
    MYTH_TRY(grow_list(c, (void **)&c->row_of, &c->cap_piece, c->n_piece, sizeof(*c->row_of), err));
    int64_t id = (int64_t)c->n_piece + 1;
    MYTH_TRY(add_names(c, names, &n_names, row, text, n, id, err));
    sqlite3_bind_int64(c->insert, 1, id);
    sqlite3_bind_text(c->insert, 2, row->path ? row->path : "", (int)(row->path ? row->n_path : 0), SQLITE_STATIC);
    sqlite3_bind_text(c->insert, 3, row->names ? row->names : names, (int)(row->names ? row->n_names : n_names),
                      SQLITE_STATIC);
    sqlite3_bind_text(c->insert, 4, text, (int)n, SQLITE_STATIC);
    int rc = sqlite3_step(c->insert);
    sqlite3_reset(c->insert);
    if (rc != SQLITE_DONE)
        return fail_db(c, err, "adding a row");
    c->row_of[c->n_piece++] = c->n_row;
    if (c->embedder)
        st = wait_for_vector(c, text, n, err);
fail:
    return st;
}

/* Where the piece that begins here ends: at a line that is not indented once it is long enough, at any line once it is
 * too long, else inside the line. */
static size_t piece_end(const char *text, size_t n)
{
    if (n <= ROW_BYTES)
        return n;
    size_t any = 0;
    for (size_t i = 1; i < n && i <= PIECE_MAX_BYTES; i++) {
        if (text[i - 1] != '\n')
            continue;
        any = i;
        bool is_margin =
            text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r' && text[i] != '}' && text[i] != ')';
        if (is_margin && i >= PIECE_BYTES)
            return i;
    }
    return any ? any : PIECE_MAX_BYTES;
}

myth_status myth_corpus_add(myth_corpus *c, const myth_corpus_row *row, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (c->is_read)
        return myth_fail(err, MYTH_EARG, "corpus: rows are added before the first search");
    if (row->n_text >= ROW_MAX || row->n_path >= ROW_MAX || row->n_names >= ROW_MAX)
        return myth_fail(err, MYTH_ELIMIT, "corpus: a row of more than %d MiB", ROW_MAX >> 20);
    MYTH_TRY(grow_list(c, (void **)&c->row, &c->cap_row, c->n_row, sizeof(*c->row), err));
    char *id = myth_alloc(c->mem, MYTH_MEM_OTHER, "corpus", row->n_id + row->n_path + 2);
    if (!id)
        return myth_fail(err, MYTH_ENOMEM, "corpus: no memory for an id");
    memcpy(id, row->id, row->n_id);
    if (row->path)
        memcpy(id + row->n_id + 1, row->path, row->n_path);
    corpus_row *r = &c->row[c->n_row];
    *r = (corpus_row){.id = id, .path = id + row->n_id + 1, .n_id = (uint32_t)row->n_id, .is_number = row->is_number};
    r->kinds = row->path ? myth_file_kinds(r->path, myth_detect_test(r->path), false) : 1u << MYTH_KIND_SOURCE;
    size_t off = 0;
    do {
        size_t n = piece_end(row->text + off, row->n_text - off);
        if ((st = add_piece(c, row, row->text + off, n, err)) != MYTH_OK) {
            myth_free(c->mem, id);
            return st;
        }
        off += n;
    } while (off < row->n_text);
    c->n_row++;
fail:
    return st;
}

/* ---- asking ---- */

typedef struct {
    myth_rank_file *file;
    myth_rank_chunk *chunk;
    uint32_t *order, *file_of; /* file_of: row of the corpus -> its file + 1 */
    uint32_t n_file, n_chunk, cap;
} pool;

static void put_chunk(const myth_corpus *c, pool *p, int64_t piece, double match, double share, double file_share)
{
    uint32_t row = c->row_of[piece - 1];
    if (p->n_chunk == p->cap)
        return;
    if (!p->file_of[row]) {
        p->file[p->n_file++] = (myth_rank_file){.path = "", .kinds = c->row[row].kinds};
        p->file_of[row] = p->n_file;
    }
    uint32_t file = p->file_of[row] - 1;
    p->file[file].symbol_share += file_share;
    for (uint32_t i = 0; i < p->n_chunk; i++)
        if (p->chunk[i].id == piece) {
            p->chunk[i].symbol_share += share;
            return;
        }
    p->chunk[p->n_chunk++] =
        (myth_rank_chunk){.id = piece, .file = file, .line = (uint32_t)piece, .match = match, .symbol_share = share};
}

/* Rows that define a name of the query; few enough, or it is nobody's. */
static myth_status add_symbols(myth_corpus *c, pool *p, const myth_query *q, const myth_weights_search *w,
                               myth_error *err)
{
    for (uint32_t i = 0; i < q->n_name; i++) {
        int64_t piece[SYMBOL_MAX];
        uint32_t n = 0, n_other = 0;
        int rc;
        sqlite3_bind_text(c->find_symbol, 1, q->name[i], -1, SQLITE_STATIC);
        while ((rc = sqlite3_step(c->find_symbol)) == SQLITE_ROW && n < SYMBOL_MAX) {
            piece[n] = sqlite3_column_int64(c->find_symbol, 0);
            bool is_new = n == 0 || c->row_of[piece[n] - 1] != c->row_of[piece[n - 1] - 1];
            n_other += is_new && !(c->row[c->row_of[piece[n] - 1]].kinds >> MYTH_KIND_TEST & 1);
            n++;
        }
        sqlite3_reset(c->find_symbol);
        if (rc != SQLITE_DONE && rc != SQLITE_ROW)
            return fail_db(c, err, "looking a name up");
        for (uint32_t k = 0; k < n && n_other > 0 && n_other <= w->symbol_files; k++) {
            bool is_new = k == 0 || c->row_of[piece[k] - 1] != c->row_of[piece[k - 1] - 1];
            put_chunk(c, p, piece[k], 0, 1.0 / n_other, is_new ? 1.0 / n_other : 0);
        }
    }
    return MYTH_OK;
}

/* Adds the pieces with the nearest vectors to the candidates, then ranks all by words and vectors together. */
static myth_status add_vectors(myth_corpus *c, pool *p, const char *query, size_t n, uint32_t rows, double share,
                               const myth_weights_search *w, myth_error *err)
{
    const uint32_t dim = c->embedder->dim;
    const myth_embedder_text text = {query, n < MYTH_EMBED_TEXT_BYTES ? n : MYTH_EMBED_TEXT_BYTES};
    myth_status st = MYTH_OK;
    float *asked = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", dim, sizeof(*asked));
    float *score = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", rows, sizeof(*score));
    int64_t *near = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", rows, sizeof(*near));
    float *cosine = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", p->cap + 1, sizeof(*cosine));
    if (!asked || !score || !near || !cosine) {
        st = myth_fail(err, MYTH_ENOMEM, "corpus: no memory for %u vectors", rows);
        goto fail;
    }
    MYTH_TRY(c->embedder->embed(c->embedder->arg, asked, &text, 1, true, err));
    if (!myth_faiss_flat_search(score, near, c->vector, c->n_piece, dim, asked, rows)) {
        st = myth_fail(err, MYTH_ENOMEM, "corpus: no memory for %u vectors", c->n_piece);
        goto fail;
    }
    for (uint32_t i = 0; i < rows; i++)
        if (near[i] >= 0)
            put_chunk(c, p, near[i] + 1, 0, 0, 0);
    for (uint32_t i = 0; i < p->n_chunk; i++) {
        const float *v = c->vector + (size_t)(p->chunk[i].id - 1) * dim;
        double sum = 0;
        for (uint32_t d = 0; d < dim; d++)
            sum += (double)v[d] * (double)asked[d];
        cosine[i] = (float)sum;
    }
    myth_fuse(p->chunk, p->n_chunk, cosine, share, w->semantic_from);
fail:
    myth_free(c->mem, cosine);
    myth_free(c->mem, near);
    myth_free(c->mem, score);
    myth_free(c->mem, asked);
    return st;
}

myth_status myth_corpus_search(myth_corpus *c, const char *query, size_t n, const char *weights, uint32_t k,
                               myth_corpus_hit *hit, uint32_t *n_hit, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_weights_search w;
    myth_query q = {0};
    myth_matches m = {0};
    pool p = {0};
    *n_hit = 0;
    MYTH_TRY(myth_corpus_finish(c, err));
    MYTH_TRY(myth_weights_search_set(&w, weights, err));
    if (!c->is_read && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return fail_db(c, err, "ending the rows");
    c->is_read = true;
    myth_error why = {0};
    st = myth_query_parse(&q, c->mem, query, n, &w, &why);
    if (st == MYTH_EARG)
        return MYTH_OK; /* the query has no word */
    if (st != MYTH_OK)
        return myth_fail_as(err, &why);
    uint32_t max = (uint32_t)w.candidates > 4 * k ? (uint32_t)w.candidates : 4 * k;
    MYTH_TRY(myth_match(&m, c->db, &q, &w, max, false, NULL, err));
    double share = c->embedder && c->n_piece ? myth_fuse_share(&q, &w) : 0;
    uint32_t rows = share > 0 ? (uint32_t)w.semantic_rows > k ? (uint32_t)w.semantic_rows : k : 0;
    p.cap = m.n_row + q.n_name * SYMBOL_MAX + rows;
    p.file = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", p.cap + 1, sizeof(*p.file));
    p.chunk = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", p.cap + 1, sizeof(*p.chunk));
    p.order = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", p.cap + 1, sizeof(*p.order));
    p.file_of = myth_alloc_n(c->mem, MYTH_MEM_OTHER, "corpus", c->n_row + 1, sizeof(*p.file_of));
    if (!p.file || !p.chunk || !p.order || !p.file_of) {
        st = myth_fail(err, MYTH_ENOMEM, "corpus: no memory for %u rows", p.cap);
        goto fail;
    }
    for (uint32_t i = 0; i < m.n_row; i++)
        put_chunk(c, &p, m.row[i].id, m.row[i].score, 0, 0);
    MYTH_TRY(add_symbols(c, &p, &q, &w, err));
    if (rows)
        MYTH_TRY(add_vectors(c, &p, query, n, rows, share, &w, err));
    MYTH_TRY(myth_rank(p.order, n_hit, p.file, p.n_file, p.chunk, p.n_chunk, &q, &w, k, true, err));
    for (uint32_t i = 0; i < *n_hit; i++)
        hit[i] = (myth_corpus_hit){.row = c->row_of[p.chunk[p.order[i]].id - 1], .score = p.chunk[p.order[i]].score};
fail:
    myth_free(c->mem, p.file);
    myth_free(c->mem, p.chunk);
    myth_free(c->mem, p.order);
    myth_free(c->mem, p.file_of);
    myth_matches_free(&m, &q);
    myth_query_free(&q);
    return st;
}

/* ---- JSONL ---- */

typedef struct {
    char *at; /* free bytes of a block as large as the line: unescaping never grows */
    myth_corpus_row row;
} reader;

static void take_text(reader *r, const myth_json_token *tok, const char **text, size_t *n)
{
    *text = r->at;
    *n = myth_json_text(r->at, tok);
    r->at += *n;
}

static myth_status read_names(reader *r, myth_json *j, myth_json_token *tok, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (tok->type == MYTH_JSON_STRING) {
        take_text(r, tok, &r->row.names, &r->row.n_names);
        return MYTH_OK;
    }
    if (tok->type == MYTH_JSON_NULL)
        return MYTH_OK;
    if (tok->type != MYTH_JSON_ARRAY)
        return myth_json_fail(j, tok, err, "names: expected a text or an array of texts");
    char *start = r->at;
    for (;;) {
        MYTH_TRY(myth_json_next(j, tok, err));
        if (tok->type == MYTH_JSON_ARRAY_END)
            break;
        if (tok->type != MYTH_JSON_STRING)
            return myth_json_fail(j, tok, err, "names: expected a text");
        const char *one;
        size_t n;
        take_text(r, tok, &one, &n);
        *r->at++ = ' '; /* its quotes made room */
    }
    r->row.names = start;
    r->row.n_names = (size_t)(r->at - start);
fail:
    return st;
}

static myth_status read_line(reader *r, myth_json *j, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_json_token tok;
    MYTH_TRY(myth_json_next(j, &tok, err));
    if (tok.type != MYTH_JSON_OBJECT)
        return myth_json_fail(j, &tok, err, "expected an object a line, {\"id\":...,\"text\":...}");
    for (;;) {
        MYTH_TRY(myth_json_next(j, &tok, err));
        if (tok.type == MYTH_JSON_OBJECT_END)
            break;
        bool is_id = myth_json_is(&tok, "id"), is_text = myth_json_is(&tok, "text"),
             is_path = myth_json_is(&tok, "path");
        bool is_names = myth_json_is(&tok, "names");
        if (!is_id && !is_text && !is_path && !is_names) {
            MYTH_TRY(myth_json_skip(j, err));
            continue;
        }
        MYTH_TRY(myth_json_next(j, &tok, err));
        int64_t whole;
        if (is_id && tok.type == MYTH_JSON_STRING) {
            take_text(r, &tok, &r->row.id, &r->row.n_id);
        } else if (is_id && myth_json_i64(&whole, &tok)) {
            r->row.id = tok.span;
            r->row.n_id = tok.len;
            r->row.is_number = true;
        } else if (is_id) {
            return myth_json_fail(j, &tok, err, "id: expected a text or a whole number");
        } else if (is_names) {
            MYTH_TRY(read_names(r, j, &tok, err));
        } else if (tok.type == MYTH_JSON_STRING) {
            take_text(r, &tok, is_text ? &r->row.text : &r->row.path, is_text ? &r->row.n_text : &r->row.n_path);
        } else if (is_text || tok.type != MYTH_JSON_NULL) {
            return myth_json_fail(j, &tok, err, is_text ? "text: expected a text" : "path: expected a text");
        }
    }
    if (!r->row.id || !r->row.text)
        return myth_json_fail(j, &tok, err, r->row.id ? "\"text\" is missing" : "\"id\" is missing");
    return myth_json_next(j, &tok, err); /* nothing behind the object */
fail:
    return st;
}

myth_status myth_corpus_read(myth_mem *mem, const unsigned char *jsonl, size_t n, const char *path,
                             myth_status (*row)(void *arg, const myth_corpus_row *row, myth_error *err), void *arg,
                             myth_error *err)
{
    myth_status st = MYTH_OK;
    char *block = NULL, where[160];
    size_t cap = 0, off = 0;
    for (uint64_t line = 1; off < n && st == MYTH_OK; line++) {
        const unsigned char *end = memchr(jsonl + off, '\n', n - off);
        size_t len = end ? (size_t)(end - jsonl) - off : n - off, blank = 0;
        while (blank < len && (jsonl[off + blank] == ' ' || jsonl[off + blank] == '\t' || jsonl[off + blank] == '\r'))
            blank++;
        if (blank < len) {
            if (len + 1 > cap) {
                cap = 2 * len + 1;
                myth_free(mem, block);
                if (!(block = myth_alloc(mem, MYTH_MEM_OTHER, "corpus", cap))) {
                    st = myth_fail(err, MYTH_ENOMEM, "%s: no memory for a line of %zu bytes", path, len);
                    break;
                }
            }
            snprintf(where, sizeof(where), "%s: line %" PRIu64, path, line);
            reader r = {.at = block};
            myth_json j;
            myth_json_start(&j, jsonl + off, len, where);
            st = read_line(&r, &j, err);
            if (st == MYTH_OK)
                st = row(arg, &r.row, err);
        }
        off += len + 1;
    }
    myth_free(mem, block);
    return st;
}
