/* lora.c - the pairs of an adapter, matched with the model's matrices by their names in both formats. */
#include "lora.h"

#include "engine/base/blocks.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/model/family.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_BYTES = 1 << 20, RANK_MAX = 1 << 16, KEY_BYTES = 256 };

typedef struct {
    char name[MYTH_SLOT_NAME_MAX]; /* in GGUF */
    const myth_tensor *a, *b;
    float scale;
} pair;

struct myth_lora {
    myth_mem *mem;
    myth_weights *w;
    pair *pair; /* by name */
    uint32_t n_pair, n_left_out;
    float scale; /* the caller's */
    uint64_t hash;
    uint64_t widest; /* values of the largest A */
    float *a;        /* A of pair `at` as floats */
    const pair *at;
};

/* ---- adapter_config.json ---- */

/* The ranks and alphas of single modules stay in the text of the config. */
typedef enum { RANKS, ALPHAS, PATTERN_N } pattern;

typedef struct {
    double rank, alpha;
    bool is_rank_root;
    unsigned char *text;
    size_t n_text;
    uint64_t at[PATTERN_N]; /* where in the text the object begins; 0 = there is none */
} config;

static myth_status not_such(const char *path, const char *key, myth_error *err)
{
    static const char *const next[] = {"peft's merge_and_unload makes a model of it", "take one without activation"};
    const bool is_activated = strstr(key, "alora") != NULL; /* behind some tokens only: no model is made of both */
    return myth_fail(err, MYTH_EUNSUPPORTED, "%.120s: %s: only plain low-rank adapters can be added; %s", path, key,
                     next[is_activated]);
}

/* A member that must be null, false, empty or "none", whatever its type. */
static myth_status must_be_unset(myth_json *j, const char *path, const char *key, myth_error *err)
{
    myth_json_token tok;
    myth_status st = myth_json_next(j, &tok, err);
    if (st != MYTH_OK)
        return st;
    const bool opens = tok.type == MYTH_JSON_OBJECT || tok.type == MYTH_JSON_ARRAY;
    if (opens) {
        st = myth_json_next(j, &tok, err);
        const bool is_empty = tok.type == MYTH_JSON_OBJECT_END || tok.type == MYTH_JSON_ARRAY_END;
        return st == MYTH_OK && !is_empty ? not_such(path, key, err) : st;
    }
    const bool is_unset = tok.type == MYTH_JSON_NULL || tok.type == MYTH_JSON_FALSE || myth_json_is(&tok, "none");
    return is_unset ? MYTH_OK : not_such(path, key, err);
}

/* How its A and B began. Other ways than these (PiSSA, OLoRA, CorDA, LoRA-GA) also took the first B A from the base
 * model, so that their product belongs to another base. */
static myth_status check_start(const myth_json_token *tok, const char *path, myth_error *err)
{
    static const char *const plain[] = {"gaussian", "eva", "orthogonal", "loftq"};
    bool is_plain = tok->type == MYTH_JSON_TRUE || tok->type == MYTH_JSON_FALSE || tok->type == MYTH_JSON_NULL;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        is_plain = is_plain || myth_json_is(tok, plain[i]);
    if (is_plain)
        return MYTH_OK;
    return myth_fail(err, MYTH_EUNSUPPORTED,
                     "%.80s: init_lora_weights %.*s changes the base model; save the adapter with peft's "
                     "save_pretrained(path_initial_model_for_weight_conversion=...)",
                     path, (int)(tok->len < 40 ? tok->len : 40), tok->span);
}

static myth_status check_kind(const myth_json_token *tok, const char *path, myth_error *err)
{
    char what[64];
    if (tok->type == MYTH_JSON_NULL || myth_json_is(tok, "LORA"))
        return MYTH_OK;
    snprintf(what, sizeof(what), "peft_type %.*s", (int)(tok->len < 40 ? tok->len : 40), tok->span);
    return not_such(path, what, err);
}

/* ---- rank_pattern, alpha_pattern: {"layers.3.self_attn.q_proj": 8, "down_proj": 4} ---- */

/* The name of a module, or the end of one behind a dot; with ^ in front the whole of it. peft takes these keys as
 * regular expressions, of which only such that are names, with or without a backslash before their dots, are read. */
static bool is_name(const char *key, size_t n)
{
    bool is_good = n > 0;
    for (size_t i = 0; i < n && is_good; i++) {
        const char c = key[i];
        is_good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
                  (c == '^' && i == 0 && n > 1) || (c == '\\' && i + 1 < n && key[i + 1] == '.');
    }
    return is_good;
}

static bool is_key_of(const char *key, size_t n, myth_str module)
{
    static const char base[] = "base_model.model.";
    const bool is_whole = n > 0 && key[0] == '^';
    size_t at = module.len;
    for (size_t i = n; i > (is_whole ? 1u : 0u); i--) { /* from the end */
        if (key[i - 1] == '\\')
            continue;
        if (at == 0 || module.text[--at] != key[i - 1])
            return false;
    }
    if (is_whole)
        return at == 0 || (at == sizeof(base) - 1 && memcmp(module.text, base, at) == 0);
    return at == 0 || module.text[at - 1] == '.';
}

/* The next member of the object: its key, and its number. False at the end. */
static bool next_pattern(myth_json *j, char key[KEY_BYTES], size_t *n, double *value, const char *path, const char *of,
                         myth_status *st, myth_error *err)
{
    myth_json_token tok;
    *st = myth_json_next(j, &tok, err);
    if (*st != MYTH_OK || tok.type != MYTH_JSON_KEY)
        return false;
    *n = tok.len <= KEY_BYTES ? myth_json_text(key, &tok) : 0;
    if (!is_name(key, *n))
        *st = not_such(path, of, err);
    else if ((*st = myth_json_next(j, &tok, err)) == MYTH_OK && !myth_json_f64(value, &tok))
        *st = myth_json_fail(j, &tok, err, "expected a number for each module");
    return *st == MYTH_OK;
}

static myth_status read_pattern(config *c, myth_json *j, const char *path, pattern p, myth_error *err)
{
    static const char *const name[] = {"rank_pattern", "alpha_pattern"};
    char key[KEY_BYTES];
    size_t n;
    double value;
    myth_json_token tok;
    myth_status st = myth_json_next(j, &tok, err);
    if (st != MYTH_OK || tok.type == MYTH_JSON_NULL)
        return st;
    if (tok.type != MYTH_JSON_OBJECT)
        return myth_json_fail(j, &tok, err, "expected an object");
    c->at[p] = tok.off;
    while (next_pattern(j, key, &n, &value, path, name[p], &st, err))
        if (p == RANKS ? value < 1 : value == 0)
            return myth_fail(err, MYTH_EFORMAT, "%s: %s: %.*s: expected a number above 0", path, name[p],
                             (int)(n < 80 ? n : 80), key);
    return st;
}

/* What the pattern says of a module: that of its first key that fits; `all` where none does. */
static double pattern_of(const config *c, pattern p, myth_str module, double all)
{
    char key[KEY_BYTES];
    size_t n;
    double value;
    myth_json j;
    myth_json_token tok;
    myth_status st;
    if (!c->at[p])
        return all;
    myth_json_start(&j, c->text + c->at[p], c->n_text - c->at[p], "");
    if (myth_json_next(&j, &tok, NULL) != MYTH_OK)
        return all;
    while (next_pattern(&j, key, &n, &value, "", "", &st, NULL))
        if (is_key_of(key, n, module))
            return value;
    return all;
}

/* ---- the whole config ---- */

static myth_status read_config(config *c, myth_json *j, const char *path, myth_error *err)
{
    static const char *const unset[] = {"use_dora",       "bias",       "modules_to_save",
                                        "fan_in_fan_out", "lora_bias",  "layer_replication",
                                        "use_qalora",     "use_bdlora", "alora_invocation_tokens"};
    myth_json_token tok;
    myth_status st = myth_json_next(j, &tok, err);
    if (st == MYTH_OK && tok.type != MYTH_JSON_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: expected an object", path);
    while (st == MYTH_OK && (st = myth_json_next(j, &tok, err)) == MYTH_OK && tok.type == MYTH_JSON_KEY) {
        const char *found = NULL;
        for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
            if (myth_json_is(&tok, unset[i]))
                found = unset[i];
        const bool is_rank = myth_json_is(&tok, "r"), is_alpha = myth_json_is(&tok, "lora_alpha");
        const bool is_root = myth_json_is(&tok, "use_rslora"), is_start = myth_json_is(&tok, "init_lora_weights");
        if (found) {
            st = must_be_unset(j, path, found, err);
        } else if (myth_json_is(&tok, "rank_pattern") || myth_json_is(&tok, "alpha_pattern")) {
            st = read_pattern(c, j, path, myth_json_is(&tok, "rank_pattern") ? RANKS : ALPHAS, err);
        } else if (is_start || myth_json_is(&tok, "peft_type")) {
            st = myth_json_next(j, &tok, err);
            if (st == MYTH_OK)
                st = is_start ? check_start(&tok, path, err) : check_kind(&tok, path, err);
        } else if (is_rank || is_alpha || is_root) {
            st = myth_json_next(j, &tok, err);
            if (st == MYTH_OK && is_root && tok.type != MYTH_JSON_TRUE && tok.type != MYTH_JSON_FALSE &&
                tok.type != MYTH_JSON_NULL)
                return myth_json_fail(j, &tok, err, "use_rslora: expected true or false");
            if (st == MYTH_OK && is_root)
                c->is_rank_root = tok.type == MYTH_JSON_TRUE;
            else if (st == MYTH_OK && !myth_json_f64(is_rank ? &c->rank : &c->alpha, &tok))
                return myth_json_fail(j, &tok, err, "r, lora_alpha: expected a number");
        } else {
            st = myth_json_skip(j, err);
        }
    }
    if (st == MYTH_OK)
        st = myth_json_next(j, &tok, err); /* nothing behind the closing brace */
    if (st == MYTH_OK && (!(c->rank >= 1) || !(c->alpha > 0)))
        return myth_fail(err, MYTH_EFORMAT, "%s: r and lora_alpha: expected two numbers above 0", path);
    return st;
}

/* The config beside the adapter's file. */
static myth_status open_config(config *c, myth_mem *mem, const char *file, myth_error *err)
{
    char path[PATH_MAX];
    const char *slash = strrchr(file, '/');
    myth_json j;
    if (snprintf(path, sizeof(path), "%.*sadapter_config.json", slash ? (int)(slash + 1 - file) : 0, file) >=
        (int)sizeof(path))
        return myth_fail(err, MYTH_ELIMIT, "%.80s...: path too long", file);
    myth_status st = myth_file_read(&c->text, &c->n_text, mem, path, CONFIG_BYTES, err);
    if (st != MYTH_OK)
        return st;
    myth_json_start(&j, c->text, c->n_text, path);
    return read_config(c, &j, path, err);
}

static myth_status check_gguf(config *c, const myth_lora *l, const myth_model *m, myth_error *err)
{
    const myth_meta *meta = myth_weights_meta(l->w);
    const char *path = myth_weights_path(l->w), *own = myth_config_gguf_name(&m->config);
    myth_str type = {NULL, 0}, kind = {NULL, 0}, arch = {NULL, 0};
    if (!myth_meta_str(&type, meta, "general.type") || !myth_str_is(type, "adapter") ||
        !myth_meta_str(&kind, meta, "adapter.type") || !myth_str_is(kind, "lora"))
        return myth_fail(err, MYTH_EFORMAT, "%s: no adapter: general.type is not adapter, or adapter.type not lora",
                         path);
    if (myth_meta_str(&arch, meta, "general.architecture") && !myth_str_is(arch, own))
        return myth_fail(err, MYTH_EFORMAT, "%s: an adapter of %.*s, the model is %s", path,
                         (int)(arch.len < 40 ? arch.len : 40), arch.text, own);
    if (myth_meta_find(meta, "adapter.alora.invocation_tokens"))
        return not_such(path, "adapter.alora.invocation_tokens", err);
    if (!myth_meta_f64(&c->alpha, meta, "adapter.lora.alpha"))
        c->alpha = 0; /* then the product is added as it is */
    return MYTH_OK;
}

/* ---- pairs ---- */

static bool is_of_tower(myth_str name)
{
    static const char *const tower[] = {"vision_tower.", "audio_tower.", "embed_vision.", "embed_audio.",
                                        "multi_modal_projector."};
    for (size_t i = 0; i < sizeof(tower) / sizeof(tower[0]); i++)
        for (size_t at = 0, n = strlen(tower[i]); at + n <= name.len; at++)
            if (memcmp(name.text + at, tower[i], n) == 0)
                return true;
    return false;
}

/* Whether name is [anything.]stem + tail. */
static bool ends_in(myth_str name, const char *stem, size_t n_stem, const char *tail)
{
    const size_t n_tail = strlen(tail), n = n_stem + n_tail;
    if (name.len < n || memcmp(name.text + name.len - n, stem, n_stem) != 0 ||
        memcmp(name.text + name.len - n_tail, tail, n_tail) != 0)
        return false;
    return name.len == n || name.text[name.len - n - 1] == '.';
}

/* Finds both halves for a matrix; false when the adapter has neither. */
static bool find_pair(const myth_lora *l, const char *hf, const char *gguf, pair *out)
{
    static const char *const tail[2][3] = {{".lora_A.weight", ".lora_A.default.weight", ".weight.lora_a"},
                                           {".lora_B.weight", ".lora_B.default.weight", ".weight.lora_b"}};
    const size_t n_hf = strlen(hf) - strlen(".weight"), n_gguf = strlen(gguf) - strlen(".weight");
    const myth_tensor *half[2] = {NULL, NULL};
    for (uint32_t i = 0; i < myth_weights_n_tensor(l->w); i++) {
        const myth_tensor *t = myth_weights_at(l->w, i);
        for (int h = 0; h < 2; h++)
            if ((ends_in(t->name, hf, n_hf, tail[h][0]) || ends_in(t->name, hf, n_hf, tail[h][1]) ||
                 ends_in(t->name, gguf, n_gguf, tail[h][2])) &&
                !is_of_tower(t->name))
                half[h] = t;
    }
    snprintf(out->name, sizeof(out->name), "%s", gguf);
    out->a = half[0];
    out->b = half[1];
    return half[0] || half[1];
}

/* The name of the module that the pair is added to: that of its A without the end. */
static myth_str module_of(const pair *p)
{
    static const char end[] = ".lora_A.";
    const size_t n = sizeof(end) - 1;
    const myth_str name = p->a->name;
    for (size_t i = name.len; i >= n; i--)
        if (memcmp(name.text + i - n, end, n) == 0)
            return (myth_str){name.text, i - n};
    return name;
}

static myth_status check_pair(const pair *p, const myth_slot_src *s, const config *c, const char *path, myth_error *err)
{
    if (!p->a || !p->b)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s: half of the pair is missing", path, p->name);
    if (p->a->n_dim != 2 || p->b->n_dim != 2 || p->a->dim[1] != s->cols || p->b->dim[0] != s->rows ||
        p->a->dim[0] != p->b->dim[1] || p->a->dim[0] == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s: A [%llu, %llu] and B [%llu, %llu] for a matrix of [%llu, %llu]",
                         path, p->name, (unsigned long long)p->a->dim[0], (unsigned long long)p->a->dim[1],
                         (unsigned long long)p->b->dim[0], (unsigned long long)p->b->dim[1],
                         (unsigned long long)s->rows, (unsigned long long)s->cols);
    if (p->a->dim[0] > RANK_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s: rank %llu, at most %d", path, p->name,
                         (unsigned long long)p->a->dim[0], RANK_MAX);
    const double rank = pattern_of(c, RANKS, module_of(p), c->rank);
    if (rank > 0 && (double)p->a->dim[0] != rank)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s: rank %llu, the config says %g", path, p->name,
                         (unsigned long long)p->a->dim[0], rank);
    return MYTH_OK;
}

static float scale_of(const config *c, const pair *p, float scale)
{
    const double rank = (double)p->a->dim[0], alpha = pattern_of(c, ALPHAS, module_of(p), c->alpha);
    return alpha == 0 ? scale : (float)((double)scale * alpha / (c->is_rank_root ? sqrt(rank) : rank));
}

/* Goes over the model's matrices; with l->pair NULL it counts what is there. */
static myth_status match(myth_lora *l, const myth_model *m, const config *c, myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    const bool counts = !l->pair;
    uint32_t n = 0;
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, &m->config);) {
        pair p;
        const bool is_plain = it.slot->cols != MYTH_DIM_ONE && it.slot->stack == MYTH_DIM_ONE && !it.slot->is_part &&
                              it.slot != &myth_slots_model[MYTH_SLOT_EMBED] &&
                              it.slot != &myth_slots_model[MYTH_SLOT_HEAD];
        myth_slot_names(hf, gguf, it.slot, it.layer);
        const size_t n_hf = strlen(hf), n_gguf = strlen(gguf);
        if (!is_plain || n_hf < 8 || n_gguf < 8 || strcmp(hf + n_hf - 7, ".weight") != 0 ||
            strcmp(gguf + n_gguf - 7, ".weight") != 0 || !find_pair(l, hf, gguf, &p))
            continue;
        const myth_slot_src s = myth_slot_find(m->weights, &m->config, it.slot, it.layer);
        if (!s.t)
            continue; /* this layer reads another's */
        if (!counts) {
            myth_status st = check_pair(&p, &s, c, myth_weights_path(l->w), err);
            if (st != MYTH_OK)
                return st;
            p.scale = scale_of(c, &p, l->scale);
            if (!isfinite(p.scale))
                return myth_fail(err, MYTH_EFORMAT, "%s: alpha %g is too large", myth_weights_path(l->w), c->alpha);
            l->pair[n] = p;
            const uint64_t size = p.a->dim[0] * p.a->dim[1];
            l->widest = size > l->widest ? size : l->widest;
        }
        n++;
    }
    l->n_pair = n;
    return MYTH_OK;
}

static int compare(const void *a, const void *b) { return strcmp(((const pair *)a)->name, ((const pair *)b)->name); }

/* Every tensor is half of a pair, or of a tower. */
static myth_status check_all_used(myth_lora *l, myth_error *err)
{
    for (uint32_t i = 0; i < myth_weights_n_tensor(l->w); i++) {
        const myth_tensor *t = myth_weights_at(l->w, i);
        bool is_used = is_of_tower(t->name);
        l->n_left_out += is_used;
        for (uint32_t k = 0; k < l->n_pair && !is_used; k++)
            is_used = l->pair[k].a == t || l->pair[k].b == t;
        if (!is_used)
            return myth_fail(err, MYTH_EFORMAT,
                             "%s: %.*s: the model has no matrix of this name that it can be added to",
                             myth_weights_path(l->w), (int)(t->name.len < 120 ? t->name.len : 120), t->name.text);
    }
    return l->n_pair ? MYTH_OK
                     : myth_fail(err, MYTH_EFORMAT, "%s: no adapter: it has no pair", myth_weights_path(l->w));
}

static uint64_t hash_of(const myth_lora *l)
{
    uint64_t hash = MYTH_FNV1A;
    for (uint32_t i = 0; i < l->n_pair; i++) {
        const pair *p = &l->pair[i];
        const uint32_t type[] = {(uint32_t)p->a->dtype, (uint32_t)p->b->dtype};
        hash = myth_fnv1a(hash, p->name, strlen(p->name));
        hash = myth_fnv1a(hash, type, sizeof(type));
        hash = myth_fnv1a(hash, p->a->dim, sizeof(p->a->dim));
        hash = myth_fnv1a(hash, p->b->dim, sizeof(p->b->dim));
        hash = myth_fnv1a(hash, &p->scale, sizeof(p->scale));
        hash = myth_fnv1a(hash, p->a->data, (size_t)p->a->bytes);
        hash = myth_fnv1a(hash, p->b->data, (size_t)p->b->bytes);
    }
    return hash;
}

static bool has_pickled(const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    return snprintf(path, sizeof(path), "%s/adapter_model.bin", folder) < (int)sizeof(path) && stat(path, &info) == 0;
}

myth_status myth_lora_open(myth_lora **out, const myth_model *m, const char *path, float scale, myth_error *err)
{
    const myth_weights_opts opts = {
        .level = MYTH_WEIGHTS_DATA,
        .pread = myth_weights_is_read(m->weights),
        .is_piece = true,
    };
    struct stat info;
    char file[PATH_MAX];
    config c = {.rank = 0};
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_lora *l = myth_alloc(m->mem, MYTH_MEM_OTHER, "adapter", sizeof(*l));
    if (!l)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for an adapter");
    *l = (myth_lora){.mem = m->mem, .scale = scale};
    const bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (snprintf(file, sizeof(file), "%s%s", path, is_folder ? "/adapter_model.safetensors" : "") >= (int)sizeof(file))
        MYTH_TRY(myth_fail(err, MYTH_ELIMIT, "%.80s...: path too long", path));
    if (is_folder && stat(file, &info) != 0 && has_pickled(path))
        MYTH_TRY(myth_fail(err, MYTH_EUNSUPPORTED,
                           "%s: adapter_model.bin is pickled, which is not read; save it with peft's "
                           "save_pretrained(safe_serialization=True)",
                           path));
    if (stat(file, &info) != 0) /* the name of a model in the cache is none of an adapter */
        MYTH_TRY(
            myth_fail(err, MYTH_ENOTFOUND, "%s: no such file; give a folder of peft, a .safetensors or a .gguf", file));
    MYTH_TRY(myth_weights_open(&l->w, m->mem, file, &opts, err));
    if (myth_weights_get_format(l->w) == MYTH_FORMAT_GGUF)
        MYTH_TRY(check_gguf(&c, l, m, err));
    else if (myth_weights_get_format(l->w) == MYTH_FORMAT_SAFETENSORS)
        MYTH_TRY(open_config(&c, m->mem, file, err));
    else
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%s: expected a folder of peft, a .safetensors or a .gguf file", path));
    MYTH_TRY(match(l, m, &c, err));
    l->pair = myth_alloc_n(m->mem, MYTH_MEM_OTHER, "adapter", l->n_pair + 1, sizeof(*l->pair));
    if (!l->pair)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for %u matrices", l->n_pair));
    MYTH_TRY(match(l, m, &c, err));
    qsort(l->pair, l->n_pair, sizeof(*l->pair), compare);
    MYTH_TRY(check_all_used(l, err));
    l->a = myth_alloc_n(m->mem, MYTH_MEM_OTHER, "adapter", l->widest, sizeof(*l->a));
    if (!l->a)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for %llu values", (unsigned long long)l->widest));
    l->hash = hash_of(l);
fail:
    myth_free(m->mem, c.text);
    if (st == MYTH_OK)
        *out = l;
    else
        myth_lora_close(l);
    return st;
}

void myth_lora_close(myth_lora *l)
{
    if (!l)
        return;
    myth_free(l->mem, l->a);
    myth_free(l->mem, l->pair);
    myth_weights_close(l->w);
    myth_free(l->mem, l);
}

uint32_t myth_lora_n_matrix(const myth_lora *l) { return l->n_pair; }
uint32_t myth_lora_n_left_out(const myth_lora *l) { return l->n_left_out; }
float myth_lora_scale(const myth_lora *l) { return l->scale; }
const myth_weights *myth_lora_weights(const myth_lora *l) { return l->w; }

uint64_t myth_lora_hash(const myth_lora *l) { return l->hash; }

uint64_t myth_lora_booked(const myth_lora *l)
{
    return sizeof(*l) + (l->n_pair + 1ull) * sizeof(*l->pair) + l->widest * sizeof(*l->a) + myth_weights_booked(l->w);
}

static int by_name(const void *name, const void *p) { return strcmp(name, ((const pair *)p)->name); }

static const pair *pair_of(const myth_lora *l, const char *name)
{
    return bsearch(name, l->pair, l->n_pair, sizeof(*l->pair), by_name);
}

uint32_t myth_lora_rank(const myth_lora *l, const char *gguf_name)
{
    const pair *p = pair_of(l, gguf_name);
    return p ? (uint32_t)p->a->dim[0] : 0;
}

/* n values of a row from `from` on, which is a whole number of blocks. */
static void read_row(float *dst, const myth_tensor *t, uint64_t row, uint64_t from, uint64_t n)
{
    const unsigned char *at = (const unsigned char *)t->data + row * myth_row_bytes(t->dtype, t->dim[1]);
    myth_dequant_row(t->dtype, dst, at + myth_row_bytes(t->dtype, from), n);
}

void myth_lora_row_of_a(const myth_lora *l, const char *gguf_name, uint32_t k, uint64_t col, uint64_t n, float *dst)
{
    read_row(dst, pair_of(l, gguf_name)->a, k, col, n);
}

void myth_lora_column_of_b(const myth_lora *l, const char *gguf_name, uint32_t k, uint64_t row, uint64_t n, float *dst)
{
    const pair *p = pair_of(l, gguf_name);
    const uint32_t block = myth_dtype_block(p->b->dtype); /* at most 256 */
    float b[256];
    for (uint64_t i = 0; i < n; i++) {
        read_row(b, p->b, row + i, k - k % block, block);
        dst[i] = p->scale * b[k % block];
    }
}

static void add_part(myth_lora *l, const pair *p, uint64_t row, uint64_t col, uint64_t n, float *x)
{
    float b[256];
    const uint64_t rank = p->a->dim[0], cols = p->a->dim[1];
    for (uint64_t k = 0; p != l->at && k < rank; k++)
        read_row(l->a + k * cols, p->a, k, 0, cols);
    l->at = p;
    for (uint64_t k0 = 0; k0 < rank; k0 += 256) { /* 256 is a whole number of blocks of any type */
        const uint64_t n_k = rank - k0 < 256 ? rank - k0 : 256;
        read_row(b, p->b, row, k0, n_k);
        for (uint64_t k = 0; k < n_k; k++) {
            const float by = p->scale * b[k], *a = l->a + (k0 + k) * cols + col;
            for (uint64_t c = 0; c < n; c++)
                x[c] += by * a[c];
        }
    }
}

void myth_lora_add_part(myth_lora *l, const char *gguf_name, uint64_t row, uint64_t col, uint64_t n, float *x)
{
    const pair *p = pair_of(l, gguf_name);
    if (p)
        add_part(l, p, row, col, n, x);
}

void myth_lora_add(myth_lora *l, const char *gguf_name, uint64_t row, uint64_t n_row, float *x)
{
    const pair *p = pair_of(l, gguf_name);
    for (uint64_t i = 0; p && i < n_row; i++)
        add_part(l, p, row + i, 0, p->a->dim[1], x + i * p->a->dim[1]);
}
