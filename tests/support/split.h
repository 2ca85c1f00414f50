/* split.h - writes an open GGUF model as the parts of a split file, the way llama.cpp's gguf-split does, and with the
 * faults that tests ask for. Asserts through cmocka.
 *
 * Names    PREFIX-00001-of-00003.gguf; the tensors are dealt out in their order, in runs of equal length
 * Keys     the first part has those of the model; each has split.no (u16), split.count (u16), split.tensors.count (i32)
 */
#ifndef MYTH_TESTS_SPLIT_H
#define MYTH_TESTS_SPLIT_H

#include "check.h"
#include "engine/make/gguf_write.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    uint32_t n_part;
    bool is_first_empty; /* the first part has facts alone, as with --no-tensor-first-split */
    int32_t no[8];       /* split.no of each part when has_no */
    bool has_no;
    uint32_t count;           /* split.count when not 0 */
    uint32_t n_tensor;        /* split.tensors.count when not 0 */
    uint32_t n_more;          /* added to split.tensors.count */
    const char *architecture; /* a key of the second part; NULL = none */
    bool has_twice;           /* the last part has the first tensor once more */
    const char *without;      /* a split key that the parts lack */
} split_spec;

static inline void split_key(myth_gguf_writer *g, const char *key, uint32_t raw_type, uint64_t v)
{
    const myth_meta_value value = {
        .key = {key, strlen(key)},
        .type = raw_type == MYTH_GGUF_I32 ? MYTH_META_INT : MYTH_META_UINT,
        .v = {.u = v},
        .raw_type = raw_type,
    };
    myth_gguf_put_value(g, &value);
}

static inline void split_part(const char *prefix, const myth_weights *w, myth_mem *mem, const split_spec *s, uint32_t i)
{
    static const char *const key[] = {"split.no", "split.count", "split.tensors.count"};
    const uint32_t n = myth_weights_n_tensor(w), n_with = s->n_part - s->is_first_empty;
    const uint32_t at = i - s->is_first_empty, no = s->has_no ? (uint32_t)s->no[i] : i;
    const bool is_empty = s->is_first_empty && i == 0, is_last = i + 1 == s->n_part;
    const uint32_t from = is_empty ? 0 : n * at / n_with, to = is_empty ? 0 : n * (at + 1) / n_with;
    const uint64_t value[] = {no, s->count ? s->count : s->n_part, (s->n_tensor ? s->n_tensor : n) + s->n_more};
    const bool has_more = s->has_twice && is_last;
    char path[PATH_MAX];
    myth_gguf_writer *g = NULL;
    myth_error err = {0};
    snprintf(path, sizeof(path), "%s-%05u-of-%05u.gguf", prefix, i + 1, s->n_part);
    assert_int_equal(myth_gguf_open(&g, mem, path, to - from + has_more, &err), MYTH_OK);
    for (uint32_t k = 0; i == 0 && k < myth_meta_count(myth_weights_meta(w)); k++)
        myth_gguf_put_value(g, myth_meta_at(myth_weights_meta(w), k));
    for (int k = 0; k < 3; k++)
        if (!s->without || strcmp(s->without, key[k]) != 0)
            split_key(g, key[k], k == 2 ? MYTH_GGUF_I32 : MYTH_GGUF_U16, value[k]);
    if (i == 1 && s->architecture)
        myth_gguf_put_str(g, "general.architecture", (myth_str){s->architecture, strlen(s->architecture)});
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = from; k < to + has_more; k++) {
            const myth_tensor *t = myth_weights_at(w, k < to ? k : 0);
            if (pass == 0)
                myth_gguf_declare(g, t->name, t->dtype, t->n_dim, t->dim);
            else
                myth_gguf_data(g, t->data, t->bytes);
        }
    assert_int_equal(myth_gguf_close(g, true, &err), MYTH_OK);
}

/* w was opened with its data. */
static inline void split_make(const char *prefix, const myth_weights *w, myth_mem *mem, const split_spec *s)
{
    for (uint32_t i = 0; i < s->n_part; i++)
        split_part(prefix, w, mem, s, i);
}

#endif
