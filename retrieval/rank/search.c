/* search.c - see search.h. Collects the candidates that rank.h orders: rows of the full-text index, definitions of
 * the query's names, chunks near to its vector. Then it reads the text of the best. All of it is one read
 * transaction, so that the results belong to one state of the index. */
#include "search.h"
#include "fuse.h"
#include "retrieval/index/index_impl.h"
#include "retrieval/limits.h"
#include "match.h"
#include "row_filter.h"
#include "rank.h"
#include "stem.h"
#include "retrieval/store/store_impl.h"
#include "engine/base/table.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { DEFINITION_MAX = 64 }; /* definitions of one name that are read */

typedef struct {
    int64_t id;
    uint32_t flags, n_test, n_other; /* candidates that are tests, and other definitions */
    const char *path;
    char *own; /* the path, when the store's cache does not have it */
} file_row;

/* The candidates. The arrays `rank` and `row` are parallel, and so are `chunk` and `place`. */
typedef struct {
    myth_mem *mem;
    myth_store *store;
    const myth_row_filter *only; /* NULL = all files */
    sqlite3_stmt *get_chunk, *get_file, *get_symbols, *chunk_at;
    myth_rank_file *file;
    file_row *row;
    myth_rank_chunk *chunk;
    /* a chunk's match; NULL when only its definition or its vector made it a candidate */
    const myth_match_row **match;
    float *cosine;  /* cosine of a chunk and the query; NAN = no vector */
    double lexical; /* share of words in the match of a chunk that has a vector */
    bool has_vectors;
    uint32_t *order, n_file, n_chunk, cap;
    uint32_t *file_slot, *chunk_slot, n_slot; /* open addressing: index + 1 by id */
} pool;

static void close_pool(pool *p)
{
    for (uint32_t i = 0; i < p->n_file; i++)
        myth_free(p->mem, p->row[i].own);
    myth_free(p->mem, p->file);
    myth_free(p->mem, p->row);
    myth_free(p->mem, p->chunk);
    myth_free(p->mem, p->match);
    myth_free(p->mem, p->cosine);
    myth_free(p->mem, p->order);
    myth_free(p->mem, p->file_slot);
    myth_free(p->mem, p->chunk_slot);
}

static myth_status open_pool(pool *p, uint32_t cap, myth_error *err)
{
    p->cap = cap;
    for (p->n_slot = 64; p->n_slot < 2 * cap;)
        p->n_slot *= 2;
    p->file = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->file));
    p->row = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->row));
    p->chunk = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->chunk));
    p->match = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->match));
    p->cosine = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->cosine));
    p->order = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", cap, sizeof(*p->order));
    p->file_slot = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", p->n_slot, sizeof(*p->file_slot));
    p->chunk_slot = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "search", p->n_slot, sizeof(*p->chunk_slot));
    if (!p->file || !p->row || !p->chunk || !p->match || !p->cosine || !p->order || !p->file_slot || !p->chunk_slot)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u candidates", cap);
    uint32_t version = 0;
    if (sqlite3_file_control(myth_store_db(p->store), "main", SQLITE_FCNTL_DATA_VERSION, &version) != SQLITE_OK ||
        version != p->store->known.version)
        myth_store_forget(p->store);
    p->store->known.version = version;
    p->get_chunk = myth_store_statement(p->store, MYTH_SQL_FIND_CHUNK, err);
    p->get_file = p->get_chunk ? myth_store_statement(p->store, MYTH_SQL_FIND_FILE, err) : NULL;
    p->get_symbols = p->get_file ? myth_store_statement(p->store, MYTH_SQL_FIND_SYMBOLS, err) : NULL;
    p->chunk_at = p->get_symbols ? myth_store_statement(p->store, MYTH_SQL_CHUNK_AT, err) : NULL;
    return p->chunk_at ? MYTH_OK : err ? err->code : MYTH_EFORMAT;
}

static bool is_file(const void *p, uint32_t idx, const void *id)
{
    return ((const pool *)p)->row[idx].id == *(const int64_t *)id;
}

static bool is_chunk(const void *p, uint32_t idx, const void *id)
{
    return ((const pool *)p)->chunk[idx].id == *(const int64_t *)id;
}

static uint64_t content_of(sqlite3_stmt *s, int column)
{
    uint64_t v = 0;
    if (sqlite3_column_bytes(s, column) >= 8)
        memcpy(&v, sqlite3_column_blob(s, column), 8);
    return v;
}

/* Turns rc into a status. Only SQLITE_ROW is right: a candidate without its row means damage. */
static myth_status step_one(const pool *p, sqlite3_stmt *s, myth_error *err)
{
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        return MYTH_OK;
    if (rc == SQLITE_DONE)
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                                "search: a chunk of the full-text index has no row");
    return myth_store_fail(p->store, rc, err);
}

/* Makes room for an id in one of the store's caches; NULL: it is too large and is read each time. */
static void *room_for(const pool *p, void **list, uint32_t *n_list, int64_t id, size_t size)
{
    if (id < 0 || id >= MYTH_KNOWN_IDS)
        return NULL;
    if (id >= *n_list) {
        uint32_t n = *n_list ? *n_list : 1024;
        while (n <= id)
            n *= 2;
        unsigned char *grown = myth_realloc(p->store->mem, MYTH_MEM_OTHER, "search", *list, n * size);
        if (!grown)
            return NULL;
        memset(grown + *n_list * size, 0, (n - *n_list) * size);
        *list = grown;
        *n_list = n;
    }
    return (unsigned char *)*list + (size_t)id * size;
}

static myth_status read_file(pool *p, int64_t id, myth_known_file *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_bind_int64(p->get_file, 1, id);
    MYTH_TRY(step_one(p, p->get_file, err));
    int n = sqlite3_column_bytes(p->get_file, 0);
    if (!(f->path = myth_alloc(p->mem, MYTH_MEM_OTHER, "search", (size_t)n + 1))) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for a path");
        goto fail;
    }
    if (n)
        memcpy(f->path, sqlite3_column_blob(p->get_file, 0), (size_t)n);
    f->flags = (uint32_t)sqlite3_column_int64(p->get_file, 1);
    f->content = content_of(p->get_file, 2);
    f->kinds = myth_file_kinds(f->path, f->flags & MYTH_FILE_TEST, f->flags & MYTH_FILE_GENERATED);
fail:
    sqlite3_reset(p->get_file);
    return st;
}

static myth_status put_file(pool *p, int64_t id, uint32_t *idx, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t *slot = myth_table_find(p->file_slot, p->n_slot, myth_hash_id((uint64_t)id), is_file, p, &id);
    if (*slot) {
        *idx = *slot - 1;
        return MYTH_OK;
    }
    myth_known *known = &p->store->known;
    myth_known_file own = {0}, *f = room_for(p, (void **)&known->file, &known->n_file, id, sizeof(*f));
    bool is_kept = f != NULL;
    f = f ? f : &own;
    if (!f->path)
        MYTH_TRY(read_file(p, id, f, err));
    p->row[p->n_file] = (file_row){.id = id, .flags = f->flags, .path = f->path, .own = is_kept ? NULL : f->path};
    p->file[p->n_file] = (myth_rank_file){.path = f->path, .content = f->content, .kinds = f->kinds};
    *idx = p->n_file++;
    *slot = p->n_file;
fail:
    return st;
}

static myth_status read_chunk(pool *p, int64_t id, myth_known_chunk *c, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_bind_int64(p->get_chunk, 1, id);
    MYTH_TRY(step_one(p, p->get_chunk, err));
    *c = (myth_known_chunk){
        .file_id = sqlite3_column_int64(p->get_chunk, 0),
        .line0 = (uint32_t)sqlite3_column_int64(p->get_chunk, 1),
        .content = content_of(p->get_chunk, 2),
        .kind = (uint32_t)sqlite3_column_int64(p->get_chunk, 3),
    };
fail:
    sqlite3_reset(p->get_chunk);
    return st;
}

/* The candidate for a chunk; creates it when it is new. */
static myth_status put_chunk(pool *p, int64_t id, uint32_t *idx, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t *slot = myth_table_find(p->chunk_slot, p->n_slot, myth_hash_id((uint64_t)id), is_chunk, p, &id), file = 0;
    if (*slot) {
        *idx = *slot - 1;
        return MYTH_OK;
    }
    myth_known *known = &p->store->known;
    myth_known_chunk own = {0}, *c = room_for(p, (void **)&known->chunk, &known->n_chunk, id, sizeof(*c));
    c = c ? c : &own;
    if (!c->file_id)
        MYTH_TRY(read_chunk(p, id, c, err));
    MYTH_TRY(put_file(p, c->file_id, &file, err));
    p->chunk[p->n_chunk] = (myth_rank_chunk){.id = id, .file = file, .line = c->line0, .content = c->content};
    p->row[file].n_test += c->kind == MYTH_CHUNK_TEST;
    p->row[file].n_other +=
        c->kind == MYTH_CHUNK_FUNCTION || c->kind == MYTH_CHUNK_METHOD || c->kind == MYTH_CHUNK_CLASS;
    *idx = p->n_chunk++;
    *slot = p->n_chunk;
fail:
    return st;
}

/* Adds the definitions of one name: its chunks and files get their share of the bonus, if few enough files define
 * it. */
static myth_status add_definitions(pool *p, const char *name, const myth_weights_search *w, bool with_tests,
                                   myth_error *err)
{
    myth_status st = MYTH_OK;
    int64_t file_id[DEFINITION_MAX], off[DEFINITION_MAX];
    uint32_t n = 0, n_other = 0, n_own = 0, file;
    int rc;
    sqlite3_bind_text(p->get_symbols, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int(p->get_symbols, 2, p->only ? INT_MAX : DEFINITION_MAX);
    while (n < DEFINITION_MAX && (rc = sqlite3_step(p->get_symbols)) == SQLITE_ROW) {
        file_id[n] = sqlite3_column_int64(p->get_symbols, 0);
        off[n] = sqlite3_column_int64(p->get_symbols, 1);
        n += !p->only || myth_row_filter_has_file(p->only, file_id[n]);
    }
    sqlite3_reset(p->get_symbols);
    if (n < DEFINITION_MAX && rc != SQLITE_DONE)
        return myth_store_fail(p->store, rc, err);
    if (n == 0 || n == DEFINITION_MAX)
        return MYTH_OK;
    for (uint32_t i = 0; i < n; i++) {
        MYTH_TRY(put_file(p, file_id[i], &file, err));
        bool is_new = i == 0 || file_id[i] != file_id[i - 1];
        n_other += is_new && (with_tests || !(p->file[file].kinds >> MYTH_KIND_TEST & 1));
        n_own += is_new &&
                 !(p->file[file].kinds & (1u << MYTH_KIND_TEST | 1u << MYTH_KIND_VENDORED | 1u << MYTH_KIND_GENERATED));
    }
    n_other = n_own && !with_tests ? n_own : n_other; /* copies do not reduce the share of the original */
    for (uint32_t i = 0; i < n && n_other > 0 && n_other <= w->symbol_files; i++) {
        uint32_t chunk;
        MYTH_TRY(put_file(p, file_id[i], &file, err));
        if (i == 0 || file_id[i] != file_id[i - 1])
            p->file[file].symbol_share += 1.0 / n_other;
        sqlite3_bind_int64(p->chunk_at, 1, file_id[i]);
        sqlite3_bind_int64(p->chunk_at, 2, off[i]);
        rc = sqlite3_step(p->chunk_at);
        int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(p->chunk_at, 0) : 0;
        sqlite3_reset(p->chunk_at);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            return myth_store_fail(p->store, rc, err);
        if (id == 0)
            continue;
        MYTH_TRY(put_chunk(p, id, &chunk, err));
        p->chunk[chunk].symbol_share += 1.0 / n_other;
    }
fail:
    return st;
}

static myth_status collect(pool *p, const myth_matches *m, const myth_query *q, const myth_weights_search *w,
                           bool with_names, bool only_names, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t idx;
    for (uint32_t i = 0; i < m->n_row; i++) {
        MYTH_TRY(put_chunk(p, m->row[i].id, &idx, err));
        p->chunk[idx].match = m->row[i].score;
        p->match[idx] = &m->row[i];
    }
    for (uint32_t i = 0; i < q->n_name && with_names; i++)
        MYTH_TRY(add_definitions(p, q->name[i], w, q->wants_tests || only_names, err));
fail:
    return st;
}

/* ---- kinds that a path does not tell ---- */

static void add_kind(myth_rank_file *f, myth_file_kind kind)
{
    f->kinds = (f->kinds & ~(1u << MYTH_KIND_SOURCE)) | 1u << kind;
}

/* Files of which most candidates are tests are tests, but in languages that have tests beside the code they test. */
static void mark_tests(pool *p)
{
    static const char *const beside[] = {".rs", ".zig", ".d"};
    for (uint32_t f = 0; f < p->n_file; f++) {
        const char *dot = strrchr(p->row[f].path, '.');
        bool is_beside = false;
        for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
            is_beside |= dot && strcmp(dot, beside[i]) == 0;
        if (p->row[f].n_test > p->row[f].n_other && !is_beside)
            add_kind(&p->file[f], MYTH_KIND_TEST);
    }
}

/* Files with a newer version of them beside are legacy, unless the query names the version. */
static void mark_versions(pool *p, const myth_query *q)
{
    for (uint32_t f = 0; f < p->n_file; f++) {
        size_t n_version;
        const char *version = myth_path_version(p->row[f].path, &n_version);
        bool is_named = false;
        for (uint32_t i = 0; version && i < q->n_term; i++)
            is_named |= strlen(q->term[i].text) == n_version && strncasecmp(q->term[i].text, version, n_version) == 0;
        for (uint32_t k = 0; version && !is_named && k < p->n_file; k++)
            if (myth_path_is_older(p->row[f].path, p->row[k].path)) {
                add_kind(&p->file[f], MYTH_KIND_LEGACY);
                break;
            }
    }
}

/* ---- vectors ---- */

/* Whether the index has this chunk with this text. */
static myth_status is_there(const pool *p, const myth_vector_hit *h, bool *is, myth_error *err)
{
    sqlite3_bind_int64(p->get_chunk, 1, h->chunk_id);
    int rc = sqlite3_step(p->get_chunk);
    *is = rc == SQLITE_ROW && content_of(p->get_chunk, 2) == h->content;
    myth_status st = myth_store_fail(p->store, rc, err);
    sqlite3_reset(p->get_chunk);
    return st;
}

/* Makes the chunks nearest to the query candidates, then combines words and nearness of all candidates. */
static myth_status add_vectors(pool *p, const myth_search_opts *o, const myth_vector_hit *near, uint32_t n_near,
                               double share, const myth_weights_search *w, myth_hits *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < n_near; i++) {
        bool is = false;
        uint32_t idx, before = p->n_chunk;
        MYTH_TRY(is_there(p, &near[i], &is, err));
        if (!is)
            continue;
        MYTH_TRY(put_chunk(p, near[i].chunk_id, &idx, err));
        out->n_near += p->n_chunk > before;
    }
    for (uint32_t i = 0; i < p->n_chunk; i++)
        if (!myth_vectors_score(o->vectors, o->query_vector, p->chunk[i].id, p->chunk[i].content, &p->cosine[i])) {
            p->cosine[i] = NAN;
            out->n_without++;
        }
    myth_fuse(p->chunk, p->n_chunk, p->cosine, share, w->semantic_from);
    p->has_vectors = true;
    p->lexical = 1 - share;
fail:
    return st;
}

/* ---- phrases ---- */

/* Whether two words are equal or forms of one word, by the index's tokens. */
static bool is_same_word(const myth_word *a, const myth_word *b)
{
    char x[MYTH_WORD_BYTES], y[MYTH_WORD_BYTES];
    if (a->n_whole == b->n_whole && memcmp(a->whole, b->whole, a->n_whole) == 0)
        return true;
    if (myth_word_is_compound(a) || myth_word_is_compound(b) || a->whole[0] != b->whole[0])
        return false;
    size_t n = myth_word_stem(x, a->whole, a->n_whole);
    return n == myth_word_stem(y, b->whole, b->n_whole) && memcmp(x, y, n) == 0;
}

static bool has_phrase(const char *text, size_t n, const char *phrase)
{
    myth_word want, got;
    size_t n_phrase = strlen(phrase);
    for (size_t start = 0; myth_word_next(&got, text, n, &start);) {
        size_t at = got.off, in = 0;
        bool is_here = true;
        while (is_here && myth_word_next(&want, phrase, n_phrase, &in))
            is_here = myth_word_next(&got, text, n, &at) && is_same_word(&got, &want);
        if (is_here)
            return true;
    }
    return false;
}

/* The most common English words are not indexed, so the text itself must show that the phrase has them in the right
 * places. */
static myth_status keep_phrases(myth_matches *m, const pool *p, const myth_query *q, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *s = NULL;
    uint32_t n = 0;
    int rc = sqlite3_prepare_v2(myth_store_db(p->store), "SELECT file_id, off, bytes FROM chunks WHERE id = ?1", -1, &s,
                                NULL);
    if (rc != SQLITE_OK)
        return myth_store_fail(p->store, rc, err);
    for (uint32_t i = 0; i < m->n_row && st == MYTH_OK; i++) {
        sqlite3_bind_int64(s, 1, m->row[i].id);
        if ((st = step_one(p, s, err)) != MYTH_OK)
            break;
        int64_t file_id = sqlite3_column_int64(s, 0), off = sqlite3_column_int64(s, 1),
                bytes = sqlite3_column_int64(s, 2);
        sqlite3_reset(s);
        if (bytes < 0 || bytes > MYTH_FILE_BYTES) {
            st = myth_store_damaged(p->store, "the length of a chunk", err);
            break;
        }
        char *text = myth_alloc(p->mem, MYTH_MEM_OTHER, "search", (size_t)bytes + 1);
        if (!text)
            st = myth_fail(err, MYTH_ENOMEM, "search: no memory for a chunk of %lld bytes", (long long)bytes);
        else
            st = myth_store_text(p->store, (unsigned char *)text, file_id, (uint64_t)off, (uint64_t)bytes, err);
        bool is_kept = st == MYTH_OK;
        for (uint32_t k = 0; k < q->n_phrase && is_kept; k++)
            is_kept = has_phrase(text, (size_t)bytes, q->phrase[k]);
        if (is_kept)
            m->row[n++] = m->row[i];
        myth_free(p->mem, text);
    }
    sqlite3_finalize(s);
    m->n_row = n;
    return st;
}

/* ---- what is shown ---- */

static char *copy_bytes(myth_mem *mem, const void *s, size_t n)
{
    char *p = myth_alloc(mem, MYTH_MEM_OTHER, "hits", n + 1);
    if (p && n)
        memcpy(p, s, n);
    return p;
}

static void add_part(myth_hit *h, const char *name, double value)
{
    h->part[h->n_part++] = (myth_score_part){name, value};
}

/* The lines first .. last of a text that begins with line `line0`. */
static void cut_lines(const char **text, uint64_t *n_text, uint32_t line0, uint32_t first, uint32_t last)
{
    const char *p = *text, *end = p + *n_text;
    for (uint32_t i = line0; i < first && p < end; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        p = stop ? stop + 1 : end;
    }
    *text = p;
    for (uint32_t i = first; i <= last && p < end; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        p = stop ? stop + 1 : end;
    }
    *n_text = (uint64_t)(p - *text);
}

/* Names the definition that the query means, and if it is asked for keeps its lines alone. */
static myth_status focus_hit(myth_hit *h, const pool *p, myth_focus_words *words, bool narrow, myth_error *err)
{
    myth_focus f;
    myth_status st = myth_focus_find(&f, words, p->store, h->file_id, h->text, h->n_text, h->line0, h->line1, err);
    if (st != MYTH_OK)
        return st;
    const bool has_many = h->kind != MYTH_CHUNK_TEXT && h->kind != MYTH_CHUNK_CONFIG && h->kind != MYTH_CHUNK_IMPORTS;
    h->kind_name = f.is_definition ? myth_symbol_kind_name(f.kind)
                                   : myth_chunk_kind_name(has_many && h->symbol[0] ? MYTH_CHUNK_MODULE : h->kind);
    h->name = copy_bytes(p->mem, f.name, strlen(f.name));
    h->parent = copy_bytes(p->mem, f.parent, strlen(f.parent));
    if (!h->name || !h->parent)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for a hit");
    memcpy(h->match, f.line, sizeof(h->match));
    h->n_match = f.n_line;
    if (!narrow || !f.is_narrow)
        return MYTH_OK;
    const char *text = h->text;
    cut_lines(&text, &h->n_text, h->line0, f.line0, f.line1);
    memmove((char *)h->text, text, h->n_text);
    h->line0 = f.line0;
    h->line1 = f.line1;
    return MYTH_OK;
}

static myth_status show(myth_hit *h, const pool *p, uint32_t idx, sqlite3_stmt *s, myth_focus_words *focus,
                        const myth_search_opts *o, myth_error *err)
{
    const bool with_text = o->with_text;
    myth_status st = MYTH_OK;
    const myth_rank_chunk *c = &p->chunk[idx];
    const myth_rank_file *f = &p->file[c->file];
    const myth_match_row *m = p->match[idx];
    sqlite3_bind_int64(s, 1, c->id);
    MYTH_TRY(step_one(p, s, err));
    uint64_t off = (uint64_t)sqlite3_column_int64(s, 0), bytes = (uint64_t)sqlite3_column_int64(s, 1);
    h->line0 = (uint32_t)sqlite3_column_int64(s, 2);
    h->line1 = (uint32_t)sqlite3_column_int64(s, 3);
    h->kind = (myth_chunk_kind)sqlite3_column_int(s, 4);
    if (h->kind >= MYTH_CHUNK_KIND_N || bytes > MYTH_FILE_BYTES) {
        st = myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "%s: its chunks are damaged",
                              p->row[c->file].path);
        goto fail;
    }
    h->chunk_id = c->id;
    h->file_id = p->row[c->file].id;
    h->score = c->score;
    h->file_kinds = f->kinds;
    h->groups = m ? m->groups : 0;
    h->path = copy_bytes(p->mem, p->row[c->file].path, strlen(p->row[c->file].path));
    h->symbol = copy_bytes(p->mem, sqlite3_column_blob(s, 5), (size_t)sqlite3_column_bytes(s, 5));
    h->n_text = with_text ? bytes : 0;
    h->text = copy_bytes(p->mem, NULL, 0);
    if (with_text) {
        myth_free(p->mem, (char *)h->text);
        h->text = myth_alloc(p->mem, MYTH_MEM_OTHER, "hits", bytes + 1);
    }
    if (!h->path || !h->symbol || !h->text) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for a hit of %llu bytes", (unsigned long long)bytes);
        goto fail;
    }
    if (with_text) {
        MYTH_TRY(myth_store_text(p->store, (unsigned char *)h->text, h->file_id, off, bytes, err));
        MYTH_TRY(focus_hit(h, p, focus, o->narrow, err));
    } else {
        h->kind_name = myth_chunk_kind_name(h->kind);
        h->name = copy_bytes(p->mem, h->symbol, strlen(h->symbol));
        h->parent = copy_bytes(p->mem, NULL, 0);
        if (!h->name || !h->parent) {
            st = myth_fail(err, MYTH_ENOMEM, "search: no memory for a hit");
            goto fail;
        }
    }
    const double words = p->has_vectors && !isnan(p->cosine[idx]) ? p->lexical : 1;
    add_part(h, "path", m ? words * m->column[MYTH_FTS_PATH] : 0);
    add_part(h, "names", m ? words * m->column[MYTH_FTS_NAMES] : 0);
    add_part(h, "body", m ? words * m->column[MYTH_FTS_BODY] : 0);
    if (p->has_vectors)
        add_part(h, "semantic", c->semantic);
    add_part(h, "file_sum", f->sum);
    add_part(h, "symbol", f->symbol);
    add_part(h, "stem", f->stem);
    add_part(h, "kind", f->kind);
    add_part(h, "share", c->share);
    add_part(h, "decay", c->decay);
fail:
    sqlite3_reset(s);
    return st;
}

/* Lists the candidates that the ranking dropped because their text is that of this hit. */
static myth_status find_copies(myth_hit *h, const pool *p, uint32_t idx, bool by_file, myth_error *err)
{
    const myth_rank_chunk *own = &p->chunk[idx];
    const uint64_t content = by_file ? p->file[own->file].content : own->content;
    const uint32_t line = h->line0 - own->line; /* of the definition in its chunk */
    for (uint32_t i = 0; content && i < p->n_chunk; i++) {
        const myth_rank_chunk *c = &p->chunk[i];
        if (i == idx || (by_file ? c->file == own->file || p->file[c->file].content != content || c->line != own->line
                                 : c->content != content))
            continue;
        if (h->n_copy == MYTH_HIT_COPIES) {
            h->n_more_copies++;
            continue;
        }
        if (!h->copy && !(h->copy = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "hits", MYTH_HIT_COPIES, sizeof(*h->copy))))
            return myth_fail(err, MYTH_ENOMEM, "search: no memory for the copies of a hit");
        const char *path = p->row[c->file].path;
        myth_hit_copy one = {copy_bytes(p->mem, path, strlen(path)), c->line + line,
                             c->line + line + h->line1 - h->line0};
        if (!one.path)
            return myth_fail(err, MYTH_ENOMEM, "search: no memory for the copies of a hit");
        h->copy[h->n_copy++] = one;
    }
    return MYTH_OK;
}

static myth_status show_all(myth_hits *out, const pool *p, uint32_t n, const myth_query *q, const myth_matches *m,
                            const myth_search_opts *o, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_focus_words *focus = NULL;
    sqlite3_stmt *s = myth_store_statement(p->store, MYTH_SQL_SHOW_CHUNK, err);
    if (!s)
        return err ? err->code : MYTH_EFORMAT;
    if (o->with_text)
        MYTH_TRY(myth_focus_open(&focus, q, m->group_weight, err));
    if (!(out->hit = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "hits", n + 1, sizeof(*out->hit)))) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u hits", n);
        goto fail;
    }
    for (out->n_hit = 0; out->n_hit < n;) {
        out->n_hit++;
        myth_hit *h = &out->hit[out->n_hit - 1];
        MYTH_TRY(show(h, p, p->order[out->n_hit - 1], s, focus, o, err));
        MYTH_TRY(find_copies(h, p, p->order[out->n_hit - 1], o->by_file, err));
    }
fail:
    myth_focus_close(focus);
    return st;
}

/* ---- the search ---- */

/* In phrase mode, a query without quotes is one phrase. */
static myth_status parse(myth_query *q, myth_mem *mem, const char *text, size_t n, const myth_search_opts *o,
                         const myth_weights_search *w, myth_error *err)
{
    if (o->mode != MYTH_SEARCH_PHRASE || memchr(text, '"', n))
        return myth_query_parse(q, mem, text, n, w, err);
    char *quoted = myth_alloc(mem, MYTH_MEM_OTHER, "query", n + 3);
    if (!quoted)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for the query");
    quoted[0] = '"';
    memcpy(quoted + 1, text, n);
    quoted[n + 1] = '"';
    for (size_t i = 1; i <= n; i++)
        if (quoted[i] == '\n')
            quoted[i] = ' ';
    myth_status st = myth_query_parse(q, mem, quoted, n + 2, w, err);
    myth_free(mem, quoted);
    return st;
}

/* The share of nearness in this search's matches. */
static double share_of(const myth_search_opts *o, const myth_query *q, const myth_weights_search *w)
{
    const bool by_words = o->mode == MYTH_SEARCH_PHRASE || o->mode == MYTH_SEARCH_SYMBOL ||
                          (o->mode == MYTH_SEARCH_AUTO && q->kind == MYTH_QUERY_PHRASE);
    return by_words ? 0 : myth_fuse_share(q, w);
}

bool myth_search_wants_vectors(const myth_search_opts *opts, myth_mem *mem)
{
    myth_weights_search w;
    myth_query q = {0};
    const bool ok = myth_weights_search_set(&w, opts->weights, NULL) == MYTH_OK &&
                    myth_query_parse(&q, mem, opts->query, opts->n_query ? opts->n_query : strlen(opts->query), &w,
                                     NULL) == MYTH_OK;
    const double share = ok ? share_of(opts, &q, &w) : 0;
    myth_query_free(&q);
    return share > 0;
}

/* The nearest rows of the wanted chunks, best first. Each of them is compared: the file of vectors finds the nearest of
 * all chunks, of which none may be wanted. */
static uint32_t nearest_wanted(const myth_search_opts *o, const myth_row_filter *only, uint32_t rows,
                               myth_vector_hit *near)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < only->n_chunk; i++) {
        myth_vector_hit one = {.chunk_id = only->chunk[i].id, .content = only->chunk[i].content};
        if (!myth_vectors_score(o->vectors, o->query_vector, one.chunk_id, one.content, &one.score) ||
            (n == rows && !myth_vector_hit_before(&one, &near[n - 1])))
            continue;
        uint32_t at = n < rows ? n++ : n - 1;
        for (; at > 0 && myth_vector_hit_before(&one, &near[at - 1]); at--)
            near[at] = near[at - 1];
        near[at] = one;
    }
    return n;
}

static myth_status search_store(myth_hits *out, myth_store *store, myth_mem *mem, const myth_search_opts *o,
                                myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_weights_search w;
    myth_query q = {0};
    myth_matches m = {0};
    pool p = {.mem = mem, .store = store};
    myth_row_filter wanted = {0};
    myth_vector_hit *near = NULL;
    uint32_t n = 0, n_near = 0, k = o->k ? o->k : 10;
    size_t n_query = o->n_query ? o->n_query : strlen(o->query);
    MYTH_TRY(myth_weights_search_set(&w, o->weights, err));
    MYTH_TRY(parse(&q, mem, o->query, n_query, o, &w, err));
    bool only_phrases = o->mode == MYTH_SEARCH_PHRASE || (o->mode == MYTH_SEARCH_AUTO && q.kind == MYTH_QUERY_PHRASE);
    bool only_names = o->mode == MYTH_SEARCH_SYMBOL;
    out->query_kind = myth_query_kind_name(q.kind);
    MYTH_TRY(myth_match_register(myth_store_db(store), store->mem, err));
    uint32_t max = (uint32_t)w.candidates > 4 * k ? (uint32_t)w.candidates : 4 * k;
    if (o->wants_file) {
        MYTH_TRY(myth_row_filter_open(&wanted, store, mem, o->wants_file, o->user, err));
        p.only = &wanted;
    }
    if (!only_names)
        MYTH_TRY(myth_match(&m, myth_store_db(store), &q, &w, max, only_phrases, p.only, err));
    if (only_phrases)
        MYTH_TRY(keep_phrases(&m, &p, &q, err));
    out->n_term = m.n_group;
    out->n_dropped = m.n_dropped;
    out->n_seen = m.n_seen;
    memcpy(out->weight, m.weight, sizeof(out->weight));
    double share = o->vectors && o->query_vector ? share_of(o, &q, &w) : 0;
    if (share > 0) {
        const uint32_t rows = (uint32_t)w.semantic_rows > k ? (uint32_t)w.semantic_rows : k;
        if (!(near = myth_alloc_n(mem, MYTH_MEM_OTHER, "search", rows, sizeof(*near)))) {
            st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u vectors", rows);
            goto fail;
        }
        if (p.only)
            n_near = nearest_wanted(o, p.only, rows, near);
        else
            MYTH_TRY(myth_vectors_search(o->vectors, o->query_vector, rows, near, &n_near, err));
    }
    MYTH_TRY(open_pool(&p, m.n_row + q.n_name * DEFINITION_MAX + n_near + 1, err));
    if (only_names)
        w.symbol_files = DEFINITION_MAX;
    MYTH_TRY(collect(&p, &m, &q, &w, !only_phrases, only_names, err));
    if (share > 0)
        MYTH_TRY(add_vectors(&p, o, near, n_near, share, &w, out, err));
    for (uint32_t f = 0; f < p.n_file && q.kind == MYTH_QUERY_PROSE && !only_names; f++)
        p.file[f].stem_share = myth_stem_share(p.file[f].path, &q, m.group_weight);
    for (uint32_t f = 0; f < p.n_file && q.kind == MYTH_QUERY_ISSUE && !only_names; f++)
        p.file[f].scope_share = myth_scope_share(p.file[f].path, &q);
    mark_tests(&p);
    mark_versions(&p, &q);
    MYTH_TRY(myth_rank(p.order, &n, p.file, p.n_file, p.chunk, p.n_chunk, &q, &w, k, o->by_file, err));
    MYTH_TRY(show_all(out, &p, n, &q, &m, o, err));
fail:
    close_pool(&p);
    myth_row_filter_close(&wanted);
    myth_free(mem, near);
    myth_matches_free(&m, &q);
    myth_query_free(&q);
    return st;
}

myth_status myth_search_check(const myth_search_opts *opts, myth_error *err)
{
    myth_weights_search w;
    return myth_weights_search_set(&w, opts->weights, err);
}

myth_status myth_search(myth_hits *out, myth_index *x, const myth_search_opts *opts, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    *out = (myth_hits){.mem = x->mem};
    myth_status st = myth_store_read_begin(store, err);
    if (st != MYTH_OK)
        return st;
    st = search_store(out, store, out->mem, opts, err);
    myth_store_read_end(store);
    if (st != MYTH_OK)
        myth_hits_free(out);
    return st;
}

void myth_hits_free(myth_hits *hits)
{
    for (uint32_t i = 0; i < hits->n_hit; i++) {
        myth_free(hits->mem, (char *)hits->hit[i].path);
        myth_free(hits->mem, (char *)hits->hit[i].symbol);
        myth_free(hits->mem, (char *)hits->hit[i].text);
        myth_free(hits->mem, (char *)hits->hit[i].name);
        myth_free(hits->mem, (char *)hits->hit[i].parent);
        for (uint32_t k = 0; k < hits->hit[i].n_copy; k++)
            myth_free(hits->mem, (char *)hits->hit[i].copy[k].path);
        myth_free(hits->mem, hits->hit[i].copy);
    }
    myth_free(hits->mem, hits->hit);
    *hits = (myth_hits){0};
}
