/* vectors_make.c - an update of the vectors: embed the texts without an embedding, then write a file of all
 * vectors.
 *
 * Order     embeddings are appended and synced after each batch. The file is written and renamed to the name of its
 *           generation, one transaction records it, and then files of other generations are removed. Killed at any
 *           moment, the database still has its old file
 * Snapshot  chunks are read before and after embedding, because the index may be updated in between. A text is
 *           hashed as it is read, so an embedding is always kept under the hash of the text that the model got
 * Lock      a lock of its own, because embedding takes minutes and searches update the index meanwhile */
#include "vectors_impl.h"
#include "embeddings.h"
#include "retrieval/limits.h"
#include "vectors_faiss.h"
#include "engine/base/clock.h"
#include "engine/base/outfile.h"
#include "engine/base/utf16.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    WAIT_MS = 10000,
    BATCH = 64,
    TEXTS_BYTES = 1 << 20,
    ROWS = 1024, /* most texts of a batch, bytes of them, rows written at once */
    POINTS = 64  /* rows per centre that clustering learns from */
};

typedef struct {
    int64_t id;
    uint64_t content;
} chunk_row;

typedef struct {
    myth_index *x;
    const myth_vectors_update_opts *opts;
    myth_vectors_stats *stats;
    myth_embeddings_model model;
    myth_embeddings *kept;
    chunk_row *row; /* chunks, sorted by id */
    uint64_t n_row;
    int64_t state;            /* the number "updates" when the chunks were read */
    uint32_t *todo;           /* indexes of rows: the first chunk of each text without an embedding */
    uint64_t n_todo, longest; /* longest: bytes of a chunk */
} maker;

static bool is_cancelled(const maker *m) { return myth_cancelled(m->opts->is_cancelled); }

static myth_status no_memory(uint64_t bytes, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "no memory for %llu bytes of vectors", (unsigned long long)bytes);
}

/* ---- what the index has ---- */

static uint64_t content_of(sqlite3_stmt *q, int column)
{
    uint64_t v = 0;
    if (sqlite3_column_bytes(q, column) == sizeof(v))
        memcpy(&v, sqlite3_column_blob(q, column), sizeof(v));
    return v;
}

/* The id and the hash of a row. */
static myth_status count_chunks(myth_store *s, const char *sql, uint64_t *a, uint64_t *b, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(s), sql, -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        *a = (uint64_t)sqlite3_column_int64(q, 0);
        *b = (uint64_t)sqlite3_column_int64(q, 1);
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

/* Runs inside a read transaction. */
static myth_status read_rows(maker *m, myth_error *err)
{
    myth_store *s = m->x->store;
    sqlite3_stmt *q = NULL;
    uint64_t n = 0;
    myth_status st = count_chunks(s, "SELECT count(*), coalesce(max(bytes), 0) FROM chunks", &n, &m->longest, err);
    if (st != MYTH_OK)
        return st;
    if (n >= UINT32_MAX || m->longest > MYTH_FILE_BYTES)
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                                "%.140s: the index is damaged (its chunks)", m->x->path);
    myth_free(m->x->mem, m->row);
    if (!(m->row = myth_alloc_n(m->x->mem, MYTH_MEM_OTHER, "vectors", n + 1, sizeof(*m->row))))
        return no_memory(n * sizeof(*m->row), err);
    m->n_row = 0;
    m->state = myth_store_number(s, "updates", 0);
    int rc = sqlite3_prepare_v2(myth_store_db(s), "SELECT id, hash FROM chunks ORDER BY id", -1, &q, NULL);
    while (rc == SQLITE_OK && m->n_row < n && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        m->row[m->n_row++] = (chunk_row){sqlite3_column_int64(q, 0), content_of(q, 1)};
        rc = SQLITE_OK;
    }
    st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

static myth_status read_chunks(maker *m, myth_error *err)
{
    myth_status st = myth_store_read_begin(m->x->store, err);
    if (st != MYTH_OK)
        return st;
    st = read_rows(m, err);
    myth_store_read_end(m->x->store);
    return st;
}

static void set_model(myth_embeddings_model *out, const myth_text_embedder *e)
{
    *out = (myth_embeddings_model){.dim = e->dim};
    memcpy(out->model, e->model, sizeof(out->model));
    snprintf(out->name, sizeof(out->name), "%s", e->name ? e->name : "");
    snprintf(out->prompt, sizeof(out->prompt), "%s", e->prompt ? e->prompt : "");
}

/* Finds the first row of each text that has no embedding. */
static myth_status find_todo(maker *m, myth_error *err)
{
    m->n_todo = 0;
    if (!(m->todo = myth_alloc_n(m->x->mem, MYTH_MEM_OTHER, "vectors", m->n_row + 1, sizeof(*m->todo))))
        return no_memory(m->n_row * sizeof(*m->todo), err);
    for (uint64_t i = 0; i < m->n_row; i++) {
        if (myth_embeddings_find(m->kept, m->row[i].content) != -1)
            continue;
        myth_status st = myth_embeddings_want(m->kept, m->row[i].content, err);
        if (st != MYTH_OK)
            return st;
        m->todo[m->n_todo++] = (uint32_t)i;
    }
    return MYTH_OK;
}

static myth_status open_kept(maker *m, bool is_read_only, myth_error *err)
{
    char path[PATH_MAX];
    myth_embeddings_path(path, m->x);
    return myth_embeddings_open(&m->kept, m->x->mem, path, &m->model, m->n_row, is_read_only, err);
}

static void release(maker *m)
{
    myth_embeddings_close(m->kept);
    myth_free(m->x->mem, m->todo);
    myth_free(m->x->mem, m->row);
}

/* ---- texts to the embedder ---- */

typedef struct {
    unsigned char *texts, *raw; /* texts of a batch in UTF-8; one chunk as it is stored */
    float *vector;
    uint64_t cap_texts, cap_raw;
    sqlite3_stmt *get;
} batch;

/* A chunk of UTF-16 becomes up to 3/2 as long in UTF-8. */
static uint64_t text_bytes(uint64_t longest) { return longest + longest / 2 + 4; }
static uint64_t texts_bytes(uint64_t longest)
{
    return text_bytes(longest) < TEXTS_BYTES ? TEXTS_BYTES : text_bytes(longest);
}

static uint64_t batch_bytes(uint64_t longest, uint32_t dim)
{
    return texts_bytes(longest) + longest + 1 + (uint64_t)BATCH * dim * sizeof(float);
}

static myth_status open_batch(batch *b, const maker *m, myth_error *err)
{
    myth_mem *mem = m->x->mem;
    *b = (batch){.cap_texts = texts_bytes(m->longest), .cap_raw = m->longest};
    b->texts = myth_alloc(mem, MYTH_MEM_OTHER, "vectors", b->cap_texts);
    b->raw = myth_alloc(mem, MYTH_MEM_OTHER, "vectors", b->cap_raw + 1);
    b->vector = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", BATCH, m->model.dim * sizeof(float));
    if (!b->texts || !b->raw || !b->vector)
        return no_memory(batch_bytes(m->longest, m->model.dim), err);
    int rc = sqlite3_prepare_v2(myth_store_db(m->x->store),
                                "SELECT file_id, off, chunks.bytes, flags_of.flags FROM chunks JOIN files AS flags_of "
                                "ON flags_of.id = file_id WHERE chunks.id = ?1",
                                -1, &b->get, NULL);
    return myth_store_fail(m->x->store, rc, err);
}

static void close_batch(batch *b, myth_mem *mem)
{
    sqlite3_finalize(b->get);
    myth_free(mem, b->vector);
    myth_free(mem, b->raw);
    myth_free(mem, b->texts);
}

/* Copies a chunk's text to dst, up to MYTH_EMBED_TEXT_BYTES. *n 0: the chunk is gone or has another text now. */
static myth_status read_text(const maker *m, batch *b, const chunk_row *row, unsigned char *dst, size_t *n,
                             myth_error *err)
{
    unsigned char hash[16];
    *n = 0;
    sqlite3_bind_int64(b->get, 1, row->id);
    int rc = sqlite3_step(b->get);
    const int64_t file_id = sqlite3_column_int64(b->get, 0), off = sqlite3_column_int64(b->get, 1),
                  bytes = sqlite3_column_int64(b->get, 2);
    const uint32_t flags = (uint32_t)sqlite3_column_int64(b->get, 3);
    myth_status st = myth_store_fail(m->x->store, rc, err);
    sqlite3_reset(b->get);
    if (st != MYTH_OK || rc != SQLITE_ROW || bytes <= 0 || (uint64_t)bytes > b->cap_raw)
        return st;
    st = myth_store_text(m->x->store, b->raw, file_id, (uint64_t)off, (uint64_t)bytes, err);
    if (st != MYTH_OK)
        return st;
    myth_store_hash(hash, b->raw, (uint64_t)bytes);
    if (memcmp(hash, &row->content, sizeof(row->content)) != 0)
        return MYTH_OK;
    if (flags & (MYTH_FILE_UTF16_LE | MYTH_FILE_UTF16_BE)) {
        *n = myth_utf16_to_utf8(dst, b->raw, (uint64_t)bytes, off & 1, (flags & MYTH_FILE_UTF16_BE) != 0);
    } else {
        *n = (size_t)bytes;
        memcpy(dst, b->raw, *n);
    }
    *n = *n < MYTH_EMBED_TEXT_BYTES ? *n : MYTH_EMBED_TEXT_BYTES;
    return MYTH_OK;
}

/* Collects texts of todo from *at on, as many as fit into a batch, in a short read transaction: none is open while
 * the model works. */
static myth_status fill(const maker *m, batch *b, uint64_t *at, myth_embedder_text *text, uint64_t *key,
                        uint32_t *n_text, myth_error *err)
{
    size_t used = 0;
    *n_text = 0;
    myth_status st = myth_store_read_begin(m->x->store, err);
    while (st == MYTH_OK && *at < m->n_todo && *n_text < BATCH &&
           (*n_text == 0 || b->cap_texts - used >= text_bytes(b->cap_raw))) {
        const chunk_row *row = &m->row[m->todo[(*at)++]];
        size_t n;
        st = read_text(m, b, row, b->texts + used, &n, err);
        if (st != MYTH_OK || n == 0)
            continue;
        text[*n_text] = (myth_embedder_text){(char *)b->texts + used, n};
        key[(*n_text)++] = row->content;
        used += n;
    }
    myth_store_read_end(m->x->store);
    return st;
}

static bool is_finite(const float *v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* Embeds all batches; MYTH_ECANCEL can come between and inside of batches. */
static myth_status embed_all(maker *m, batch *b, myth_error *err)
{
    const myth_text_embedder *e = m->opts->embedder;
    myth_embedder_text text[BATCH];
    uint64_t key[BATCH];
    const double start = myth_seconds();
    for (uint64_t at = 0; at < m->n_todo;) {
        uint32_t n = 0;
        myth_status st = is_cancelled(m) ? MYTH_ECANCEL : fill(m, b, &at, text, key, &n, err);
        if (st == MYTH_OK && n)
            st = e->embed(e->arg, b->vector, text, n, false, err);
        if (st == MYTH_ECANCEL)
            return myth_fail(err, st, "stopped after %llu of %llu texts, which are kept; the next run goes on",
                             (unsigned long long)m->stats->n_embedded, (unsigned long long)m->n_todo);
        if (st != MYTH_OK)
            return st;
        if (!is_finite(b->vector, (uint64_t)n * e->dim))
            return myth_fail(err, MYTH_EFORMAT, "%.120s gives vectors that are not finite", m->model.name);
        st = myth_embeddings_put(m->kept, key, b->vector, n, err);
        if (st != MYTH_OK)
            return st;
        m->stats->n_embedded += n;
        if (m->opts->progress)
            m->opts->progress(m->opts->progress_arg, at, m->n_todo, myth_seconds() - start);
    }
    return MYTH_OK;
}

/* ---- the file ---- */

typedef struct {
    maker *m;
    myth_vectors_layout l;
    myth_out out;
    uint64_t at; /* bytes written and added to the checksum */
    XXH3_state_t *sum;
    float *x;                           /* [ROWS][dim] */
    unsigned char *code;                /* [ROWS][dim] */
    float *trained, *centroid, *sample; /* sq8; ivf */
    int64_t *list;                      /* [ROWS] */
    uint32_t *place;                    /* ivf: the row at each place */
} writer;

static uint32_t lists_for(uint64_t n)
{
    const double root = sqrt((double)n);
    return root < 1 ? 1 : root > MYTH_VECTORS_LISTS ? MYTH_VECTORS_LISTS : (uint32_t)root;
}

static uint64_t sample_rows(uint64_t n, uint32_t n_list)
{
    return n < (uint64_t)POINTS * n_list ? n : (uint64_t)POINTS * n_list;
}

static myth_vectors_kind kind_for(myth_vectors_kind wanted, uint64_t n, uint32_t dim)
{
    if (wanted != MYTH_VECTORS_AUTO)
        return wanted;
    return n * dim * sizeof(float) <= MYTH_VECTORS_FLAT_BYTES ? MYTH_VECTORS_FLAT
         : n <= MYTH_VECTORS_SQ8_ROWS                         ? MYTH_VECTORS_SQ8
                                                              : MYTH_VECTORS_IVF;
}

static uint64_t writer_bytes(uint64_t n, uint32_t dim, myth_vectors_kind kind)
{
    uint64_t bytes = (uint64_t)ROWS * dim * 5 + ROWS * 8 + 2 * (uint64_t)dim * 4;
    if (kind == MYTH_VECTORS_IVF)
        bytes += (sample_rows(n, lists_for(n)) + lists_for(n)) * dim * 4 + n * 8 + (uint64_t)lists_for(n) * 8;
    return bytes;
}

static myth_status write_bytes(writer *w, const void *data, uint64_t n, myth_error *err)
{
    errno = 0;
    if (!myth_out_write(w->out.fd, data, (size_t)n))
        return myth_fail(err, MYTH_EIO, "the vectors of %.140s: %s", w->m->x->path,
                         errno ? strerror(errno) : "cannot be written");
    XXH3_128bits_update(w->sum, data, (size_t)n);
    w->at += n;
    return MYTH_OK;
}

static myth_status pad_to(writer *w, uint64_t off, myth_error *err)
{
    static const unsigned char zero[64];
    return off > w->at ? write_bytes(w, zero, off - w->at, err) : MYTH_OK;
}

/* Reads the vector of row i. */
static myth_status get(const writer *w, uint64_t i, float *x, myth_error *err)
{
    return myth_embeddings_get(w->m->kept, myth_embeddings_find(w->m->kept, w->m->row[i].content), x, err);
}

static myth_status get_block(const writer *w, uint64_t first, uint64_t n, float *x, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint64_t i = 0; i < n && st == MYTH_OK; i++)
        st = get(w, first + i, x + i * w->l.info.dim, err);
    return st;
}

/* Finds the least value and the range of each dimension over all rows. */
static myth_status train(writer *w, myth_error *err)
{
    const uint32_t dim = w->l.info.dim;
    float *least = w->trained, *range = w->trained + dim;
    for (uint64_t i = 0; i < w->l.info.n_row; i++) {
        myth_status st = get(w, i, w->x, err);
        if (st != MYTH_OK)
            return st;
        for (uint32_t d = 0; d < dim; d++) {
            least[d] = i == 0 || w->x[d] < least[d] ? w->x[d] : least[d];
            range[d] = i == 0 || w->x[d] > range[d] ? w->x[d] : range[d];
        }
    }
    for (uint32_t d = 0; d < dim; d++)
        range[d] -= least[d];
    return MYTH_OK;
}

/* Makes the centres, from rows all over the index, and orders the rows by lists. */
static myth_status make_lists(writer *w, uint64_t *end, myth_error *err)
{
    const uint64_t n = w->l.info.n_row, n_sample = sample_rows(n, w->l.n_list);
    const uint32_t dim = w->l.info.dim;
    myth_status st = MYTH_OK;
    for (uint64_t i = 0; i < n_sample && st == MYTH_OK; i++)
        st = get(w, i * n / n_sample, w->sample + i * dim, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_faiss_cluster(w->centroid, w->l.n_list, w->sample, n_sample, dim))
        return no_memory(n_sample * dim * 4, err);
    uint32_t *list_of = w->place; /* holds first the list of each row, then the rows in the order of lists */
    for (uint64_t first = 0; first < n; first += ROWS) {
        const uint64_t now = n - first < ROWS ? n - first : ROWS;
        if ((st = get_block(w, first, now, w->x, err)) != MYTH_OK)
            return st;
        if (!myth_faiss_assign(w->list, w->centroid, w->l.n_list, w->x, now, dim))
            return no_memory(now * 8, err);
        for (uint64_t i = 0; i < now; i++)
            list_of[first + i] = w->list[i] >= 0 ? (uint32_t)w->list[i] : 0;
    }
    uint32_t *row = myth_alloc_n(w->m->x->mem, MYTH_MEM_OTHER, "vectors", n, sizeof(*row));
    if (!row)
        return no_memory(n * 4, err);
    memset(end, 0, w->l.n_list * sizeof(*end));
    for (uint64_t i = 0; i < n; i++)
        end[list_of[i]]++;
    for (uint32_t c = 1; c < w->l.n_list; c++)
        end[c] += end[c - 1];
    for (uint64_t i = n; i-- > 0;)
        /* backwards, so that the rows of a list rise and end becomes its first place */
        row[--end[list_of[i]]] = (uint32_t)i;
    for (uint32_t c = 0; c + 1 < w->l.n_list; c++)
        end[c] = end[c + 1];
    end[w->l.n_list - 1] = n;
    memcpy(w->place, row, n * sizeof(*row));
    myth_free(w->m->x->mem, row);
    return MYTH_OK;
}

static myth_status put_codes(writer *w, myth_error *err)
{
    const uint64_t n = w->l.info.n_row;
    const uint32_t dim = w->l.info.dim;
    myth_status st = MYTH_OK;
    for (uint64_t first = 0; first < n && st == MYTH_OK; first += ROWS) {
        const uint64_t now = n - first < ROWS ? n - first : ROWS;
        for (uint64_t i = 0; i < now && st == MYTH_OK; i++)
            st = get(w, w->l.n_list ? w->place[first + i] : first + i, w->x + i * dim, err);
        if (st != MYTH_OK)
            return st;
        if (w->l.info.kind == MYTH_VECTORS_FLAT) {
            st = write_bytes(w, w->x, now * dim * sizeof(float), err);
            continue;
        }
        memset(w->code, 0, now * dim);
        if (!myth_faiss_sq8_encode(w->code, w->trained, w->x, now, dim))
            return no_memory(now * dim, err);
        st = write_bytes(w, w->code, now * dim, err);
    }
    return st;
}

static myth_status put_column(writer *w, bool is_content, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t value[ROWS];
    for (uint64_t first = 0; first < w->l.info.n_row && st == MYTH_OK; first += ROWS) {
        const uint64_t now = w->l.info.n_row - first < ROWS ? w->l.info.n_row - first : ROWS;
        for (uint64_t i = 0; i < now; i++)
            value[i] = is_content ? w->m->row[first + i].content : (uint64_t)w->m->row[first + i].id;
        st = write_bytes(w, value, now * sizeof(*value), err);
    }
    return st;
}

static myth_status put_all(writer *w, uint64_t *end, myth_error *err)
{
    const uint32_t dim = w->l.info.dim;
    unsigned char header[MYTH_VECTORS_HEADER];
    XXH128_canonical_t sum;
    myth_status st = MYTH_OK;
    if (w->l.info.kind != MYTH_VECTORS_FLAT)
        MYTH_TRY(train(w, err));
    if (w->l.n_list)
        MYTH_TRY(make_lists(w, end, err));
    myth_vectors_put_header(header, &w->l);
    XXH3_128bits_reset(w->sum);
    MYTH_TRY(write_bytes(w, header, sizeof(header), err));
    MYTH_TRY(put_column(w, false, err));
    MYTH_TRY(pad_to(w, w->l.at_content, err));
    MYTH_TRY(put_column(w, true, err));
    MYTH_TRY(pad_to(w, w->l.at_trained, err));
    if (w->l.info.kind != MYTH_VECTORS_FLAT)
        MYTH_TRY(write_bytes(w, w->trained, 2 * (uint64_t)dim * sizeof(float), err));
    if (w->l.n_list) {
        MYTH_TRY(pad_to(w, w->l.at_centroid, err));
        MYTH_TRY(write_bytes(w, w->centroid, (uint64_t)w->l.n_list * dim * sizeof(float), err));
        MYTH_TRY(pad_to(w, w->l.at_end, err));
        MYTH_TRY(write_bytes(w, end, (uint64_t)w->l.n_list * sizeof(*end), err));
        MYTH_TRY(pad_to(w, w->l.at_row, err));
        MYTH_TRY(write_bytes(w, w->place, w->l.info.n_row * sizeof(*w->place), err));
    }
    MYTH_TRY(pad_to(w, w->l.at_code, err));
    MYTH_TRY(put_codes(w, err));
    MYTH_TRY(pad_to(w, w->l.bytes, err));
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(w->sum));
    if (!myth_out_write_at(w->out.fd, sum.digest, sizeof(sum.digest), MYTH_VECTORS_SUM_AT))
        st = myth_fail(err, MYTH_EIO, "the vectors of %.140s: %s", w->m->x->path, strerror(errno));
fail:
    return st;
}

/* Keeps only the rows that have an embedding. */
static void keep_rows(maker *m)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < m->n_row; i++)
        if (myth_embeddings_find(m->kept, m->row[i].content) >= 0)
            m->row[n++] = m->row[i];
    m->stats->n_chunk = m->n_row;
    m->stats->n_vector = n;
    m->stats->n_missing = m->n_row - n;
    m->n_row = n;
}

static myth_status open_writer(writer *w, maker *m, uint64_t generation, uint64_t **end, myth_error *err)
{
    myth_mem *mem = m->x->mem;
    const uint32_t dim = m->model.dim;
    *w = (writer){.m = m, .l.info = {.n_row = m->n_row, .generation = generation, .dim = dim}};
    w->l.info.kind = kind_for(m->opts->kind, m->n_row, dim);
    w->l.n_list = w->l.info.kind == MYTH_VECTORS_IVF ? lists_for(m->n_row) : 0;
    memcpy(w->l.info.model, m->model.model, sizeof(w->l.info.model));
    memcpy(w->l.info.name, m->model.name, sizeof(w->l.info.name));
    memcpy(w->l.info.prompt, m->model.prompt, sizeof(w->l.info.prompt));
    myth_vectors_lay_out(&w->l);
    m->stats->kind = w->l.info.kind;
    w->sum = XXH3_createState();
    w->x = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", ROWS, dim * sizeof(float));
    w->code = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", ROWS, dim);
    w->list = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", ROWS, sizeof(*w->list));
    w->trained = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", 2 * (size_t)dim, sizeof(float));
    bool ok = w->sum && w->x && w->code && w->list && w->trained;
    if (w->l.n_list) {
        w->centroid = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", w->l.n_list, dim * sizeof(float));
        w->sample =
            myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", sample_rows(m->n_row, w->l.n_list) + 1, dim * sizeof(float));
        w->place = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", m->n_row + 1, sizeof(*w->place));
        *end = myth_alloc_n(mem, MYTH_MEM_OTHER, "vectors", w->l.n_list, sizeof(**end));
        ok = ok && w->centroid && w->sample && w->place && *end;
    }
    return ok ? MYTH_OK : no_memory(writer_bytes(m->n_row, dim, w->l.info.kind), err);
}

static void close_writer(writer *w, uint64_t *end)
{
    myth_mem *mem = w->m->x->mem;
    XXH3_freeState(w->sum);
    myth_free(mem, end);
    myth_free(mem, w->place);
    myth_free(mem, w->sample);
    myth_free(mem, w->centroid);
    myth_free(mem, w->trained);
    myth_free(mem, w->list);
    myth_free(mem, w->code);
    myth_free(mem, w->x);
}

static myth_status write_file(maker *m, uint64_t generation, myth_error *err)
{
    char path[PATH_MAX];
    writer w;
    uint64_t *end = NULL;
    myth_vectors_path(path, m->x, generation);
    myth_status st = open_writer(&w, m, generation, &end, err);
    if (st == MYTH_OK)
        st = myth_out_open(&w.out, path, MYTH_OUT_PRIVATE, err);
    if (st == MYTH_OK)
        st = put_all(&w, end, err);
    if (st == MYTH_OK)
        st = myth_out_finish(&w.out, err);
    else
        myth_out_abandon(&w.out);
    close_writer(&w, end);
    return st;
}

/* ---- the database ---- */

/* Records the new file in the database. The index's lock is held, so nobody else writes. */
static myth_status record(const maker *m, uint64_t generation, myth_error *err)
{
    const struct {
        const char *key;
        int64_t value;
    } number[] = {
        {MYTH_VECTORS_GENERATION, (int64_t)generation},
        {MYTH_VECTORS_STATE, m->state},
        {MYTH_VECTORS_MISSING, (int64_t)m->stats->n_missing},
    };
    myth_store *s = m->x->store;
    int fd = -1;
    myth_status st =
        myth_index_lock(&fd, m->x->path, "updating the index", m->opts->wait_ms ? m->opts->wait_ms : WAIT_MS, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_store_begin(s, err));
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        MYTH_TRY(myth_store_set_number(s, number[i].key, number[i].value, err));
    MYTH_TRY(myth_store_commit(s, err));
    myth_index_unlock(&fd);
    return MYTH_OK;
fail:
    myth_store_rollback(s);
    myth_index_unlock(&fd);
    return st;
}

/* Whether the file is undamaged and belongs to this model and the current index. Database and embeddings are asked
 * first, so that the file is not mapped when the model has work to do anyway. */
static bool is_current(maker *m, const myth_vectors_update_opts *opts)
{
    char path[PATH_MAX];
    myth_embeddings_model whose;
    myth_vectors *v = NULL;
    myth_store *s = m->x->store;
    myth_embeddings_path(path, m->x);
    m->stats->n_missing = (uint64_t)myth_store_number(s, MYTH_VECTORS_MISSING, 0);
    if (!myth_vectors_is_of_this_state(m->x) || (m->stats->n_missing && opts->embedder) ||
        myth_embeddings_whose(&whose, path, NULL) != MYTH_OK || whose.dim != m->model.dim ||
        memcmp(whose.model, m->model.model, sizeof(whose.model)) != 0 || myth_vectors_open(&v, m->x, NULL) != MYTH_OK)
        return false;
    const myth_vectors_info *about = myth_vectors_about(v);
    m->stats->n_vector = about->n_row;
    m->stats->n_chunk = about->n_row + m->stats->n_missing;
    m->stats->kind = about->kind;
    const bool is_it = !about->is_behind && memcmp(about->model, m->model.model, sizeof(about->model)) == 0 &&
                       strcmp(about->name, m->model.name) == 0 &&
                       (opts->kind == MYTH_VECTORS_AUTO || opts->kind == about->kind);
    myth_vectors_close(v);
    return is_it;
}

static void compact(maker *m)
{
    const uint64_t n = myth_embeddings_n(m->kept);
    unsigned char *is_live = myth_alloc(m->x->mem, MYTH_MEM_OTHER, "vectors", n + 1);
    if (!is_live)
        return; /* a file that is larger than needed does no harm */
    for (uint64_t i = 0; i < m->n_row; i++)
        is_live[myth_embeddings_find(m->kept, m->row[i].content)] = 1;
    myth_embeddings_compact(m->kept, is_live, NULL);
    myth_free(m->x->mem, is_live);
}

static myth_status make(maker *m, myth_error *err)
{
    batch b = {0};
    myth_error why = {0};
    myth_status st = MYTH_OK, stopped = MYTH_OK;
    MYTH_TRY(read_chunks(m, err));
    MYTH_TRY(open_kept(m, false, err));
    if (m->opts->embedder) {
        MYTH_TRY(find_todo(m, err));
        MYTH_TRY(open_batch(&b, m, err));
        stopped = embed_all(m, &b, &why);
        if (stopped != MYTH_OK && stopped != MYTH_ECANCEL) {
            st = myth_fail_as(err, &why);
            goto fail;
        }
    }
    close_batch(&b, m->x->mem);
    b = (batch){0};
    MYTH_TRY(read_chunks(m, err));
    keep_rows(m);
    const uint64_t generation = myth_vectors_new_generation();
    MYTH_TRY(write_file(m, generation, err));
    MYTH_TRY(record(m, generation, err));
    m->stats->is_written = true;
    myth_vectors_remove_others(m->x, generation);
    if (stopped == MYTH_OK)
        compact(m);
    st = stopped == MYTH_OK ? MYTH_OK : myth_fail_as(err, &why);
fail:
    close_batch(&b, m->x->mem);
    return st;
}

myth_status myth_vectors_update(myth_index *x, const myth_vectors_update_opts *opts, myth_vectors_stats *stats,
                                myth_error *err)
{
    static const myth_vectors_update_opts none;
    myth_vectors_stats unused;
    char path[PATH_MAX];
    const double start = myth_seconds();
    int lock_fd = -1;
    maker m = {.x = x, .opts = opts ? opts : &none, .stats = stats ? stats : &unused};
    *m.stats = (myth_vectors_stats){0};
    myth_status st = myth_faiss_load(err);
    if (st != MYTH_OK)
        return st;
    if (x->is_read_only)
        return myth_fail(err, MYTH_EARG, "%.160s: opened for reading only", x->path);
    if (m.opts->embedder && (m.opts->embedder->dim == 0 || m.opts->embedder->dim > MYTH_VECTORS_DIM))
        return myth_fail(err, MYTH_EUNSUPPORTED, "vectors of %u values, expected 1 to %d", m.opts->embedder->dim,
                         MYTH_VECTORS_DIM);
    snprintf(path, sizeof(path), "%.*s.vectors", PATH_MAX - 32, x->path);
    MYTH_TRY(myth_index_lock(&lock_fd, path, "making its vectors", m.opts->wait_ms ? m.opts->wait_ms : WAIT_MS, err));
    myth_faiss_set_threads((int)m.opts->n_threads);
    myth_embeddings_path(path, x);
    if (m.opts->embedder)
        set_model(&m.model, m.opts->embedder);
    else
        MYTH_TRY(myth_embeddings_whose(&m.model, path, err));
    if (!is_current(&m, m.opts))
        st = make(&m, err);
fail:
    release(&m);
    myth_index_unlock(&lock_fd);
    m.stats->seconds = myth_seconds() - start;
    return st;
}

/* ---- before an update ---- */

myth_status myth_vectors_model(myth_index *x, unsigned char model[16], char name[MYTH_VECTORS_NAME], myth_error *err)
{
    char path[PATH_MAX];
    myth_embeddings_model m;
    myth_embeddings_path(path, x);
    myth_status st = myth_embeddings_whose(&m, path, err);
    if (st != MYTH_OK)
        return st;
    memcpy(model, m.model, sizeof(m.model));
    memcpy(name, m.name, sizeof(m.name));
    return MYTH_OK;
}

myth_status myth_vectors_measure(myth_vectors_work *out, myth_index *x, const myth_text_embedder *embedder,
                                 myth_error *err)
{
    static const myth_vectors_update_opts none;
    maker m = {.x = x, .opts = &none};
    myth_status st = MYTH_OK;
    *out = (myth_vectors_work){0};
    set_model(&m.model, embedder);
    MYTH_TRY(read_chunks(&m, err));
    out->n_chunk = m.n_row;
    out->longest_bytes = m.longest;
    uint64_t n_kept = 0, unused;
    st = open_kept(&m, true, err);
    if (st == MYTH_OK) {
        st = find_todo(&m, err);
        out->n_missing = m.n_todo;
        n_kept = myth_embeddings_n(m.kept);
    } else if (st == MYTH_ENOTFOUND) {
        st = count_chunks(x->store, "SELECT count(DISTINCT hash), 0 FROM chunks", &out->n_missing, &unused, err);
    }
    const uint64_t rows = (m.n_row + 1) * (sizeof(*m.row) + sizeof(*m.todo));
    const uint64_t texts = batch_bytes(m.longest, m.model.dim);
    const uint64_t file = writer_bytes(m.n_row, m.model.dim, kind_for(MYTH_VECTORS_AUTO, m.n_row, m.model.dim));
    out->peak_bytes =
        rows + myth_embeddings_bytes(n_kept + m.n_row, m.model.dim) + (texts > file ? texts : file) + n_kept + m.n_row;
fail:
    release(&m);
    return st;
}
