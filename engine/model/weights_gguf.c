/* weights_gguf.c - GGUF, versions 2 and 3, little endian.
 *
 * File     "GGUF"  u32 version  u64 n_tensor  u64 n_kv
 *          n_kv times:     string key, u32 type, value  string: u64 length, bytes  array: u32 type, u64 count, elements
 *          n_tensor times: string name, u32 n_dim, u64 dim[n_dim] (innermost first), u32 type, u64 offset
 *          zeros up to general.alignment (32 when absent), then the data; offsets count from there
 * Rule     tensors follow each other in the order of the directory, each padded to the alignment: an offset that is not
 *          the running sum is an error, so nothing overlaps and nothing hides
 * Split    part i of n is a file of its own with its own data, and the keys split.no = i (from 0), split.count = n and
 *          split.tensors.count, the tensors of all parts. The first has the facts of the model, and maybe no tensors;
 *          of the keys of the others only these, general.alignment and general.architecture are looked at
 * Source   GGUF specification; ggml type codes */
#include "weights_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ALIGN_DEFAULT = 32,
    ALIGN_MAX = 1 << 16,
    KEY_MAX = 255,
    NAME_MAX_GGUF = 63,
    KV_MIN = 8 + 1 + 4 + 1,           /* shortest key and value            */
    INFO_MIN = 8 + 1 + 4 + 8 + 4 + 8, /* shortest entry of the directory   */
    TYPE_BOOL = 7,
    TYPE_STRING = 8,
    TYPE_ARRAY = 9
};

/* The keys that count in every part. */
typedef enum { KEY_NO, KEY_COUNT, KEY_TENSORS, KEY_ALIGNMENT, KEY_ARCHITECTURE, N_KEY } part_key;

static const char *const part_keys[N_KEY] = {"split.no", "split.count", "split.tensors.count", "general.alignment",
                                             "general.architecture"};

/* One file under way. */
typedef struct {
    myth_weights *w;
    const char *path;
    const myth_map *map;
    myth_reader r;
    uint64_t n_tensor, n_kv, align;
    myth_meta_value key[N_KEY]; /* MYTH_META_NULL = not there */
} gguf;

/* What the first part says of all: part `no` of `count`, `n_tensor` in all. A file that is not split is 0 of 1. */
typedef struct {
    uint64_t no, count, n_tensor;
} split;

static myth_status bad(const gguf *g, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: %s", g->path, (unsigned long long)g->r.pos, what);
}

static bool read_str(myth_reader *r, myth_str *s)
{
    uint64_t len;
    const unsigned char *p;
    if (!myth_reader_u64(r, &len) || !(p = myth_reader_take(r, len)))
        return false;
    *s = (myth_str){(const char *)p, (size_t)len};
    return true;
}

static myth_status read_head(gguf *g, myth_error *err)
{
    const unsigned char *magic = myth_reader_take(&g->r, 4);
    uint32_t version;
    const bool is_pickled = magic && (memcmp(magic, "PK\3\4", 4) == 0 || (magic[0] == 0x80 && magic[1] <= 5));
    if (is_pickled) /* torch.save: a zip archive, or in old files the pickle itself */
        return myth_weights_fail_pickled(g->path, err);
    if (!magic || memcmp(magic, "GGUF", 4) != 0)
        return bad(g, "not a GGUF file (and its name does not end in .safetensors); name a model's file or folder",
                   err);
    if (!myth_reader_u32(&g->r, &version) || version == 0)
        return bad(g, "version: expected 2 or 3", err);
    if (version != 2 && version != 3)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: GGUF version %u%s, expected 2 or 3", g->path, version,
                         (version & 0xffff) == 0 ? " (big endian)" : "");
    if (!myth_reader_u64(&g->r, &g->n_tensor) || !myth_reader_u64(&g->r, &g->n_kv))
        return bad(g, "file ends in its head; fetch or copy it again", err);
    uint64_t left = myth_reader_left(&g->r);
    if (g->n_kv > left / KV_MIN || g->n_kv > MYTH_META_MAX)
        return bad(g, "more keys than the file can hold, or than 8192", err);
    if (g->n_tensor > left / INFO_MIN || g->n_tensor > MYTH_TENSOR_MAX)
        return bad(g, "more tensors than the file can hold, or than 8192", err);
    return MYTH_OK;
}

/* ---- keys and values ---- */

static bool bools_ok(const unsigned char *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (p[i] > 1)
            return false;
    return true;
}

static myth_status read_array(gguf *g, myth_meta_value *v, myth_error *err)
{
    uint64_t from;
    myth_str s;
    if (!myth_reader_u32(&g->r, &v->raw_type) || !myth_reader_u64(&g->r, &v->count))
        return bad(g, "file ends in an array", err);
    v->type = MYTH_META_ARRAY;
    from = g->r.pos;
    if (v->raw_type == TYPE_STRING) {
        v->elem = MYTH_META_STRING;
        if (v->count > myth_reader_left(&g->r) / 8)
            return bad(g, "array: more strings than the file can hold", err);
        for (uint64_t i = 0; i < v->count; i++)
            if (!read_str(&g->r, &s))
                return bad(g, "array: a string runs past the end of the file", err);
    } else {
        uint32_t size = myth_meta_gguf_size(v->raw_type);
        uint64_t bytes;
        myth_meta_value kind = {0};
        static const unsigned char zero[8];
        if (size == 0)
            return bad(g, "array: element type not known (arrays of arrays are not read)", err);
        if (!myth_mul_u64(&bytes, v->count, size) || !myth_reader_take(&g->r, bytes))
            return bad(g, "array: more elements than the file can hold", err);
        if (v->raw_type == TYPE_BOOL && !bools_ok(g->r.base + from, v->count))
            return bad(g, "array: a bool that is not 0 or 1", err);
        myth_meta_gguf_scalar(&kind, v->raw_type, zero);
        v->elem = kind.type;
    }
    v->raw = g->r.base + from;
    v->raw_bytes = g->r.pos - from;
    return MYTH_OK;
}

/* What the keys are that are looked up by name and have a default when they are absent: of another kind they would be
 * passed over as if they were absent. The keys of the config and of the tokenizer's arrays are checked where they are
 * read. */
typedef enum { KIND_BOOL, KIND_STRING, KIND_WHOLE, KIND_NUMBER } kind;

static const struct {
    const char *key;
    kind kind;
} known_keys[] = {
    {"adapter.lora.alpha", KIND_NUMBER},
    {"adapter.type", KIND_STRING},
    {"general.type", KIND_STRING},
    {"imatrix.chunk_count", KIND_WHOLE},
    {"mythos.embed_prompts", KIND_STRING},
    {"mythos.judge", KIND_STRING},
    {"mythos.judge_removed", KIND_WHOLE},
    {"mythos.languages", KIND_STRING},
    {"mythos.prompt", KIND_STRING},
    {"mythos.prompt_hash", KIND_STRING},
    {"mythos.trained_tokens", KIND_WHOLE},
    {"tokenizer.chat_template", KIND_STRING},
    {"tokenizer.ggml.add_space_prefix", KIND_BOOL},
};

static bool is_of_kind(const myth_meta_value *v, kind k)
{
    const bool is_whole = v->type == MYTH_META_UINT ? v->v.u <= UINT32_MAX
                                                    : v->type == MYTH_META_INT && v->v.i >= 0 && v->v.i <= UINT32_MAX;
    switch (k) {
    case KIND_BOOL: return v->type == MYTH_META_BOOL;
    case KIND_STRING: return v->type == MYTH_META_STRING;
    case KIND_WHOLE: return is_whole;
    default: return is_whole || (v->type == MYTH_META_FLOAT && isfinite(v->v.f));
    }
}

static myth_status check_kind(const gguf *g, const myth_meta_value *v, myth_error *err)
{
    static const char *const expected[] = {"true or false", "a string", "a whole number of 32 bits", "a finite number"};
    for (size_t i = 0; i < sizeof(known_keys) / sizeof(known_keys[0]); i++)
        if (myth_str_is(v->key, known_keys[i].key) && !is_of_kind(v, known_keys[i].kind))
            return myth_fail(err, MYTH_EFORMAT, "%s: %s: expected %s", g->path, known_keys[i].key,
                             expected[known_keys[i].kind]);
    return MYTH_OK;
}

static myth_status read_value(gguf *g, myth_meta_value *v, myth_error *err)
{
    if (!read_str(&g->r, &v->key) || v->key.len > KEY_MAX || !myth_dir_is_name(v->key.text, v->key.len))
        return bad(g, "key: expected 1 to 255 printable bytes", err);
    uint32_t type, size;
    if (!myth_reader_u32(&g->r, &type))
        return bad(g, "file ends in a value", err);
    if (type == TYPE_ARRAY)
        return read_array(g, v, err);
    if (type == TYPE_STRING) {
        v->type = MYTH_META_STRING;
        return read_str(&g->r, &v->v.s) ? MYTH_OK : bad(g, "string runs past the end of the file", err);
    }
    if ((size = myth_meta_gguf_size(type)) == 0)
        return bad(g, "value: type not known", err);
    const unsigned char *p = myth_reader_take(&g->r, size);
    if (!p)
        return bad(g, "file ends in a value", err);
    if (type == TYPE_BOOL && *p > 1)
        return bad(g, "a bool that is not 0 or 1", err);
    myth_meta_gguf_scalar(v, type, p);
    return MYTH_OK;
}

/* Where each string of the array starts, for O(1) access. */
static void index_strings(myth_meta *m, myth_meta_value *a)
{
    uint64_t *off = myth_meta_take(m, a->count * 8); /* count <= raw_bytes / 8, see read_array */
    myth_reader r = {a->raw, a->raw_bytes, 0};
    myth_str s;
    for (uint64_t i = 0; off && i < a->count; i++) {
        off[i] = r.pos;
        read_str(&r, &s);
    }
    a->str_off = off;
}

static bool is_indexed(const myth_meta_value *v)
{
    return v->type == MYTH_META_ARRAY && v->elem == MYTH_META_STRING &&
           (myth_str_is(v->key, "tokenizer.ggml.tokens") || myth_str_is(v->key, "tokenizer.ggml.merges"));
}

/* Two walks over the same bytes: one checks and measures, one fills. */
static myth_status read_meta(gguf *g, myth_error *err)
{
    const uint64_t from = g->r.pos;
    myth_meta_size size = {.n_value = g->n_kv};
    myth_status st;
    for (uint64_t i = 0; i < g->n_kv; i++) {
        myth_meta_value v = {0};
        if ((st = read_value(g, &v, err)) != MYTH_OK || (st = check_kind(g, &v, err)) != MYTH_OK)
            return st;
        if (is_indexed(&v) && !myth_add_u64(&size.n_byte, size.n_byte, v.count * 8)) /* count <= raw_bytes / 8 */
            return bad(g, "array too large", err);
    }
    if ((st = myth_meta_open(&g->w->meta, g->w->mem, &size, err)) != MYTH_OK)
        return st;
    g->r.pos = from;
    for (uint64_t i = 0; i < g->n_kv; i++) {
        myth_meta_value v = {0};
        if ((st = read_value(g, &v, err)) != MYTH_OK)
            return st;
        if (is_indexed(&v))
            index_strings(g->w->meta, &v);
        if (!myth_meta_add(g->w->meta, &v))
            return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: key %.*s appears twice", g->path,
                             (unsigned long long)g->r.pos, (int)v.key.len, v.key.text);
    }
    return MYTH_OK;
}

/* The tokenizer's arrays go together: checked here, where their kinds are known. */
static myth_status check_tokenizer(gguf *g, myth_error *err)
{
    const myth_meta *m = g->w->meta;
    const myth_meta_value *tokens = myth_meta_find(m, "tokenizer.ggml.tokens");
    const myth_meta_value *scores = myth_meta_find(m, "tokenizer.ggml.scores");
    const myth_meta_value *types = myth_meta_find(m, "tokenizer.ggml.token_type");
    if (tokens && (tokens->type != MYTH_META_ARRAY || tokens->elem != MYTH_META_STRING || tokens->count > INT32_MAX))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.tokens: expected an array of strings", g->path);
    if (scores && (!tokens || scores->type != MYTH_META_ARRAY || scores->elem != MYTH_META_FLOAT ||
                   scores->count != tokens->count))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.scores: expected one float for each token", g->path);
    if (types && (!tokens || types->type != MYTH_META_ARRAY || myth_meta_gguf_size(types->raw_type) != 4 ||
                  types->elem == MYTH_META_FLOAT || types->count != tokens->count))
        return myth_fail(err, MYTH_EFORMAT, "%s: tokenizer.ggml.token_type: expected one integer for each token",
                         g->path);
    return MYTH_OK;
}

/* The keys of a part that is not the first. */
static myth_status read_part_keys(gguf *g, myth_error *err)
{
    myth_status st;
    for (uint64_t i = 0; i < g->n_kv; i++) {
        myth_meta_value v = {0};
        if ((st = read_value(g, &v, err)) != MYTH_OK)
            return st;
        for (int k = 0; k < N_KEY; k++)
            if (myth_str_is(v.key, part_keys[k])) {
                if (g->key[k].type != MYTH_META_NULL)
                    return myth_fail(err, MYTH_EFORMAT, "%s: key %s appears twice", g->path, part_keys[k]);
                g->key[k] = v;
            }
    }
    return MYTH_OK;
}

static myth_status read_alignment(gguf *g, myth_error *err)
{
    const myth_meta_value *v = &g->key[KEY_ALIGNMENT];
    g->align = ALIGN_DEFAULT;
    if (v->type == MYTH_META_NULL)
        return MYTH_OK;
    g->align = v->type == MYTH_META_UINT ? v->v.u : 0;
    if (g->align < 8 || g->align > ALIGN_MAX || (g->align & (g->align - 1)))
        return myth_fail(err, MYTH_EFORMAT, "%s: general.alignment: got %llu, expected a power of two from 8 to %d",
                         g->path, (unsigned long long)g->align, ALIGN_MAX);
    return MYTH_OK;
}

static myth_status read_split_key(uint64_t *out, const gguf *g, part_key k, uint64_t max, myth_error *err)
{
    const myth_meta_value *v = &g->key[k];
    if (v->type == MYTH_META_UINT && v->v.u <= max)
        *out = v->v.u;
    else if (v->type == MYTH_META_INT && v->v.i >= 0 && (uint64_t)v->v.i <= max)
        *out = (uint64_t)v->v.i;
    else
        return myth_fail(err, MYTH_EFORMAT, "%s: %s: expected a whole number of at most %llu", g->path, part_keys[k],
                         (unsigned long long)max);
    return MYTH_OK;
}

/* What the file says of itself as a part. */
static myth_status read_split(split *s, const gguf *g, myth_error *err)
{
    myth_status st = MYTH_OK;
    *s = (split){.count = 1, .n_tensor = g->n_tensor};
    if (g->key[KEY_COUNT].type != MYTH_META_NULL)
        MYTH_TRY(read_split_key(&s->count, g, KEY_COUNT, MYTH_SHARD_MAX, err));
    if (s->count <= 1) {
        s->count = 1;
        return MYTH_OK;
    }
    MYTH_TRY(read_split_key(&s->no, g, KEY_NO, s->count - 1, err));
    MYTH_TRY(read_split_key(&s->n_tensor, g, KEY_TENSORS, MYTH_TENSOR_MAX, err));
fail:
    return st;
}

/* ---- tensors ---- */

/* Codes that files use and no reader of ours knows, to name them. */
static const char *code_name(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *name;
    } row[] = {
        {9, "q8_1"},   {15, "q8_k"},  {16, "iq2_xxs"}, {17, "iq2_xs"}, {18, "iq3_xxs"}, {19, "iq1_s"},
        {21, "iq3_s"}, {22, "iq2_s"}, {24, "i8"},      {25, "i16"},    {26, "i32"},     {27, "i64"},
        {28, "f64"},   {29, "iq1_m"}, {34, "tq1_0"},   {40, "nvfp4"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (row[i].code == code)
            return row[i].name;
    return "unknown";
}

static myth_status refuse_type(const gguf *g, const myth_tensor *t, uint32_t code, myth_error *err)
{
    char list[128];
    size_t at = 0;
    for (int i = 0; i < MYTH_DTYPE_N; i++)
        if (i != MYTH_I32)
            at += (size_t)snprintf(list + at, sizeof(list) - at, " %s",
                                   myth_dtype_get((myth_dtype)i)->name); /* 92 bytes in all */
    return myth_fail(err, MYTH_EUNSUPPORTED, "%s: tensor %s: type %u, %s; supported:%s", g->path, t->name.text, code,
                     code_name(code), list);
}

static myth_status read_info(gguf *g, uint32_t shard, uint64_t *sum, uint64_t *end, myth_error *err)
{
    myth_weights *w = g->w;
    myth_str name;
    uint32_t n_dim, code;
    uint64_t off;
    if (!read_str(&g->r, &name) || name.len > NAME_MAX_GGUF || !myth_dir_is_name(name.text, name.len))
        return bad(g, "tensor name: expected 1 to 63 printable bytes", err);
    myth_tensor *t = myth_dir_add(w, name.text, name.len);
    if (!t)
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: tensor %.*s appears twice", g->path,
                         (unsigned long long)g->r.pos, (int)name.len, name.text);
    if (!myth_reader_u32(&g->r, &n_dim) || n_dim < 1 || n_dim > MYTH_TENSOR_DIMS)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: expected 1 to 4 dimensions", g->path, t->name.text);
    t->n_dim = n_dim;
    t->shard = shard;
    for (uint32_t i = 0; i < MYTH_TENSOR_DIMS; i++)
        t->dim[i] = 1;
    for (uint32_t i = n_dim; i-- > 0;)
        if (!myth_reader_u64(&g->r, &t->dim[i]))
            return bad(g, "file ends in the tensor directory", err);
    if (!myth_reader_u32(&g->r, &code) || !myth_reader_u64(&g->r, &off))
        return bad(g, "file ends in the tensor directory", err);
    if (!myth_dtype_from_gguf(&t->dtype, code) || t->dtype == MYTH_I32)
        return refuse_type(g, t, code, err);
    myth_status st = myth_dir_size(t, g->path, err);
    if (st != MYTH_OK)
        return st;
    if (off != *sum)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: offset %llu, expected %llu", g->path, t->name.text,
                         (unsigned long long)off, (unsigned long long)*sum);
    t->off = off;
    if (!myth_add_u64(end, off, t->bytes) || !myth_align_u64(sum, *end, g->align))
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: sizes overflow", g->path, t->name.text);
    return MYTH_OK;
}

/* Adds the tensors of one file to the directory. */
static myth_status read_directory(gguf *g, uint32_t shard, myth_error *err)
{
    myth_weights *w = g->w;
    const myth_map *map = g->map;
    const uint32_t from = w->n_tensor;
    uint64_t sum = 0, end = 0, data, first, last;
    for (uint64_t i = 0; i < g->n_tensor; i++) {
        myth_status st = read_info(g, shard, &sum, &end, err);
        if (st != MYTH_OK)
            return st;
    }
    if (!myth_align_u64(&data, g->r.pos, g->align) || !myth_add_u64(&first, data, end) ||
        !myth_add_u64(&last, data, sum))
        return bad(g, "sizes overflow", err);
    if (g->n_tensor == 0 && map->size < last) /* no data, and nothing pads the directory */
        first = last = map->size;
    /* The padding behind the last tensor may be missing; cut-off data is refused when the data is asked for. */
    bool is_cut = map->size < first;
    if (map->size > last || (is_cut && w->level == MYTH_WEIGHTS_DATA))
        return myth_fail(err, MYTH_EFORMAT, "%s: file of %llu bytes, expected %llu", g->path,
                         (unsigned long long)map->size, (unsigned long long)last);
    if (!myth_add_u64(&w->mapped, w->mapped, is_cut ? last : map->size))
        return bad(g, "sizes overflow", err);
    for (uint32_t i = from; i < w->n_tensor; i++) {
        myth_tensor *t = &w->tensor[i];
        if (!myth_add_u64(&t->off, t->off, data))
            return bad(g, "sizes overflow", err);
        if (w->level == MYTH_WEIGHTS_DATA)
            t->data = map->base + t->off;
    }
    return MYTH_OK;
}

/* ---- open ---- */

static void start(gguf *g, myth_weights *w, const myth_map *map)
{
    *g = (gguf){.w = w, .path = map->path, .map = map, .r = {map->base, map->size, 0}};
}

/* The file at w->path with all its facts. */
static myth_status open_first(gguf *g, split *s, myth_weights *w, myth_map *map, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_weights_map(w, map, w->path, 0, err));
    start(g, w, map);
    MYTH_TRY(read_head(g, err));
    MYTH_TRY(read_meta(g, err));
    for (int k = 0; k < N_KEY; k++) {
        const myth_meta_value *v = myth_meta_find(w->meta, part_keys[k]);
        g->key[k] = v ? *v : (myth_meta_value){0};
    }
    MYTH_TRY(read_split(s, g, err));
fail:
    return st;
}

/* The folder and the name of part idx beside `named`, then the file, which a link may lead to. */
static myth_status find_part(char dst[PATH_MAX], const char *named, uint32_t idx, const split *s, myth_error *err)
{
    char path[PATH_MAX], dir[PATH_MAX];
    myth_part_name p;
    if (!myth_part_read(&p, named) || p.count != s->count || !myth_weights_part_path(path, named, idx))
        return myth_fail(err, MYTH_EFORMAT,
                         "%.120s: part %llu of %llu by its keys, and the name does not end in -%05llu-of-%05llu.gguf",
                         named, (unsigned long long)s->no + 1, (unsigned long long)s->count,
                         (unsigned long long)s->no + 1, (unsigned long long)s->count);
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (dir[0] == '\0')
        memcpy(dir, "/", 2);
    myth_status st = myth_dir_member(dst, dir, slash ? slash + 1 : path, err);
    if (st == MYTH_ENOTFOUND)
        return myth_fail(err, st, "%.150s: part %u of %llu is missing; all parts must lie in one folder", path, idx + 1,
                         (unsigned long long)s->count);
    return st;
}

/* Part idx, from 1: that it is what its name and the first part say; then its tensors. */
static myth_status read_part(myth_weights *w, uint32_t idx, const split *whole, const myth_meta_value *architecture,
                             myth_error *err)
{
    gguf g;
    split s;
    myth_status st = MYTH_OK;
    start(&g, w, &w->file[idx]);
    MYTH_TRY(read_head(&g, err));
    MYTH_TRY(read_part_keys(&g, err));
    MYTH_TRY(read_split(&s, &g, err));
    const myth_meta_value *own = &g.key[KEY_ARCHITECTURE];
    if (s.no != idx || s.count != whole->count || s.n_tensor != whole->n_tensor ||
        (own->type == MYTH_META_STRING && architecture->type == MYTH_META_STRING &&
         (own->v.s.len != architecture->v.s.len || memcmp(own->v.s.text, architecture->v.s.text, own->v.s.len) != 0)))
        return myth_fail(
            err, MYTH_EFORMAT,
            "%.110s: part %llu of %llu with %llu tensors in all by its keys, expected part %u of %llu with "
            "%llu: a part of another model",
            g.path, (unsigned long long)s.no + 1, (unsigned long long)s.count, (unsigned long long)s.n_tensor, idx + 1,
            (unsigned long long)whole->count, (unsigned long long)whole->n_tensor);
    if (g.n_tensor > w->cap_tensor - w->n_tensor)
        return myth_fail(err, MYTH_EFORMAT, "%s: split.tensors.count: got %u, but the parts hold more", g.path,
                         w->cap_tensor);
    MYTH_TRY(read_alignment(&g, err));
    MYTH_TRY(read_directory(&g, idx, err));
fail:
    return st;
}

/* After a part that is not the first: opens the first in its place. */
static myth_status change_to_first(gguf *g, split *s, myth_map *map, const char *named, myth_error *err)
{
    myth_weights *w = g->w;
    char path[PATH_MAX];
    const char *old = strrchr(named, '/'), *slash;
    const bool is_named_after = strcmp(w->name, old ? old + 1 : named) == 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(find_part(path, named, 0, s, err));
    myth_meta_close(w->meta);
    w->meta = NULL;
    myth_map_close(map);
    memcpy(w->path, path, sizeof(path));
    slash = strrchr(path, '/');
    if (is_named_after)
        snprintf(w->name, sizeof(w->name), "%.255s", slash ? slash + 1 : path);
    MYTH_TRY(open_first(g, s, w, map, err));
    if (s->no != 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: split.no: got %llu, expected 0 in the first part", w->path,
                         (unsigned long long)s->no);
fail:
    return st;
}

myth_status myth_weights_open_gguf(myth_weights *w, const char *named, myth_error *err)
{
    gguf g;
    split s;
    myth_map first = {0};
    char path[PATH_MAX];
    uint32_t n_file = 1;
    myth_status st = MYTH_OK;
    w->format = MYTH_FORMAT_GGUF;
    MYTH_TRY(open_first(&g, &s, w, &first, err));
    if (s.no != 0)
        MYTH_TRY(change_to_first(&g, &s, &first, named, err));
    MYTH_TRY(check_tokenizer(&g, err));
    MYTH_TRY(read_alignment(&g, err));
    if (w->level >= MYTH_WEIGHTS_HEADER)
        n_file = (uint32_t)s.count; /* at most MYTH_SHARD_MAX */
    w->file = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "files", n_file, sizeof(*w->file));
    if (!w->file)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: no room for %u files", w->path, n_file));
    w->n_file = n_file;
    w->file[0] = first;
    first = (myth_map){0};
    g.map = &w->file[0];
    w->mapped = g.map->size;
    if (w->level == MYTH_WEIGHTS_CONFIG)
        return MYTH_OK;
    w->mapped = 0;
    MYTH_TRY(myth_dir_open(w, s.n_tensor, s.n_tensor * NAME_MAX_GGUF, err)); /* n_tensor <= MYTH_TENSOR_MAX */
    if (g.n_tensor > s.n_tensor)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: split.tensors.count: got %llu, but this part holds %llu", w->path,
                           (unsigned long long)s.n_tensor, (unsigned long long)g.n_tensor));
    MYTH_TRY(read_directory(&g, 0, err));
    for (uint32_t i = 1; i < n_file; i++) {
        MYTH_TRY(find_part(path, named, i, &s, err));
        MYTH_TRY(myth_weights_map(w, &w->file[i], path, 0, err));
        MYTH_TRY(read_part(w, i, &s, &g.key[KEY_ARCHITECTURE], err));
    }
    if (w->n_tensor != s.n_tensor)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%s: split.tensors.count: got %llu, but the parts hold %u", w->path,
                           (unsigned long long)s.n_tensor, w->n_tensor));
    myth_dir_finish(w);
fail:
    myth_map_close(&first);
    return st;
}
