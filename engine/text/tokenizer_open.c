/* tokenizer_open.c - finds the tokenizer of a model: in its GGUF file, beside its safetensors, or none (random: models
 * have bytes). */
#include "tokenizer_impl.h"
#include "engine/base/map.h"
#include "engine/base/text.h"
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 256 << 20 }; /* Gemma 3's tokenizer.json has 33 MB */

static bool is_dir(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

static myth_status open_mapped(myth_tokenizer **out, myth_mem *mem, const char *path, myth_error *err)
{
    myth_map map = {.fd = -1};
    myth_status st = myth_map_open(&map, mem, path, 0, MYTH_MEM_STAGING, err);
    if (st != MYTH_OK)
        return st;
    bool json = myth_text_ends(path, ".json") || (!myth_text_ends(path, ".model") && map.size && map.base[0] == '{');
    if (map.size > FILE_MAX_BYTES)
        st = myth_fail(err, MYTH_EFORMAT, "%s: got %llu bytes, expected at most %d for a tokenizer", path,
                       (unsigned long long)map.size, FILE_MAX_BYTES);
    else if (json)
        st = myth_tok_open_json(out, mem, map.base, map.size, path, err);
    else
        st = myth_tok_open_spm(out, mem, map.base, map.size, path, err);
    if (st == MYTH_OK && (st = myth_map_check(&map, err)) != MYTH_OK) {
        myth_tokenizer_close(*out);
        *out = NULL;
    }
    if (st == MYTH_OK)
        (*out)->file_bytes = map.size;
    myth_map_close(&map);
    return st;
}

uint64_t myth_tokenizer_file_bytes(const myth_tokenizer *t) { return t->file_bytes; }

static myth_status open_in(myth_tokenizer **out, myth_mem *mem, const char *dir, size_t n_dir, myth_error *err)
{
    static const char *const name[] = {"tokenizer.json", "tokenizer.model"};
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        struct stat sb;
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n_dir, dir, name[i]) >= (int)sizeof path)
            return myth_fail(err, MYTH_ENOTFOUND, "%.*s: path too long", (int)n_dir, dir);
        if (stat(path, &sb) == 0)
            return open_mapped(out, mem, path, err);
    }
    return myth_fail(err, MYTH_ENOTFOUND, "%.*s: no tokenizer.json and no tokenizer.model", (int)n_dir, dir);
}

myth_status myth_tokenizer_open_file(myth_tokenizer **out, myth_mem *mem, const char *path, myth_error *err)
{
    *out = NULL;
    return is_dir(path) ? open_in(out, mem, path, strlen(path), err) : open_mapped(out, mem, path, err);
}

/* Rows of the embedding, as the made model states them. */
static uint32_t random_rows(const myth_weights *w, bool *is_gemma4)
{
    const myth_meta *m = myth_weights_meta(w);
    myth_str family = {"", 0};
    char key[64];
    uint32_t n = 0;
    myth_meta_str(&family, m, "general.architecture");
    *is_gemma4 = myth_str_is(family, "gemma4");
    snprintf(key, sizeof key, "%.*s.vocab_size", (int)(family.len < 32 ? family.len : 32), family.text);
    myth_meta_u32(&n, m, key);
    return n;
}

/* One more id that ends a text; one outside the vocabulary never comes. */
static myth_status add_end(myth_tokenizer *t, const char *path, int64_t id, myth_error *err)
{
    if (id < 0 || id >= (int64_t)myth_tokenizer_n_vocab(t))
        return MYTH_OK;
    for (uint32_t i = 0; i < t->n_end; i++)
        if (t->end[i] == id)
            return MYTH_OK;
    if (t->n_end == MYTH_TOK_END_MAX)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: eos_token_id: at most %d ids are supported", path,
                         MYTH_TOK_END_MAX);
    t->end[t->n_end++] = (int32_t)id;
    return MYTH_OK;
}

static myth_status add_ends(myth_tokenizer *t, const char *path, const myth_meta_value *v, myth_error *err)
{
    int64_t id = 0;
    myth_status st = MYTH_OK;
    if (v->type == MYTH_META_INT || (v->type == MYTH_META_UINT && v->v.u <= INT64_MAX))
        return add_end(t, path, v->type == MYTH_META_INT ? v->v.i : (int64_t)v->v.u, err);
    bool is_list = v->type == MYTH_META_ARRAY;
    for (uint64_t i = 0; is_list && i < v->count && st == MYTH_OK; i++)
        if ((is_list = myth_meta_item_i64(&id, v, i)))
            st = add_end(t, path, id, err);
    return is_list ? st
                   : myth_fail(err, MYTH_EFORMAT, "%s: %.*s: expected an id or a list of ids", path, (int)v->key.len,
                               v->key.text);
}

/* A generation_config.json is what generates; GGUF has a key for each. */
static myth_status read_ends(myth_tokenizer *t, const myth_weights *w, myth_error *err)
{
    static const char *const hf[] = {"generation_config.eos_token_id", "eos_token_id", "text_config.eos_token_id"},
                             *const gguf[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                              "tokenizer.ggml.eom_token_id"};
    const bool is_gguf = myth_weights_get_format(w) == MYTH_FORMAT_GGUF;
    myth_status st = MYTH_OK;
    for (int i = 0; i < 3 && st == MYTH_OK; i++) {
        const myth_meta_value *v = myth_meta_find(myth_weights_meta(w), is_gguf ? gguf[i] : hf[i]);
        if (!v)
            continue;
        st = add_ends(t, myth_weights_path(w), v, err);
        if (!is_gguf)
            break;
    }
    return st;
}

uint32_t myth_tokenizer_ends(const myth_tokenizer *t, int32_t ids[MYTH_TOK_END_MAX])
{
    memcpy(ids, t->end, sizeof t->end);
    return t->n_end;
}

static myth_status open_of(myth_tokenizer **out, myth_mem *mem, const myth_weights *w, myth_error *err)
{
    const char *path = myth_weights_path(w);
    bool is_gemma4 = false;
    uint32_t n_rows;
    *out = NULL;
    switch (myth_weights_get_format(w)) {
    case MYTH_FORMAT_GGUF: return myth_tok_open_gguf(out, mem, myth_weights_meta(w), path, err);
    case MYTH_FORMAT_RANDOM:
        n_rows = random_rows(w, &is_gemma4);
        return myth_tok_open_bytes(out, mem, n_rows, is_gemma4, myth_weights_name(w), err);
    default: break;
    }
    if (is_dir(path))
        return open_in(out, mem, path, strlen(path), err);
    const char *slash = strrchr(path, '/');
    return open_in(out, mem, slash ? path : ".", slash ? (size_t)(slash - path) : 1, err);
}

myth_status myth_tokenizer_open(myth_tokenizer **out, myth_mem *mem, const myth_weights *w, myth_error *err)
{
    myth_status st = open_of(out, mem, w, err);
    if (st == MYTH_OK && (st = read_ends(*out, w, err)) != MYTH_OK) {
        myth_tokenizer_close(*out);
        *out = NULL;
    }
    return st;
}
