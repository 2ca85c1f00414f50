/* weights_random.c - random:FAMILY-SIZE:TYPE[:SEED], a model of the real shape made from a seed: for benches and tests.
 *
 * Speed of a dense model does not depend on its values, so made ones stand in. Element i of tensor T, integer
 * arithmetic only:
 *     z = fnv1a64(name of T) ^ seed * 0xD1342543DE82EF95  +  (i + 1) * 0x9E3779B97F4A7C15  (mod 2^64)
 *     z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;  z = (z ^ z >> 27) * 0x94D049BB133111EB;  z ^= z >> 31  (splitmix64)
 *     n = sum of the four 16-bit quarters of z - 131070                                    (about normal, sd 37837)
 *     value = f32(n) * f32(sd / 37837.2) + mean
 * Types without a quick quantiser are made as they are stored: quants and sub-scales of 64 random bits a word, one
 * splitmix64 step each from the state before the block's first element, the outer scale and minimum such that the
 * values have that sd and about mean 0. Matrices: sd 1 / sqrt(row length), mean 0 (AltUp's coefficients, rows of 4:
 * 0.05). Norms, in the form of GGUF: mean 1, sd 0.1, always f32. So the residual stream, the scores and the logits stay
 * near unit size. Tensors and facts are named as in GGUF.
 * Threads  a large span is filled by as many as there are processors, 16 at most */
#include "engine/model/weights_impl.h"

#include "engine/base/hash.h"
#include "engine/base/half.h"
#include "engine/base/thread.h"
#include "engine/model/family.h"
#include "quant.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *name, *family;
    uint32_t n_layer, d_model, n_head, n_head_kv, head_dim, d_ff, n_vocab, window, n_ctx, rope_factor;
    /* Gemma 3n and 4 */
    uint32_t n_kv_global, head_dim_global; /* of global layers                        */
    uint32_t period, n_shared, n_ple, n_ple_vocab;
    uint32_t n_expert, n_used, d_ff_expert;
    bool k_is_v, is_wide; /* global layers have no value projection; shared layers are twice as wide */
} shape;

static const char ENCODER[] = "gemma-embedding"; /* Gemma 3's layers, seeing both ways */

#define NEITHER 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false

/* Embedding rows as in safetensors: some are soft tokens and padding, which files of other formats may lack. */
static const shape published[] = {
    /* name           family     L   d     H   KV  hd   ff     vocab   window ctx     rope */
    {"gemma-2b", "gemma", 18, 2048, 8, 1, 256, 16384, 256000, 0, 8192, 0, NEITHER},
    {"gemma-7b", "gemma", 28, 3072, 16, 16, 256, 24576, 256000, 0, 8192, 0, NEITHER},
    {"gemma2-2b", "gemma2", 26, 2304, 8, 4, 256, 9216, 256000, 4096, 8192, 0, NEITHER},
    {"gemma2-9b", "gemma2", 42, 3584, 16, 8, 256, 14336, 256000, 4096, 8192, 0, NEITHER},
    {"gemma2-27b", "gemma2", 46, 4608, 32, 16, 128, 36864, 256000, 4096, 8192, 0, NEITHER},
    {"gemma3-270m", "gemma3", 18, 640, 4, 1, 256, 2048, 262144, 512, 32768, 0, NEITHER},
    {"gemma3-1b", "gemma3", 26, 1152, 4, 1, 256, 6912, 262144, 512, 32768, 0, NEITHER},
    {"gemma3-4b", "gemma3", 34, 2560, 8, 4, 256, 10240, 262208, 1024, 131072, 8, NEITHER},
    {"gemma3-12b", "gemma3", 48, 3840, 16, 8, 256, 15360, 262208, 1024, 131072, 8, NEITHER},
    {"gemma3-27b", "gemma3", 62, 5376, 32, 16, 128, 21504, 262208, 1024, 131072, 8, NEITHER},
    {"embeddinggemma-300m", "gemma-embedding", 24, 768, 3, 1, 256, 1152, 262144, 512, 2048, 0,
     NEITHER}, /* without its dense layers */
    /* global: KV hd   every shared PLE   rows  experts */
    {"gemma3n-e2b", "gemma3n", 30, 2048, 8,      2, 256, 8192, 262400, 512,  32768, 0, 2,
     256,           5,         10, 256,  262144, 0, 0,   0,    false,  false},
    {"gemma3n-e4b", "gemma3n", 35, 2048, 8,      2, 256, 16384, 262400, 512,  32768, 0, 2,
     256,           5,         15, 256,  262144, 0, 0,   0,     false,  false},
    {"gemma4-e2b", "gemma4", 35, 1536, 8,      1, 256, 6144, 262144, 512, 131072, 0, 1,
     512,          5,        20, 256,  262144, 0, 0,   0,    false,  true},
    {"gemma4-e4b", "gemma4", 42, 2560, 8,      2, 256, 10240, 262144, 512,  131072, 0, 2,
     512,          6,        18, 256,  262144, 0, 0,   0,     false,  false},
    {"gemma4-12b", "gemma4", 48, 3840, 16, 8, 256, 15360, 262144, 1024, 262144, 0, 1,
     512,          6,        0,  0,    0,  0, 0,   0,     true,   false},
    {"gemma4-26b-a4b",
     "gemma4",
     30,
     2816,
     16,
     8,
     256,
     2112,
     262144,
     1024,
     262144,
     0,
     2,
     512,
     6,
     0,
     0,
     0,
     128,
     8,
     704,
     true,
     false},
    {"gemma4-31b", "gemma4", 60, 5376, 32, 16, 256, 21504, 262144, 1024, 262144, 0, 4,
     512,          6,        0,  0,    0,  0,  0,   0,     true,   false},
};

/* every feature at a size for tests */
static const shape small[] = {
    {"gemma1-tiny", "gemma", 3, 64, 4, 1, 32, 128, 512, 0, 8192, 0, NEITHER},
    {"gemma2-tiny", "gemma2", 4, 64, 4, 2, 32, 128, 512, 8, 8192, 0, NEITHER},
    {"gemma3-tiny", "gemma3", 7, 64, 4, 2, 32, 128, 512, 8, 32768, 8, NEITHER},
    {"gemma3-super", "gemma3", 4, 256, 4, 2, 64, 512, 512, 8, 32768, 8, NEITHER}, /* tiny, in super-blocks of 256 */
    {"embeddinggemma-tiny", "gemma-embedding", 7, 64, 4, 2, 32, 128, 512, 16, 256, 0, NEITHER},
    {"gemma3n-tiny", "gemma3n", 7, 64, 4, 2, 32, 192, 512, 8, 8192, 0, 2, 32, 2, 3, 32, 512, 0, 0, 0, false, false},
    {"gemma4-tiny", "gemma4", 6, 64, 4, 2, 32, 128, 512, 8, 8192, 0, 1, 64, 3, 0, 0, 0, 0, 0, 0, true, false},
    {"gemma4-e-tiny", "gemma4", 8, 64, 4, 1, 32, 128, 512, 8, 8192, 0, 1, 64, 2, 4, 32, 512, 0, 0, 0, false, true},
    {"gemma4-moe-tiny", "gemma4", 4, 64, 4, 2, 32, 96, 512, 8, 8192, 0, 1, 64, 2, 0, 0, 0, 8, 2, 32, true, false},
};

/* ---- facts ---- */

static bool put(myth_weights *w, const char *family, const char *key, myth_meta_value v)
{
    char text[128];
    int n = family ? snprintf(text, sizeof(text), "%s.%s", family, key) : snprintf(text, sizeof(text), "%s", key);
    char *copy = myth_meta_take(w->meta, (uint64_t)n);
    if (!copy)
        return false;
    memcpy(copy, text, (size_t)n);
    v.key = (myth_str){copy, (size_t)n};
    return myth_meta_add(w->meta, &v);
}

static bool put_u32(myth_weights *w, const char *family, const char *key, uint32_t u)
{
    return put(w, family, key, (myth_meta_value){.type = MYTH_META_UINT, .v.u = u});
}

static bool put_f64(myth_weights *w, const char *family, const char *key, double f)
{
    return put(w, family, key, (myth_meta_value){.type = MYTH_META_FLOAT, .v.f = f});
}

/* text lives as long as w: a literal, or w->name. */
static bool put_str(myth_weights *w, const char *family, const char *key, const char *text)
{
    return put(w, family, key, (myth_meta_value){.type = MYTH_META_STRING, .v.s = {text, strlen(text)}});
}

static uint32_t ff_of(const shape *s, uint32_t l)
{
    return s->d_ff * (s->is_wide && l >= s->n_layer - s->n_shared ? 2 : 1);
}
static uint32_t kv_of(const shape *s, uint32_t l) { return (l + 1) % s->period == 0 ? s->n_kv_global : s->n_head_kv; }

enum { GGUF_U32 = 4 };

/* One number for each layer, packed as in GGUF. */
static bool put_list(myth_weights *w, const char *family, const char *key, const shape *s,
                     uint32_t (*of)(const shape *, uint32_t))
{
    char *items = myth_meta_take(w->meta, 4 * (uint64_t)s->n_layer);
    if (!items)
        return false;
    for (uint32_t i = 0; i < 4 * s->n_layer; i++)
        items[i] = (char)(of(s, i / 4) >> 8 * (i % 4));
    return put(w, family, key,
               (myth_meta_value){
                   .type = MYTH_META_ARRAY,
                   .elem = MYTH_META_UINT,
                   .count = s->n_layer,
                   .raw_type = GGUF_U32,
                   .raw = (const unsigned char *)items,
                   .raw_bytes = 4 * (uint64_t)s->n_layer,
               });
}

static myth_status make_facts(myth_weights *w, const shape *s, myth_error *err)
{
    const myth_meta_size size = {.n_value = 40, .n_byte = 40 * 64 + s->n_layer * 8};
    const char *f = s->family;
    myth_status st = myth_meta_open(&w->meta, w->mem, &size, err);
    if (st != MYTH_OK)
        return st;
    const uint32_t wide = s->head_dim_global ? s->head_dim_global : s->head_dim;
    bool ok = put_str(w, NULL, "general.architecture", f) && put_str(w, NULL, "general.name", w->name) &&
              put_u32(w, f, "block_count", s->n_layer) && put_u32(w, f, "context_length", s->n_ctx) &&
              put_u32(w, f, "embedding_length", s->d_model) && put_u32(w, f, "attention.head_count", s->n_head) &&
              put_u32(w, f, "attention.key_length", wide) && put_u32(w, f, "attention.value_length", wide) &&
              put_f64(w, f, "attention.layer_norm_rms_epsilon", 1e-6) && put_u32(w, f, "vocab_size", s->n_vocab);
    if (s->is_wide)
        ok = ok && put_list(w, f, "feed_forward_length", s, ff_of);
    else
        ok = ok && put_u32(w, f, "feed_forward_length", s->d_ff);
    if (s->n_kv_global && s->n_kv_global != s->n_head_kv)
        ok = ok && put_list(w, f, "attention.head_count_kv", s, kv_of);
    else
        ok = ok && put_u32(w, f, "attention.head_count_kv", s->n_head_kv);
    if (s->window)
        ok = ok && put_u32(w, f, "attention.sliding_window", s->window);
    if (s->period)
        ok = ok && put_u32(w, f, "attention.sliding_window_pattern", s->period) &&
             put_u32(w, f, "attention.shared_kv_layers", s->n_shared) &&
             put_u32(w, f, "embedding_length_per_layer_input", s->n_ple);
    if (strcmp(f, "gemma4") == 0)
        ok = ok && put_u32(w, f, "attention.key_length_swa", s->head_dim) &&
             put_u32(w, f, "attention.value_length_swa", s->head_dim);
    if (s->n_expert)
        ok = ok && put_u32(w, f, "expert_count", s->n_expert) && put_u32(w, f, "expert_used_count", s->n_used) &&
             put_u32(w, f, "expert_feed_forward_length", s->d_ff_expert);
    if (strcmp(f, "gemma3") == 0 || strcmp(f, ENCODER) == 0 || s->period)
        ok = ok && put_f64(w, f, "rope.freq_base", 1e6);
    if (s->rope_factor)
        ok = ok && put_str(w, f, "rope.scaling.type", "linear") && put_f64(w, f, "rope.scaling.factor", s->rope_factor);
    if (strcmp(f, "gemma2") == 0)
        ok = ok && put_f64(w, f, "attn_logit_softcapping", 50);
    if (strcmp(f, "gemma2") == 0 || s->period)
        ok = ok && put_f64(w, f, "final_logit_softcapping", 30);
    return ok ? MYTH_OK : myth_fail(err, MYTH_EFULL, "%s: more facts than planned", w->name);
}

/* ---- tensors ---- */

static myth_status add_slot(myth_weights *w, const myth_config *c, const myth_slot *slot, uint32_t layer,
                            myth_dtype type, myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], name[MYTH_SLOT_NAME_MAX];
    const bool is_vector = slot->cols == MYTH_DIM_ONE;
    if (slot->is_part && slot->part > 0)
        return MYTH_OK; /* all parts are one tensor */
    myth_slot_names(hf, name, slot, layer);
    myth_tensor *t = myth_dir_add(w, name, strlen(name));
    if (!t)
        return myth_fail(err, MYTH_EFULL, "%s: more tensors than planned", w->name);
    t->dtype = is_vector || slot->form == MYTH_FORM_F32 || slot->form == MYTH_FORM_CLIPPED ? MYTH_F32 : type;
    t->dim[0] = t->dim[1] = t->dim[2] = t->dim[3] = 1;
    t->n_dim = 0;
    if (slot->is_part || slot->stack != MYTH_DIM_ONE)
        t->dim[t->n_dim++] = slot->is_part ? c->n_altup - 1 : myth_slot_size(c, layer, slot->stack);
    t->dim[t->n_dim++] = myth_slot_size(c, layer, slot->rows);
    if (!is_vector)
        t->dim[t->n_dim++] = myth_slot_size(c, layer, slot->cols);
    if (t->dim[t->n_dim - 1] % myth_dtype_block(t->dtype))
        t->dtype = MYTH_F16; /* as the converter does it */
    return myth_dir_size(t, w->name, err);
}

/* The facts say the shapes of all tensors, but for what only their absence would. */
static myth_status make_tensors(myth_weights *w, const shape *s, myth_dtype type, myth_error *err)
{
    myth_config c;
    uint64_t n_tensor = 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_config_read(&c, w, err));
    for (uint32_t l = 0; l < c.n_layer; l++)
        c.layer[l].k_is_v = s->k_is_v && c.layer[l].is_global;
    if (c.n_ple)
        c.n_ple_vocab = s->n_ple_vocab;
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, &c);)
        n_tensor++;
    MYTH_TRY(myth_dir_open(w, n_tensor, n_tensor * 48, err));
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, &c);)
        MYTH_TRY(add_slot(w, &c, it.slot, it.layer, type, err));
    myth_dir_finish(w);
fail:
    return st;
}

/* ---- open ---- */

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

enum { N_PUBLISHED = sizeof(published) / sizeof(published[0]), N_SMALL = sizeof(small) / sizeof(small[0]) };

const char *myth_weights_random_size(uint32_t i) { return i < N_PUBLISHED ? published[i].name : NULL; }

/* Sizes behind their family, so that all fit into a message: "gemma3 270m 1b, ..." */
static myth_status refuse_name(const char *spec, int n_name, myth_error *err)
{
    char list[512] = "";
    size_t n = 0, n_family = 0;
    const char *family = "";
    for (uint32_t i = 0; i < N_PUBLISHED && n < sizeof list; i++) {
        const char *name = published[i].name, *size = strchr(name, '-');
        if ((size_t)(size - name) != n_family || memcmp(family, name, n_family) != 0) {
            family = name;
            n_family = (size_t)(size - family);
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? ", " : " ", (int)n_family, family);
        }
        if (n < sizeof list)
            n += (size_t)snprintf(list + n, sizeof list - n, " %s", size + 1);
    }
    return myth_fail(err, MYTH_EARG, "random:%.*s: expected as in random:gemma3-270m:q8_0; sizes:%s", n_name, spec,
                     list);
}

myth_status myth_weights_open_random(myth_weights *w, const char *spec, myth_error *err)
{
    const shape *s = NULL;
    myth_dtype type = MYTH_I32;
    size_t n_name = strcspn(spec, ":");
    const char *kind = spec + n_name + (spec[n_name] != 0);
    size_t n_kind = strcspn(kind, ":");
    char word[8] = "";
    w->format = MYTH_FORMAT_RANDOM;
    w->seed = 1;
    for (uint32_t i = 0; i < N_PUBLISHED + N_SMALL; i++) {
        const shape *one = i < N_PUBLISHED ? &published[i] : &small[i - N_PUBLISHED];
        if (is_word(spec, n_name, one->name))
            s = one;
    }
    if (!s)
        return refuse_name(spec, (int)n_name, err);
    if (n_kind < sizeof(word))
        memcpy(word, kind, n_kind);
    if (!myth_dtype_from_name(&type, word) || type == MYTH_I32)
        return myth_fail(
            err, MYTH_EARG,
            "random:%s: expected random:FAMILY-SIZE:TYPE[:SEED], TYPE f32, f16, bf16 or a quantised type of GGUF",
            spec);
    if (kind[n_kind] == ':') {
        char *end;
        w->seed = strtoull(kind + n_kind + 1, &end, 10);
        if (end == kind + n_kind + 1 || *end)
            return myth_fail(err, MYTH_EARG, "random:%s: seed: expected a whole number", spec);
    }
    myth_status st = make_facts(w, s, err);
    return st == MYTH_OK && w->level >= MYTH_WEIGHTS_HEADER ? make_tensors(w, s, type, err) : st;
}

/* ---- values ---- */

static const uint64_t Z_STEP = 0x9E3779B97F4A7C15u;

static uint64_t key_of(const myth_weights *w, const myth_tensor *t)
{
    const uint64_t h = myth_fnv1a(MYTH_FNV1A, t->name.text, t->name.len);
    return h ^ w->seed * 0xD1342543DE82EF95u;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static float value_at(uint64_t z, float scale, float mean)
{
    z = mix(z);
    int n = (int)(z & 0xffff) + (int)(z >> 16 & 0xffff) + (int)(z >> 32 & 0xffff) + (int)(z >> 48) - 131070;
    float x = (float)n * scale;
    return x + mean;
}

/* Blocks of one tensor for one thread. */
typedef struct {
    myth_dtype dtype;
    uint64_t z, n; /* the state before the first element */
    float scale, mean;
    unsigned char *out;
} span;

/* Of q4_k and q5_k: min m = scale s for each of the eight. */
static void pair_scales(unsigned char s[12])
{
    for (int k = 0; k < 4; k++) {
        s[4 + k] = s[k];
        s[8 + k] = (unsigned char)((s[8 + k] & 15) * 17);
    }
}

/* Deviations of the random quants times those of the sub-scales, and what a second f16 is of the first (types.def). */
#define SPREAD(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, spread, lift) \
    [code] = (spread),
#define LIFT(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, spread, lift) \
    [code] = (lift),
static const double spread_of[MYTH_DTYPE_N] = {MYTH_QUANT_TYPES(SPREAD, 0)};
static const double lift_of[MYTH_DTYPE_N] = {MYTH_QUANT_TYPES(LIFT, 0)};

/* One block in its stored form, of values about sd; sub-scales that a minimum shares with a scale are alike. */
static void make_block(myth_dtype t, unsigned char *p, uint64_t z, double sd)
{
    const myth_dtype_info *info = myth_dtype_get(t);
    for (uint32_t at = 0; at < info->block_bytes; at += 8) {
        uint64_t word = mix(z += Z_STEP);
        memcpy(p + at, &word, info->block_bytes - at < 8 ? info->block_bytes - at : 8);
    }
    const double d = sd / spread_of[t];
    unsigned char *half = p + info->half_off;
    if (info->n_half > 0)
        myth_put_f16(half, (float)d);
    if (info->n_half > 1)
        myth_put_f16(half + 2, (float)(lift_of[t] * sd / spread_of[t]));
    switch (t) {
    case MYTH_Q2_K:
        for (int k = 0; k < 16; k++)
            p[k] = (unsigned char)((p[k] & 15) * 17);
        break;
    case MYTH_Q4_K:
    case MYTH_Q5_K: pair_scales(p + 4); break;
    case MYTH_MXFP4: p[0] = (unsigned char)(128 + lrint(log2(d))); break;
    default: break;
    }
}

static bool has_quick_quantiser(myth_dtype t) { return !myth_dtype_is_quant(t) || t == MYTH_Q8_0 || t == MYTH_Q4_0; }

static void *fill_span(void *arg)
{
    enum { STEP = 256 };
    span s = *(const span *)arg;
    float x[STEP];
    const uint32_t block = myth_dtype_block(s.dtype);
    for (; !has_quick_quantiser(s.dtype) && s.n > 0;
         s.n -= block, s.z += block * Z_STEP, s.out += myth_dtype_block_bytes(s.dtype))
        make_block(s.dtype, s.out, s.z, (double)s.scale * 37837.2);
    while (s.n > 0) {
        uint64_t k = s.n < STEP
        ? s.n : STEP;
        for (uint64_t i = 0; i < k; i++)
            x[i] = value_at(s.z += Z_STEP, s.scale, s.mean);
        myth_quant_row(s.dtype, s.out, x, k);
        s.out += myth_row_bytes(s.dtype, k);
        s.n -= k;
    }
    return NULL;
}

/* Elements are independent, so the values do not depend on the number of threads. */
static void fill_spans(const span *all)
{
    enum { THREADS_MAX = 16, LEAST = 1 << 16 }; /* below that starting a thread costs more than it saves */
    span part[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    bool is_started[THREADS_MAX] = {false};
    const long n_core = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n_part = n_core < 1           ? 1
                    : n_core > THREADS_MAX ? THREADS_MAX
                                           : (uint64_t)n_core,
             block = myth_dtype_block(all->dtype);
    n_part = all->n / LEAST < n_part ? all->n / LEAST : n_part;
    n_part = n_part ? n_part : 1;
    const uint64_t n_block = all->n / block;
    for (uint64_t i = 0; i < n_part; i++) {
        const uint64_t from = n_block * i / n_part * block, to = n_block * (i + 1) / n_part * block;
        part[i] = *all;
        part[i].z += from * Z_STEP;
        part[i].n = to - from;
        part[i].out += myth_row_bytes(all->dtype, from);
        is_started[i] = i > 0 && myth_thread_start_small(&thread[i], fill_span, &part[i]);
    }
    for (uint64_t i = 0; i < n_part; i++)
        if (!is_started[i])
            fill_span(&part[i]);
    for (uint64_t i = 0; i < n_part; i++)
        if (is_started[i])
            pthread_join(thread[i], NULL);
}

myth_status myth_weights_random_fill(const myth_weights *w, const myth_tensor *t, uint64_t first, uint64_t n, void *dst,
                                     myth_error *err)
{
    uint32_t block = myth_dtype_block(t->dtype);
    if (w->format != MYTH_FORMAT_RANDOM || first % block || n % block)
        return myth_fail(err, MYTH_EARG, "%s: random values from %llu on, expected whole blocks of a random: model",
                         t->name.text, (unsigned long long)first);
    const bool is_norm = t->n_dim == 1;
    const uint64_t width = t->dim[t->n_dim - 1];
    const double sd = is_norm ? 0.1 : width < 8 ? 0.05 : pow((double)width, -0.5);
    fill_spans(&(span){
        .dtype = t->dtype,
        .z = key_of(w, t) + first * Z_STEP,
        .n = n,
        .scale = (float)(sd / 37837.2),
        .mean = is_norm ? 1.0f : 0.0f,
        .out = dst,
    });
    return MYTH_OK;
}

myth_status myth_weights_random_row(const myth_weights *w, const myth_tensor *t, uint64_t row, float *dst,
                                    myth_error *err)
{
    enum { STEP = 256 };
    unsigned char part[STEP * 4];
    for (uint64_t i = 0, n = t->dim[1], k; i < n; i += k) {
        k = n - i < STEP
        ? n - i : STEP;
        myth_status st = myth_weights_random_fill(w, t, row * n + i, k, part, err);
        if (st != MYTH_OK)
            return st;
        myth_dequant_row(t->dtype, dst + i, part, k);
    }
    return MYTH_OK;
}
