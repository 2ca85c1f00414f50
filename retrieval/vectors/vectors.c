/* vectors.c - see vectors.h. Opens, checks and searches the file of vectors. It is mapped, so parts that are not
 * used take no memory. */
#include "vectors_impl.h"
#include "retrieval/limits.h"
#include "vectors_faiss.h"
#include "engine/base/map.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum {
    TRIES = 5,
    PROBED = 16
}; /* attempts to open a file that may be replaced meanwhile; a single list is searched up to this size */

struct myth_vectors {
    myth_mem *mem;
    myth_map map;
    myth_vectors_layout l;
    uint32_t *place; /* ivf: the place of each row; otherwise rows are in place */
};

bool myth_vectors_is_built(void) { return myth_faiss_is_built(); }

const char *myth_vectors_kind_name(myth_vectors_kind kind)
{
    static const char *const name[] = {"auto", "flat", "sq8", "ivf"};
    return name[kind];
}

void myth_vectors_path(char path[PATH_MAX], const myth_index *x, uint64_t generation)
{
    snprintf(path, PATH_MAX, "%.*s.vectors-%016llx", PATH_MAX - 32, x->path, (unsigned long long)generation);
}

void myth_embeddings_path(char path[PATH_MAX], const myth_index *x)
{
    snprintf(path, PATH_MAX, "%.*s.embeddings", PATH_MAX - 32, x->path);
}

/* ---- the layout ---- */

static uint64_t section(uint64_t *at, uint64_t bytes)
{
    const uint64_t here = *at;
    *at = (here + bytes + 63) & ~(uint64_t)63;
    return here;
}

void myth_vectors_lay_out(myth_vectors_layout *l)
{
    const uint64_t n = l->info.n_row, dim = l->info.dim;
    const bool is_coded = l->info.kind != MYTH_VECTORS_FLAT, is_listed = l->info.kind == MYTH_VECTORS_IVF;
    uint64_t at = MYTH_VECTORS_HEADER;
    l->code_bytes = (uint32_t)(is_coded ? dim : dim * sizeof(float));
    l->at_id = section(&at, n * 8);
    l->at_content = section(&at, n * 8);
    l->at_trained = section(&at, is_coded ? 2 * dim * sizeof(float) : 0);
    l->at_centroid = section(&at, is_listed ? l->n_list * dim * sizeof(float) : 0);
    l->at_end = section(&at, is_listed ? (uint64_t)l->n_list * 8 : 0);
    l->at_row = section(&at, is_listed ? n * 4 : 0);
    l->at_code = section(&at, n * l->code_bytes);
    l->bytes = at;
}

void myth_vectors_put_header(unsigned char h[MYTH_VECTORS_HEADER], const myth_vectors_layout *l)
{
    const uint32_t small[4] = {MYTH_VECTORS_VERSION, (uint32_t)l->info.kind, l->info.dim, l->n_list};
    const uint64_t large[3] = {l->info.n_row, l->info.generation, l->bytes};
    memset(h, 0, MYTH_VECTORS_HEADER);
    memcpy(h, "MYTHVEC\n", 8);
    memcpy(h + 8, small, sizeof(small));
    memcpy(h + 24, large, sizeof(large));
    memcpy(h + 48, l->info.model, sizeof(l->info.model));
    memcpy(h + 64, l->info.prompt, sizeof(l->info.prompt));
    memcpy(h + 80, l->info.name, sizeof(l->info.name));
}

static bool get_header(myth_vectors_layout *l, const unsigned char *h)
{
    uint32_t small[4];
    uint64_t large[3];
    memcpy(small, h + 8, sizeof(small));
    memcpy(large, h + 24, sizeof(large));
    if (memcmp(h, "MYTHVEC\n", 8) != 0 || small[0] != MYTH_VECTORS_VERSION || small[1] < MYTH_VECTORS_FLAT ||
        small[1] > MYTH_VECTORS_IVF || small[2] == 0 || small[2] > MYTH_VECTORS_DIM || large[0] >= UINT32_MAX ||
        small[3] > MYTH_VECTORS_LISTS || (small[3] > 0) != (small[1] == MYTH_VECTORS_IVF) ||
        h[64 + MYTH_VECTORS_PROMPT - 1] || h[80 + MYTH_VECTORS_NAME - 1])
        return false;
    l->info.kind = (myth_vectors_kind)small[1];
    l->info.dim = small[2];
    l->n_list = small[3];
    l->info.n_row = large[0];
    l->info.generation = large[1];
    memcpy(l->info.model, h + 48, sizeof(l->info.model));
    memcpy(l->info.prompt, h + 64, sizeof(l->info.prompt));
    memcpy(l->info.name, h + 80, sizeof(l->info.name));
    myth_vectors_lay_out(l);
    return l->bytes == large[2];
}

/* ---- open ---- */

static const void *at(const myth_vectors *v, uint64_t off) { return v->map.base + off; }
static const int64_t *ids(const myth_vectors *v) { return at(v, v->l.at_id); }
static const uint64_t *contents(const myth_vectors *v) { return at(v, v->l.at_content); }

static myth_status damaged(const myth_vectors *v, const char *how, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REMAKE_VECTORS, "%.120s is damaged (%s)", v->map.path, how);
}

static bool has_its_sum(const myth_vectors *v)
{
    static const unsigned char zero[16];
    XXH128_canonical_t sum;
    XXH3_state_t *s = XXH3_createState();
    if (!s)
        return false;
    XXH3_128bits_reset(s);
    XXH3_128bits_update(s, v->map.base, MYTH_VECTORS_SUM_AT);
    XXH3_128bits_update(s, zero, sizeof(zero));
    XXH3_128bits_update(s, v->map.base + MYTH_VECTORS_HEADER, (size_t)v->map.size - MYTH_VECTORS_HEADER);
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(s));
    XXH3_freeState(s);
    return memcmp(sum.digest, v->map.base + MYTH_VECTORS_SUM_AT, 16) == 0;
}

/* Checks that no number leads outside of the file: a correct checksum does not prove that the writer was correct. */
static const char *what_is_wrong(const myth_vectors *v)
{
    const uint64_t n = v->l.info.n_row;
    for (uint64_t i = 1; i < n; i++)
        if (ids(v)[i] <= ids(v)[i - 1])
            return "its rows are out of order";
    if (v->l.info.kind != MYTH_VECTORS_IVF)
        return NULL;
    const uint64_t *end = at(v, v->l.at_end);
    const uint32_t *row = at(v, v->l.at_row);
    for (uint32_t i = 0; i < v->l.n_list; i++)
        if (end[i] > n || (i && end[i] < end[i - 1]))
            return "its lists are out of order";
    for (uint64_t i = 0; i < n; i++)
        if (row[i] >= n)
            return "a list has a row that does not exist";
    return end[v->l.n_list - 1] == n ? NULL : "its lists do not have all rows";
}

static myth_status read_file(myth_vectors *v, myth_error *err)
{
    if (v->map.size < MYTH_VECTORS_HEADER)
        return damaged(v, "it is cut", err);
    if (!has_its_sum(v))
        return damaged(v, "it and its checksum differ", err);
    if (!get_header(&v->l, v->map.base) || v->l.bytes != v->map.size)
        return damaged(v, "its header", err);
    const char *wrong = what_is_wrong(v);
    if (wrong)
        return damaged(v, wrong, err);
    if (v->l.info.kind != MYTH_VECTORS_IVF)
        return MYTH_OK;
    const uint32_t *row = at(v, v->l.at_row);
    v->place = myth_alloc_n(v->mem, MYTH_MEM_OTHER, "vectors", v->l.info.n_row + 1, sizeof(*v->place));
    if (!v->place)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %llu vectors", (unsigned long long)v->l.info.n_row);
    for (uint64_t i = 0; i < v->l.info.n_row; i++)
        v->place[row[i]] = (uint32_t)i;
    return MYTH_OK;
}

static myth_status open_generation(myth_vectors **out, myth_index *x, uint64_t generation, myth_error *err)
{
    char path[PATH_MAX];
    myth_status st = MYTH_OK;
    myth_vectors *v = myth_alloc(x->mem, MYTH_MEM_OTHER, "vectors", sizeof(*v));
    if (!v)
        return myth_fail(err, MYTH_ENOMEM, "no memory for vectors");
    *v = (myth_vectors){.mem = x->mem, .map.fd = -1};
    myth_vectors_path(path, x, generation);
    MYTH_TRY(myth_map_open(&v->map, x->mem, path, MYTH_MAP_NOFOLLOW, MYTH_MEM_OTHER, err));
    MYTH_TRY(read_file(v, err));
    if (v->l.info.generation != generation) {
        st = damaged(v, "it is another file", err);
        goto fail;
    }
    *out = v;
    return MYTH_OK;
fail:
    myth_vectors_close(v);
    return st;
}

myth_status myth_vectors_open(myth_vectors **out, myth_index *x, myth_error *err)
{
    myth_status st = MYTH_ENOTFOUND;
    *out = NULL;
    /* an update commits first, and removes the old file afterwards */
    for (int i = 0; i < TRIES && st == MYTH_ENOTFOUND; i++) {
        const uint64_t generation = (uint64_t)myth_store_number(x->store, MYTH_VECTORS_GENERATION, 0);
        if (!generation)
            return myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_VECTORS, "the index has no vectors");
        st = open_generation(out, x, generation, err);
    }
    if (st == MYTH_ENOTFOUND)
        return myth_fail_remedy(err, MYTH_ELOST, MYTH_REMEDY_REMAKE_VECTORS, "the file of its vectors is gone");
    if (st == MYTH_OK)
        (*out)->l.info.is_behind =
            myth_store_number(x->store, MYTH_VECTORS_STATE, -1) != myth_store_number(x->store, "updates", 0);
    return st;
}

void myth_vectors_close(myth_vectors *v)
{
    if (!v)
        return;
    myth_mem *mem = v->mem;
    myth_free(mem, v->place);
    myth_map_close(&v->map);
    myth_free(mem, v);
}

const myth_vectors_info *myth_vectors_about(const myth_vectors *v) { return &v->l.info; }

/* ---- rows ---- */

void myth_vectors_row(const myth_vectors *v, uint64_t row, int64_t *id, uint64_t *content, float *vector)
{
    const unsigned char *code =
        (const unsigned char *)at(v, v->l.at_code) + (v->place ? v->place[row] : row) * v->l.code_bytes;
    const float *least = at(v, v->l.at_trained), *range = least + v->l.info.dim;
    *id = ids(v)[row];
    *content = contents(v)[row];
    if (v->l.info.kind == MYTH_VECTORS_FLAT)
        memcpy(vector, code, v->l.code_bytes);
    else
        for (uint32_t i = 0; i < v->l.info.dim; i++) /* the middle of a step, as in FAISS's QT_8bit */
            vector[i] = least[i] + ((float)code[i] + 0.5f) / 255.0f * range[i];
}

float myth_vectors_step(const myth_vectors *v, uint32_t i)
{
    const float *range = (const float *)at(v, v->l.at_trained) + v->l.info.dim;
    return v->l.info.kind == MYTH_VECTORS_FLAT ? 0.0f : range[i] / 255.0f;
}

static bool find_row(const myth_vectors *v, int64_t id, uint64_t *row)
{
    uint64_t low = 0, high = v->l.info.n_row;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (ids(v)[mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    *row = low;
    return low < v->l.info.n_row && ids(v)[low] == id;
}

bool myth_vectors_score(const myth_vectors *v, const float *query, int64_t chunk_id, uint64_t content, float *score)
{
    float vector[MYTH_VECTORS_DIM];
    uint64_t row, other;
    int64_t id;
    double sum = 0;
    if (!find_row(v, chunk_id, &row) || contents(v)[row] != content)
        return false;
    myth_vectors_row(v, row, &id, &other, vector);
    for (uint32_t i = 0; i < v->l.info.dim; i++)
        sum += (double)vector[i] * (double)query[i];
    *score = (float)sum;
    return true;
}

/* ---- search ---- */

static void put_hits(const myth_vectors *v, myth_vector_hit *hit, uint32_t *n_hit, const float *score,
                     const int64_t *place, uint32_t k)
{
    const uint32_t *row = v->l.info.kind == MYTH_VECTORS_IVF ? at(v, v->l.at_row) : NULL;
    for (uint32_t i = 0; i < k; i++) {
        if (place[i] < 0 || (uint64_t)place[i] >= v->l.info.n_row)
            continue;
        const uint64_t r = row ? row[place[i]] : (uint64_t)place[i];
        const myth_vector_hit h = {ids(v)[r], contents(v)[r], score[i]};
        uint32_t to = (*n_hit)++;
        for (; to > 0 && myth_vector_hit_before(&h, &hit[to - 1]); to--) /* only ties are out of order */
            hit[to] = hit[to - 1];
        hit[to] = h;
    }
}

/* Chooses the lists whose centres are nearest. */
static bool find_lists(const myth_vectors *v, const float *query, uint64_t *first, uint64_t *end, int64_t *list,
                       float *score, uint32_t n_probe)
{
    const uint64_t *ends = at(v, v->l.at_end);
    if (!myth_faiss_flat_search(score, list, at(v, v->l.at_centroid), v->l.n_list, v->l.info.dim, query, n_probe))
        return false;
    for (uint32_t i = 0; i < n_probe; i++) {
        const int64_t c = list[i] >= 0 ? list[i] : 0;
        first[i] = list[i] > 0 ? ends[c - 1] : 0;
        end[i] = list[i] >= 0 ? ends[c] : 0;
    }
    return true;
}

myth_status myth_vectors_search(const myth_vectors *v, const float *query, uint32_t k, myth_vector_hit *hit,
                                uint32_t *n_hit, myth_error *err)
{
    const myth_vectors_info *about = &v->l.info;
    const uint64_t whole_end = about->n_row, whole_first = 0;
    const uint32_t n_probe = about->kind == MYTH_VECTORS_IVF ? (v->l.n_list + PROBED - 1) / PROBED : 1;
    const uint32_t n = k > n_probe ? k : n_probe;
    bool ok;
    *n_hit = 0;
    myth_status st = myth_faiss_load(err);
    if (st != MYTH_OK)
        return st;
    if (about->n_row == 0 || k == 0)
        return MYTH_OK;
    unsigned char *block =
        myth_alloc_n(v->mem, MYTH_MEM_OTHER, "vectors", n, 2 * sizeof(uint64_t) + sizeof(int64_t) + sizeof(float));
    if (!block)
        return myth_fail(err, MYTH_ENOMEM, "no memory for %u vectors", n);
    uint64_t *first = (uint64_t *)(void *)block, *end = first + n;
    int64_t *place = (int64_t *)(end + n);
    float *score = (float *)(place + n);
    if (about->kind == MYTH_VECTORS_FLAT)
        ok = myth_faiss_flat_search(score, place, at(v, v->l.at_code), about->n_row, about->dim, query, k);
    else if (about->kind == MYTH_VECTORS_SQ8)
        ok = myth_faiss_sq8_search(score, place, at(v, v->l.at_code), at(v, v->l.at_trained), &whole_first, &whole_end,
                                   1, about->dim, query, k);
    else
        ok = find_lists(v, query, first, end, place, score, n_probe) &&
             myth_faiss_sq8_search(score, place, at(v, v->l.at_code), at(v, v->l.at_trained), first, end, n_probe,
                                   about->dim, query, k);
    if (ok)
        put_hits(v, hit, n_hit, score, place, k);
    myth_free(v->mem, block);
    return ok ? MYTH_OK
              : myth_fail(err, MYTH_ENOMEM, "no memory to look through %llu vectors", (unsigned long long)about->n_row);
}
