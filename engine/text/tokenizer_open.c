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

myth_status myth_tokenizer_open(myth_tokenizer **out, myth_mem *mem, const myth_weights *w, myth_error *err)
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
