/* inspect_base.c - writes what decides the answers as "name=value;". */
#include "inspect_base.h"

#include "calibration.h"
#include "engine/base/hash.h"
#include "engine/base/mtime.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void myth_base_add(myth_inspect_base *b, const char *name, const char *value)
{
    const size_t left = sizeof(b->text) - b->n;
    const int more = snprintf(b->text + b->n, left, "%s=%s;", name, value ? value : "");
    b->n += more > 0 && (size_t)more < left ? (size_t)more : 0;
}

static void add_file(myth_inspect_base *b, const char *kind, const char *name, const struct stat *sb)
{
    char value[PATH_MAX + 128];
    snprintf(value, sizeof(value), "%s %lld %lld %llu", name, (long long)sb->st_size, (long long)myth_mtime_ns(sb),
             (unsigned long long)sb->st_ino);
    myth_base_add(b, kind, value);
}

/* Beside a file of weights. */
static void add_tokenizers(myth_inspect_base *b, const char *path)
{
    static const char *const name[] = {"tokenizer.json", "tokenizer.model"};
    const char *slash = strrchr(path, '/');
    for (int i = 0; i < 2; i++) {
        char file[PATH_MAX];
        struct stat sb;
        snprintf(file, sizeof(file), "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name[i]);
        if (stat(file, &sb) == 0 && S_ISREG(sb.st_mode))
            add_file(b, "file", name[i], &sb);
    }
}

/* Adds what changes with a file's content to one number for all: a split model may have more files than b has room. */
static uint64_t add_part(uint64_t hash, const char *path)
{
    struct stat sb;
    if (stat(path, &sb) != 0)
        return hash;
    const int64_t row[] = {(int64_t)sb.st_size, (int64_t)myth_mtime_ns(&sb), (int64_t)sb.st_ino};
    return myth_fnv1a(myth_fnv1a(hash, path, strlen(path)), row, sizeof(row));
}

static void add_hash(myth_inspect_base *b, uint64_t hash)
{
    char value[20];
    snprintf(value, sizeof(value), "%016" PRIx64, hash);
    myth_base_add(b, "parts", value);
}

/* All parts of a split file, by its name. */
static void add_parts(myth_inspect_base *b, const char *path)
{
    char part[PATH_MAX];
    uint64_t hash = MYTH_FNV1A;
    uint32_t n = 0;
    for (; myth_weights_part_path(part, path, n); n++)
        hash = add_part(hash, part);
    if (n)
        add_hash(b, hash);
}

void myth_base_files(myth_inspect_base *b, const myth_weights *w)
{
    uint64_t hash = MYTH_FNV1A;
    for (uint32_t i = 0; i < myth_weights_n_file(w); i++)
        hash = add_part(hash, myth_weights_file(w, i));
    if (myth_weights_n_file(w) > 1)
        add_hash(b, hash);
}

void myth_base_model(myth_inspect_base *b, const char *path)
{
    struct dirent **entry = NULL;
    struct stat sb;
    if (!path || stat(path, &sb) != 0)
        return;
    const int n_entry = S_ISDIR(sb.st_mode) ? scandir(path, &entry, NULL, alphasort) : 0;
    add_file(b, "model", path, &sb);
    if (!S_ISDIR(sb.st_mode)) {
        char beside[PATH_MAX + 16]; /* what calibrates the model as a judge */
        add_tokenizers(b, path);
        myth_calibration_file(beside, sizeof(beside), path);
        if (stat(beside, &sb) == 0)
            add_file(b, "judge", beside, &sb);
        add_parts(b, path);
    }
    for (int i = 0; i < n_entry; i++) {
        char file[PATH_MAX + 300];
        snprintf(file, sizeof(file), "%s/%s", path, entry[i]->d_name);
        if (stat(file, &sb) == 0 && S_ISREG(sb.st_mode))
            add_file(b, "file", entry[i]->d_name, &sb);
        free(entry[i]);
    }
    free(entry);
}

myth_status myth_base_settings(myth_inspect_base *b, myth_cli *cli, const myth_engine_flags *f,
                               const myth_sample_params *p, myth_error *err)
{
    char value[512];
    myth_engine_opts eo;
    myth_status st = myth_cli_engine_opts(cli, &eo, f, err);
    if (st != MYTH_OK)
        return st;
    myth_cli_program(value, sizeof(value));
    myth_base_add(b, "program", value);
    snprintf(value, sizeof(value), "%s %s %d %d %u %d %d %d %d %u", eo.device ? eo.device : "", cli->device,
             eo.is_exact, eo.has_gpu_layers, eo.n_gpu_layers, (int)eo.offload, eo.has_cache_type, (int)eo.type_k,
             (int)eo.type_v, eo.n_cpu_moe);
    myth_base_add(b, "device", value);
    myth_base_add(b, "level", eo.cpu_level);
    for (int i = 0; i < f->lora.n; i++) {
        char path[PATH_MAX];
        float scale;
        MYTH_TRY(myth_cli_lora_spec(path, sizeof(path), &scale, f->lora.item[i], err));
        myth_base_add(b, "lora", f->lora.item[i]);
        myth_base_model(b, path);
    }
    snprintf(value, sizeof(value), "%a %u %a %a %a %u %llu", (double)p->temp, p->top_k, (double)p->top_p,
             (double)p->min_p, (double)p->repeat_penalty, p->repeat_last_n, (unsigned long long)p->seed);
    myth_base_add(b, "sample", value);
fail:
    return st;
}

/* kind: what the prompts are, by the hash of their layout or a name. */
static bool rebase(myth_kept *kept, myth_cli *cli, const myth_engine_flags *f, const myth_sample_params *sample,
                   const char *kind, const myth_model *m)
{
    char tokenizer[20];
    myth_error err = {0};
    myth_inspect_base *b = calloc(1, sizeof(*b));
    bool is_done = b && myth_base_settings(b, cli, f, sample, &err) == MYTH_OK;
    if (is_done) {
        myth_base_add(b, "prompt", kind);
        myth_base_add(b, "weights", myth_weights_path(m->weights));
        snprintf(tokenizer, sizeof(tokenizer), "%016" PRIx64, m->tokenizer ? myth_tokenizer_hash(m->tokenizer) : 0);
        myth_base_add(b, "tokenizer", tokenizer);
        myth_base_model(b, myth_weights_path(m->weights));
        myth_base_files(b, m->weights);
        is_done = myth_kept_rebase(kept, b->text, b->n);
    }
    free(b);
    return is_done;
}

bool myth_base_answers(myth_kept *kept, myth_cli *cli, const myth_engine_flags *f, const myth_sample_params *sample,
                       myth_prompt_style style, const myth_model *m)
{
    char hash[MYTH_PROMPT_HASH_LEN + 1];
    myth_prompt_hash(hash, style);
    return rebase(kept, cli, f, sample, hash, m);
}

bool myth_base_scores(myth_kept *kept, myth_cli *cli, const myth_engine_flags *f, const myth_model *m)
{
    return rebase(kept, cli, f, &(myth_sample_params){0}, "scores", m);
}

myth_status myth_base_stat(myth_kept *key, const char *path, int64_t *newest_ns, myth_error *err)
{
    struct stat sb;
    if (stat(path, &sb) != 0)
        return myth_fail(err, MYTH_EIO, "%.200s: %s", path, strerror(errno));
    const int64_t changed = (int64_t)sb.st_ctim.tv_sec * 1000000000 + sb.st_ctim.tv_nsec;
    const int64_t row[] = {(int64_t)sb.st_dev,  (int64_t)sb.st_ino,          (int64_t)sb.st_size,
                           (int64_t)sb.st_mode, (int64_t)myth_mtime_ns(&sb), changed};
    myth_kept_add(key, row, sizeof(row));
    *newest_ns = changed > *newest_ns ? changed : *newest_ns;
    return MYTH_OK;
}
