/* weights_safetensors.c - single and sharded safetensors.
 *
 * File     u64 N, little endian
 *          N bytes of JSON: { "name": { "dtype": "BF16", "shape": [rows, cols], "data_offsets": [begin, end] }, ...,
 *                             "__metadata__": { "text": "text" } }, padded with spaces
 *          the buffer: offsets count from here; the spans cover it exactly, in any order
 * Index    model.safetensors.index.json: { "metadata": { "total_size": n }, "weight_map": { "name": "file" } }; its
 *          metadata only inform
 * Source   safetensors README, format section */
#include "weights_impl.h"

#include "engine/base/blocks.h"
#include "engine/base/json.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 16 << 20, INDEX_MAX = 16 << 20, HEADER_MIN = 2 };

/* Bits of an element of the types that the format knows; the readable ones are in dtype.c. */
static const struct {
    const char *name;
    uint32_t bits;
} known_types[] = {
    {"BOOL", 8}, {"U8", 8},    {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16}, {"U16", 16},
    {"F16", 16}, {"BF16", 16}, {"I32", 32}, {"U32", 32},    {"F32", 32},    {"F64", 64},    {"I64", 64}, {"U64", 64},
};

static const char *const prefixes[] = {"model.language_model.", "language_model.model.", "model.",
                                       ""}; /* longest first */

/* ---- skip list ---- */

static bool starts_with(const char **name, const char *head)
{
    size_t n = strlen(head);
    if (strncmp(*name, head, n) != 0)
        return false;
    *name += n;
    return true;
}

static bool is_head(const char *name)
{
    return strcmp(name, "lm_head.weight") == 0 || strcmp(name, "language_model.lm_head.weight") == 0;
}

static bool is_tower(const char *name)
{
    static const char *const tower[] = {
        "vision_tower.", "audio_tower.", "vision_embedder.", "embed_vision.", "embed_audio.", "multi_modal_projector.",
    };
    starts_with(&name, "model.");
    for (size_t i = 0; i < sizeof(tower) / sizeof(tower[0]); i++)
        if (starts_with(&name, tower[i]))
            return true;
    return false;
}

/* ---- one entry of a header ---- */

typedef struct {
    const char *type; /* as the file has it */
    uint32_t bits;    /* of an element      */
    bool has_dtype, has_shape, has_span, is_readable;
    myth_dtype dtype;
    uint32_t n_dim;
    uint64_t dim[MYTH_TENSOR_DIMS];
    uint64_t begin, end;
} entry;

typedef struct {
    myth_json json;
    const char *path;
} header;

static myth_status bad(const header *h, const myth_json_token *tok, const char *what, myth_error *err)
{
    uint64_t at = tok->off + 8; /* tok->off is inside the header, at most HEADER_MAX */
    return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: %s", h->path, (unsigned long long)at, what);
}

/* An array of whole numbers, at most cap of them. */
static myth_status read_numbers(header *h, uint64_t *dst, uint32_t cap, uint32_t *n, const char *what, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(&h->json, &tok, err);
    if (st != MYTH_OK)
        return st;
    if (tok.type != MYTH_JSON_ARRAY)
        return bad(h, &tok, what, err);
    for (*n = 0;;) {
        if ((st = myth_json_next(&h->json, &tok, err)) != MYTH_OK)
            return st;
        if (tok.type == MYTH_JSON_ARRAY_END)
            return MYTH_OK;
        if (*n == cap || tok.type != MYTH_JSON_NUMBER || !myth_json_u64(&dst[*n], &tok))
            return bad(h, &tok, what, err);
        ++*n;
    }
}

static myth_status read_dtype(header *h, entry *e, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(&h->json, &tok, err);
    if (st != MYTH_OK)
        return st;
    for (size_t i = 0; tok.type == MYTH_JSON_STRING && i < sizeof(known_types) / sizeof(known_types[0]); i++)
        if (myth_json_is(&tok, known_types[i].name)) {
            e->type = known_types[i].name;
            e->bits = known_types[i].bits;
        }
    if (e->bits == 0)
        return bad(h, &tok, "dtype: expected a type of the format, such as \"BF16\"", err);
    e->is_readable = myth_dtype_from_safetensors(&e->dtype, tok.span, tok.len);
    return MYTH_OK;
}

static myth_status read_entry(header *h, entry *e, myth_error *err)
{
    myth_json_token tok;
    uint64_t span[2];
    uint32_t n;
    myth_status st = myth_json_next(&h->json, &tok, err);
    if (st != MYTH_OK)
        return st;
    if (tok.type != MYTH_JSON_OBJECT)
        return bad(h, &tok, "tensor: expected an object", err);
    *e = (entry){0};
    for (;;) {
        if ((st = myth_json_next(&h->json, &tok, err)) != MYTH_OK)
            return st;
        if (tok.type == MYTH_JSON_OBJECT_END)
            break;
        if (myth_json_is(&tok, "dtype") && !e->has_dtype) {
            e->has_dtype = true;
            st = read_dtype(h, e, err);
        } else if (myth_json_is(&tok, "shape") && !e->has_shape) {
            e->has_shape = true;
            st = read_numbers(h, e->dim, MYTH_TENSOR_DIMS, &e->n_dim, "shape: expected up to 4 whole numbers", err);
        } else if (myth_json_is(&tok, "data_offsets") && !e->has_span) {
            e->has_span = true;
            st = read_numbers(h, span, 2, &n, "data_offsets: expected two whole numbers", err);
            if (st == MYTH_OK && n != 2)
                st = bad(h, &tok, "data_offsets: expected two whole numbers", err);
        } else {
            st = bad(h, &tok, "tensor: expected dtype, shape and data_offsets, each once", err);
        }
        if (st != MYTH_OK)
            return st;
    }
    if (!e->has_dtype || !e->has_shape || !e->has_span)
        return bad(h, &tok, "tensor: expected dtype, shape and data_offsets, each once", err);
    e->begin = span[0];
    e->end = span[1];
    return MYTH_OK;
}

/* "__metadata__" maps text to text, or is null; nothing in it is used. */
static myth_status read_metadata(header *h, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(&h->json, &tok, err);
    if (st == MYTH_OK && tok.type == MYTH_JSON_NULL)
        return MYTH_OK;
    if (st == MYTH_OK && tok.type != MYTH_JSON_OBJECT)
        st = bad(h, &tok, "__metadata__: expected an object of strings", err);
    while (st == MYTH_OK && (st = myth_json_next(&h->json, &tok, err)) == MYTH_OK && tok.type != MYTH_JSON_OBJECT_END)
        if (tok.type != MYTH_JSON_KEY && tok.type != MYTH_JSON_STRING)
            st = bad(h, &tok, "__metadata__: expected an object of strings", err);
    return st;
}

/* ---- a header ---- */

/* Finds the JSON; *data is where the buffer starts in the file. */
static myth_status find_header(header *h, uint64_t *data, const myth_map *map, myth_error *err)
{
    myth_reader r = {map->base, map->size, 0};
    uint64_t n;
    const unsigned char *p;
    if (!myth_reader_u64(&r, &n))
        return myth_fail(err, MYTH_EFORMAT, "%s: offset 0: %llu bytes, expected a header length of 8", map->path,
                         (unsigned long long)map->size);
    if (n < HEADER_MIN || n > HEADER_MAX || !(p = myth_reader_take(&r, n)))
        return myth_fail(err, MYTH_EFORMAT, "%s: offset 0: header length: got %llu, expected 2 to %llu", map->path,
                         (unsigned long long)n,
                         (unsigned long long)(myth_reader_left(&r) < HEADER_MAX ? myth_reader_left(&r) : HEADER_MAX));
    *data = r.pos;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    if (n == 0 || p[0] != '{' || p[n - 1] != '}')
        return myth_fail(err, MYTH_EFORMAT, "%s: offset 8: header: expected { ... } padded with spaces", map->path);
    h->path = map->path;
    myth_json_start(&h->json, p, n, map->path);
    return MYTH_OK;
}

/* Counts the tensors and the bytes of their names; the JSON is checked as a side effect. */
static myth_status count_entries(const header *start, uint64_t *n_tensor, uint64_t *n_text, myth_error *err)
{
    header h = *start;
    myth_json_token tok;
    myth_status st = myth_json_next(&h.json, &tok, err);
    while (st == MYTH_OK && (st = myth_json_next(&h.json, &tok, err)) == MYTH_OK && tok.type == MYTH_JSON_KEY) {
        if (!myth_json_is(&tok, "__metadata__")) {
            if (++*n_tensor > MYTH_TENSOR_MAX)
                return myth_fail(err, MYTH_EFORMAT, "%s: more than %d tensors", h.path, MYTH_TENSOR_MAX);
            if (!myth_add_u64(n_text, *n_text, tok.len))
                return bad(&h, &tok, "names too long", err);
        }
        st = myth_json_skip(&h.json, err);
    }
    return st == MYTH_OK ? myth_json_next(&h.json, &tok, err) : st; /* nothing behind the closing brace */
}

/* An entry becomes a tensor of the directory: a new one, or (sharded) the one that the index named. */
static myth_status place_entry(myth_weights *w, header *h, const myth_json_token *key, const entry *e, uint32_t shard,
                               bool is_indexed, uint64_t data, myth_error *err)
{
    char name[MYTH_TENSOR_NAME_MAX + 1];
    if (key->len > MYTH_TENSOR_NAME_MAX * 6)
        return bad(h, key, "tensor name too long", err);
    char text[MYTH_TENSOR_NAME_MAX * 6];
    size_t len = myth_json_text(text, key);
    if (!myth_dir_is_name(text, len))
        return bad(h, key, "tensor name: expected 1 to 255 printable bytes", err);
    memcpy(name, text, len);
    name[len] = 0;

    myth_tensor *t = is_indexed ? myth_dir_find(w, name, len) : myth_dir_add(w, name, len);
    if (!t && is_indexed)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s is not in the index", h->path, name);
    if (!t || t->bytes)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s appears twice", h->path, name);
    if (is_indexed && t->shard != shard)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: the index names another file", h->path, name);
    myth_span *s = &w->span[t - w->tensor];
    const bool is_of_tower = is_tower(name);
    s->is_left_out = is_of_tower || (is_head(name) && !myth_weights_is_untied(w));
    if (!e->is_readable && !is_of_tower)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "%s: tensor %s: element type %s is not supported; supported: F32 F16 BF16. Of a checkpoint "
                         "quantised for other "
                         "software take the original, or a GGUF file",
                         h->path, name, e->type);
    if (e->n_dim == 0 && !is_of_tower)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: no dimensions", h->path, name);
    t->dtype = e->is_readable ? e->dtype : MYTH_F32;
    t->n_dim = e->n_dim;
    for (uint32_t i = 0; i < MYTH_TENSOR_DIMS; i++)
        t->dim[i] = i < e->n_dim ? e->dim[i] : 1;
    myth_status st = myth_dir_size(t, h->path, err);
    if (st != MYTH_OK)
        return st;

    uint64_t count = t->bytes / myth_dtype_block_bytes(t->dtype), bytes, start;
    if (!myth_mul_u64(&bytes, count, e->bits / 8) || e->begin > e->end || e->end - e->begin != bytes)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: data_offsets [%llu, %llu], expected %llu bytes", h->path,
                         name, (unsigned long long)e->begin, (unsigned long long)e->end, (unsigned long long)bytes);
    if (!myth_add_u64(&start, data, e->begin) || start % (e->bits / 8))
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: starts at byte %llu of the file, not aligned to its type",
                         h->path, name, (unsigned long long)start);
    t->bytes = bytes;
    t->shard = shard;
    t->off = start;
    s->shard = shard;
    s->begin = e->begin;
    s->end = e->end;
    return MYTH_OK;
}

static int by_place(const void *a, const void *b)
{
    const myth_span *x = a, *y = b;
    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_tensor(const void *a, const void *b)
{
    const myth_span *x = a, *y = b;
    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* The spans of each file follow each other from 0 to its end. A cut-off end is allowed below level DATA. */
static myth_status check_cover(myth_weights *w, myth_error *err)
{
    qsort(w->span, w->n_tensor, sizeof(*w->span), by_place);
    for (uint32_t i = 0; i < w->n_tensor;) {
        const uint32_t shard = w->span[i].shard;
        const myth_map *map = &w->file[shard];
        uint64_t at = 0, whole = w->tensor[w->span[i].tensor].off; /* where the buffer starts, then where it ends */
        whole -= w->span[i].begin;
        for (; i < w->n_tensor && w->span[i].shard == shard; at = w->span[i++].end)
            if (w->span[i].begin != at)
                return myth_fail(err, MYTH_EFORMAT,
                                 "%s: tensor %s: starts at %llu of the buffer, expected %llu (no overlap, no gap)",
                                 map->path, w->tensor[w->span[i].tensor].name.text,
                                 (unsigned long long)w->span[i].begin, (unsigned long long)at);
        if (!myth_add_u64(&whole, whole, at) || map->size > whole ||
            (map->size < whole && w->level == MYTH_WEIGHTS_DATA))
            return myth_fail(err, MYTH_EFORMAT, "%s: file of %llu bytes, expected %llu", map->path,
                             (unsigned long long)map->size, (unsigned long long)whole);
        if (!myth_add_u64(&w->mapped, w->mapped, whole))
            return myth_fail(err, MYTH_EFORMAT, "%s: sizes overflow", map->path);
    }
    qsort(w->span, w->n_tensor, sizeof(*w->span), by_tensor);
    for (uint32_t i = 0; w->level == MYTH_WEIGHTS_DATA && i < w->n_tensor; i++)
        w->tensor[i].data = w->file[w->tensor[i].shard].base + w->tensor[i].off;
    return MYTH_OK;
}

/* Reads the header of file[shard] into the directory, which a single file opens itself. */
static myth_status read_shard(myth_weights *w, uint32_t shard, bool is_indexed, myth_error *err)
{
    const myth_map *map = &w->file[shard];
    header h;
    entry e;
    myth_json_token tok;
    uint64_t data = 0, n_tensor = 0, n_text = 0;
    bool has_metadata = false;
    myth_status st = MYTH_OK;
    MYTH_TRY(find_header(&h, &data, map, err));
    MYTH_TRY(count_entries(&h, &n_tensor, &n_text, err));
    if (!is_indexed)
        MYTH_TRY(myth_dir_open(w, n_tensor, n_text, err));
    MYTH_TRY(myth_json_next(&h.json, &tok, err));
    for (;;) {
        MYTH_TRY(myth_json_next(&h.json, &tok, err));
        if (tok.type != MYTH_JSON_KEY)
            break;
        if (myth_json_is(&tok, "__metadata__")) {
            if (has_metadata)
                return bad(&h, &tok, "__metadata__ appears twice", err);
            has_metadata = true;
            MYTH_TRY(read_metadata(&h, err));
            continue;
        }
        const myth_json_token key = tok;
        MYTH_TRY(read_entry(&h, &e, err));
        MYTH_TRY(place_entry(w, &h, &key, &e, shard, is_indexed, data, err));
    }
    for (uint32_t i = 0; i < w->n_tensor; i++)
        if (w->tensor[i].shard == shard && w->tensor[i].bytes == 0)
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: the index expects it here", map->path,
                             w->tensor[i].name.text);
fail:
    return st;
}

/* ---- the index of a sharded checkpoint ---- */

typedef struct {
    myth_str shard[MYTH_SHARD_MAX];
    uint32_t n_shard;
    uint64_t n_tensor, n_text;
} index_facts;

static myth_status shard_of(index_facts *x, uint32_t *out, const header *h, const myth_json_token *tok, myth_error *err)
{
    if (tok->type != MYTH_JSON_STRING || tok->has_escape || !myth_dir_is_name(tok->span, tok->len) ||
        memchr(tok->span, '/', tok->len) || tok->span[0] == '.')
        return myth_fail(err, MYTH_EFORMAT,
                         "%s: offset %llu: weight_map: expected the plain name of a file in this folder", h->path,
                         (unsigned long long)tok->off);
    for (*out = 0; *out < x->n_shard; ++*out)
        if (x->shard[*out].len == tok->len && memcmp(x->shard[*out].text, tok->span, tok->len) == 0)
            return MYTH_OK;
    if (x->n_shard == MYTH_SHARD_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: more than %d files", h->path, MYTH_SHARD_MAX);
    x->shard[x->n_shard++] = (myth_str){tok->span, tok->len};
    return MYTH_OK;
}

/* One pass over "weight_map": counts, or adds the tensors to the directory. */
static myth_status walk_weight_map(myth_weights *w, index_facts *x, header *h, bool is_count, myth_error *err)
{
    myth_json_token key, tok;
    uint32_t shard = 0;
    myth_status st = myth_json_next(&h->json, &tok, err);
    if (st == MYTH_OK && tok.type != MYTH_JSON_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: weight_map: expected an object", h->path);
    while (st == MYTH_OK && (st = myth_json_next(&h->json, &key, err)) == MYTH_OK && key.type == MYTH_JSON_KEY) {
        if ((st = myth_json_next(&h->json, &tok, err)) != MYTH_OK ||
            (st = shard_of(x, &shard, h, &tok, err)) != MYTH_OK)
            return st;
        if (is_count) {
            if (++x->n_tensor > MYTH_TENSOR_MAX)
                return myth_fail(err, MYTH_EFORMAT, "%s: more than %d tensors", h->path, MYTH_TENSOR_MAX);
            if (key.has_escape || !myth_dir_is_name(key.span, key.len))
                return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: tensor name: expected 1 to 255 printable bytes",
                                 h->path, (unsigned long long)key.off);
            x->n_text += key.len; /* at most MYTH_TENSOR_MAX names of 255 bytes */
        } else {
            myth_tensor *t = myth_dir_add(w, key.span, key.len);
            if (!t)
                return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: tensor named twice", h->path,
                                 (unsigned long long)key.off);
            t->shard = shard;
        }
    }
    return st;
}

static myth_status walk_index(myth_weights *w, index_facts *x, const myth_map *map, bool is_count, myth_error *err)
{
    header h = {.path = map->path};
    myth_json_token tok;
    int n_map = 0;
    bool in_metadata = false;
    myth_json_start(&h.json, map->base, map->size, map->path);
    myth_status st = myth_json_next(&h.json, &tok, err);
    if (st == MYTH_OK && tok.type != MYTH_JSON_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: expected an object", h.path);
    while (st == MYTH_OK && (st = myth_json_next(&h.json, &tok, err)) == MYTH_OK && tok.type != MYTH_JSON_END) {
        if (tok.type == MYTH_JSON_OBJECT_END) {
            in_metadata = false;
        } else if (in_metadata) { /* total_size too: the shards' own headers say what they hold */
            st = myth_json_skip(&h.json, err);
        } else if (myth_json_is(&tok, "weight_map")) {
            if (n_map++)
                return myth_fail(err, MYTH_EFORMAT, "%s: weight_map appears twice", h.path);
            st = walk_weight_map(w, x, &h, is_count, err);
        } else if (myth_json_is(&tok, "metadata")) {
            if ((st = myth_json_next(&h.json, &tok, err)) == MYTH_OK && tok.type != MYTH_JSON_OBJECT)
                return myth_fail(err, MYTH_EFORMAT, "%s: metadata: expected an object", h.path);
            in_metadata = true;
        } else {
            st = myth_json_skip(&h.json, err);
        }
    }
    if (st == MYTH_OK && n_map == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: weight_map is missing", h.path);
    return st;
}

/* Fills the directory with the names; keeps the names of the files in x. */
static myth_status read_index(myth_weights *w, index_facts *x, const char *path, myth_error *err)
{
    myth_map map = {0};
    uint64_t text;
    myth_status st = myth_map_open(&map, w->mem, path, MYTH_MAP_NOFOLLOW, MYTH_MEM_OTHER, err);
    if (st != MYTH_OK)
        return st;
    if (map.size > INDEX_MAX) {
        st = myth_fail(err, MYTH_EFORMAT, "%s: %llu bytes, at most %d", path, (unsigned long long)map.size, INDEX_MAX);
        goto fail;
    }
    MYTH_TRY(walk_index(w, x, &map, true, err));
    text = x->n_text;
    for (uint32_t i = 0; i < x->n_shard; i++)
        text += x->shard[i].len + 1; /* at most MYTH_SHARD_MAX names of 255 bytes */
    MYTH_TRY(myth_dir_open(w, x->n_tensor, text, err));
    MYTH_TRY(walk_index(w, x, &map, false, err));
    for (uint32_t i = 0; i < x->n_shard; i++)
        x->shard[i].text = myth_dir_text(w, x->shard[i].text, x->shard[i].len);
fail:
    myth_map_close(&map);
    return st;
}

/* ---- open ---- */

static bool find_prefix(myth_weights *w)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        memcpy(w->prefix, prefixes[i], strlen(prefixes[i]) + 1);
        if (myth_weights_slot(w, "embed_tokens.weight", ""))
            return true;
    }
    return false;
}

/* Two tensors of the same shape hold the same numbers, whatever their types of floats. */
static bool is_same(const myth_tensor *a, const myth_tensor *b)
{
    enum { PART = 512 };
    const unsigned char *p = a->data, *q = b->data;
    float x[PART], y[PART];
    if (a->dtype == b->dtype)
        return memcmp(p, q, (size_t)a->bytes) == 0;
    const uint64_t total = a->bytes / myth_dtype_block_bytes(a->dtype);
    for (uint64_t i = 0, n; i < total; i += n) {
        n = total - i < PART ? total - i : PART;
        myth_dequant_row(a->dtype, x, p + i * myth_dtype_block_bytes(a->dtype), n);
        myth_dequant_row(b->dtype, y, q + i * myth_dtype_block_bytes(b->dtype), n);
        if (memcmp(x, y, sizeof(float) * (size_t)n) != 0)
            return false;
    }
    return true;
}

/* The logits of a tied model come from the embedding, so a head that differs from it may not be left out. The numbers
 * are compared where they are open. */
static myth_status check_head(const myth_weights *w, const myth_tensor *head, myth_error *err)
{
    const myth_tensor *embed = myth_weights_slot(w, "embed_tokens.weight", "");
    const bool is_copy = head->n_dim == embed->n_dim && memcmp(head->dim, embed->dim, sizeof(head->dim)) == 0 &&
                         (!head->data || is_same(head, embed));
    if (head->data && !w->is_read) {
        myth_map_let_go(head->data, head->bytes);
        myth_map_let_go(embed->data, embed->bytes);
    }
    if (is_copy)
        return MYTH_OK;
    return myth_fail(err, MYTH_EUNSUPPORTED,
                     "%s: tensor %s is not a copy of the embedding; if it is the model's head, config.json says "
                     "\"tie_word_embeddings\": false",
                     w->file[head->shard].path, head->name.text);
}

myth_status myth_weights_open_safetensors(myth_weights *w, const char *file, bool is_index, myth_error *err)
{
    char path[PATH_MAX];
    index_facts x = {.n_shard = 1};
    myth_tensor head = {0};
    unsigned flags = file ? MYTH_MAP_NOFOLLOW : 0;
    myth_status st = MYTH_OK;
    w->format = MYTH_FORMAT_SAFETENSORS;
    if (file)
        MYTH_TRY(myth_dir_member(path, w->dir, file, err));
    else
        memcpy(path, w->path, sizeof(path));
    if (is_index) {
        x.n_shard = 0;
        MYTH_TRY(read_index(w, &x, path, err));
    }
    w->file = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "files", x.n_shard, sizeof(*w->file));
    if (!w->file)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %u files", w->path, x.n_shard);
    w->n_file = x.n_shard;
    for (uint32_t i = 0; i < x.n_shard; i++) {
        if (is_index)
            MYTH_TRY(myth_dir_member(path, w->dir, x.shard[i].text, err));
        MYTH_TRY(myth_weights_map(w, &w->file[i], path, flags, err));
        MYTH_TRY(read_shard(w, i, is_index, err));
    }
    MYTH_TRY(check_cover(w, err));
    for (uint32_t i = 0; i < w->n_tensor; i++)
        if (w->span[i].is_left_out && is_head(w->tensor[i].name.text))
            head = w->tensor[i]; /* its name and bytes stay when the directory lets it go */
    myth_dir_finish(w);
    if (!w->is_piece && !find_prefix(w))
        return myth_fail(err, MYTH_EFORMAT, "%s: no tensor named ...embed_tokens.weight", w->path);
    if (!w->is_piece && head.bytes)
        MYTH_TRY(check_head(w, &head, err));
fail:
    return st;
}
