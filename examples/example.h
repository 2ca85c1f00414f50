/* example.h - what the examples share: a model and an engine opened and closed, text to ids and back, failures told. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <engine/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_mem *mem;
    myth_model model;
    myth_engine *engine;
    myth_error err;
} example;

static inline void must(const example *x, myth_status st)
{
    if (st == MYTH_OK)
        return;
    fprintf(stderr, "%s\n", x->err.msg);
    exit(1);
}

/* Everything that the engine takes is planned and taken here; 1 GiB is the limit of the host's ledger. */
static inline void open_example(example *x, const char *spec, const myth_engine_opts *opts)
{
    *x = (example){0};
    must(x, myth_mem_open(&x->mem, 1ull << 30, &x->err));
    must(x, myth_model_open(&x->model, x->mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &x->err));
    must(x, myth_engine_open(&x->engine, &x->model, opts, &x->err));
}

/* 0 when the ledger reads zero: nothing was left behind. */
static inline int close_example(example *x)
{
    myth_engine_close(x->engine);
    myth_model_close(&x->model);
    return myth_mem_close(x->mem) == 0 ? 0 : 1;
}

/* <bos> and the ids of a text, cap at most. A random: model has no vocabulary: bytes stand in for ids. */
static inline uint32_t encode(example *x, const char *text, int32_t *ids, uint32_t cap)
{
    size_t n = 0;
    if (!x->model.tokenizer) {
        for (; text[n] && n < cap; n++)
            ids[n] = (unsigned char)text[n] % (int32_t)x->model.config.n_vocab;
        return (uint32_t)n;
    }
    ids[0] = myth_tokenizer_special(x->model.tokenizer)->bos;
    must(x, myth_tokenizer_encode(x->model.tokenizer, x->mem, MYTH_TOK_CONTENT, text, strlen(text), ids + 1, cap - 1,
                                  &n, &x->err));
    return (uint32_t)(n < cap - 1 ? n : cap - 1) + 1;
}

static inline void print_ids(const example *x, const int32_t *ids, uint32_t n)
{
    char piece[256];
    for (uint32_t i = 0; i < n; i++)
        if (x->model.tokenizer) {
            const size_t len = myth_tokenizer_bytes_of(x->model.tokenizer, ids[i], piece, sizeof(piece));
            fwrite(piece, 1, len < sizeof(piece) ? len : sizeof(piece), stdout);
        } else {
            printf(" %d", (int)ids[i]);
        }
}

#endif
