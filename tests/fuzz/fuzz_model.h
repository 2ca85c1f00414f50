/* fuzz_model.h - what the targets of model files share: a folder in memory or TMPDIR, and one look at everything that
 * was read. */
#ifndef MYTH_FUZZ_MODEL_H
#define MYTH_FUZZ_MODEL_H

#include "engine/base/blocks.h"
#include "engine/engine.h"
#include "engine/model/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUZZ_ROW = 4096 };

static char fuzz_dir[256];
static volatile unsigned fuzz_sink; /* so that the reads stay */

static void fuzz_remove_dir(void)
{
    static const char *const names[] = {"config.json", "model.safetensors", "model.safetensors.index.json",
                                        "a.safetensors", "x.gguf"};
    char path[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", fuzz_dir, names[i]);
        unlink(path);
    }
    rmdir(fuzz_dir);
}

/* Writes a file of the folder; data NULL removes it. */
static void fuzz_put(const char *name, const void *data, size_t size)
{
    char path[512];
    if (!fuzz_dir[0]) {
        struct stat st;
        const char *tmp = getenv("TMPDIR");
        snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/mythos-fuzz-XXXXXX",
                 stat("/dev/shm", &st) == 0 ? "/dev/shm"
                 : tmp && *tmp              ? tmp
                                            : "/tmp");
        if (!mkdtemp(fuzz_dir))
            abort();
        atexit(fuzz_remove_dir);
    }
    snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
    unlink(path);
    if (!data)
        return;
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

/* An accepted model: the bytes of every slot lie inside its tensor, and the model can be planned or is refused. */
static inline void fuzz_slots(myth_weights *w, const myth_config *c, myth_mem *mem)
{
    const myth_model m = {.weights = w, .config = *c, .mem = mem};
    const myth_engine_opts opts = {.device = "cpu", .n_threads = 1};
    myth_plan plan;
    myth_error err = {0};
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, c);) {
        const myth_slot_src src = myth_slot_find(w, c, it.slot, it.layer);
        if (!src.t)
            continue;
        const uint64_t from = myth_row_bytes(src.t->dtype, src.first);
        if (from > src.t->bytes || src.bytes > src.t->bytes - from)
            abort();
        if (src.data && src.bytes)
            fuzz_sink += (unsigned)src.data[0] + src.data[src.bytes - 1];
    }
    if (myth_plan_make(&plan, &m, &opts, NULL, NULL, false, &err) != MYTH_OK && !err.msg[0])
        abort();
}

/* Opens at a level, reads the config, touches every fact and every byte of every tensor. True when all was accepted. */
static inline bool fuzz_open(const char *name, myth_weights_level level, size_t size)
{
    static myth_config c;
    char path[512];
    myth_mem *mem;
    myth_error err = {0};
    myth_weights *w = NULL;
    unsigned sum = 0;
    (void)sum;
    snprintf(path, sizeof(path), "%s%s%s", fuzz_dir, *name ? "/" : "", name);
    if (myth_mem_open(&mem, 8 * (uint64_t)size + (17u << 20), &err) != MYTH_OK)
        abort();
    bool ok = myth_weights_open(&w, mem, path, &(myth_weights_opts){.level = level}, &err) == MYTH_OK;
    if (!ok && err.code == MYTH_ENOMEM)
        abort(); /* more than 8 times the file and 16 MiB */
    if (ok) {
        const myth_meta *m = myth_weights_meta(w);
        for (uint32_t i = 0; i < myth_meta_count(m); i++) {
            const myth_meta_value *v = myth_meta_at(m, i);
            myth_str s = {NULL, 0};
            double f = 0;
            for (uint64_t pos = 0; myth_meta_next_str(&s, v, &pos);)
                for (size_t k = 0; k < s.len; k++)
                    sum += (unsigned char)s.text[k];
            if (v->type == MYTH_META_ARRAY && v->count && myth_meta_item_f64(&f, v, v->count - 1))
                sum += f > 0;
            if (v->type == MYTH_META_ARRAY && v->count && myth_meta_item_str(&s, v, v->count - 1))
                sum += (unsigned)s.len;
        }
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            if (myth_weights_find(w, t->name.text) != t)
                abort();
            for (uint64_t k = 0; t->data && k < t->bytes; k++)
                sum += ((const unsigned char *)t->data)[k];
            if (t->data && t->n_dim && t->dim[t->n_dim - 1] <= FUZZ_ROW) { /* the last row as floats */
                static float row[FUZZ_ROW];
                const uint64_t n = t->dim[t->n_dim - 1], bytes = myth_row_bytes(t->dtype, n);
                myth_dequant_row(t->dtype, row, (const unsigned char *)t->data + t->bytes - bytes, n);
                sum += row[n - 1] > 0.0f;
            }
        }
        fuzz_sink = sum;
        ok = myth_config_read(&c, w, &err) == MYTH_OK;
        if (ok && level >= MYTH_WEIGHTS_HEADER)
            fuzz_slots(w, &c, mem);
    }
    if (!ok && (err.code == MYTH_OK || !err.msg[0]))
        abort();
    myth_weights_close(w);
    if (myth_mem_close(mem) != 0)
        abort();
    return ok;
}

#endif
