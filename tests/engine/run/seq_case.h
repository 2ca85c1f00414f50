/* seq_case.h - the models, devices and cache types of test_seq.c, and its oracle: another engine, which is fed only the
 * tokens of one sequence. */
#ifndef MYTH_TESTS_SEQ_CASE_H
#define MYTH_TESTS_SEQ_CASE_H

#include "tests/support/rig.h"

#include <math.h>

enum { CTX = 48 };

/* head_dim 32, so that every cache type fits; the weight types whose kernels differ; windows of 5 to 9 wrap several
 * times */
static const char *const models[] = {"gemma2-old",
                                     "gemma3-layers",
                                     "gemma3-sharded",
                                     "random:gemma1-tiny:q8_0",
                                     "random:gemma2-tiny:q4_0",
                                     "random:gemma3-tiny:q8_0",
                                     "random:gemma3-tiny:bf16",
                                     "random:gemma4-tiny:q8_0",
                                     "random:gemma3n-tiny:q8_0"};

typedef struct {
    const char *model;
    const char *target; /* NULL = rig_target() */
    myth_dtype k, v;    /* types of the cache */
} combo;

static combo all_combos[5 * sizeof(models) / sizeof(models[0]) * RIG_TARGET_MAX];
static uint32_t n_combo;

static int make_combos(void **state)
{
    (void)state;
    static const struct {
        myth_dtype k, v;
    } type[] = {{MYTH_F32, MYTH_F32},
                {MYTH_F16, MYTH_F16},
                {MYTH_BF16, MYTH_BF16},
                {MYTH_Q8_0, MYTH_Q8_0},
                {MYTH_F16, MYTH_Q8_0}};
    const char *target[RIG_TARGET_MAX];
    uint32_t n_target = rig_targets(target);
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
        for (uint32_t v = 0; v < n_target; v++)
            for (int t = 0; t < 5; t++)
                all_combos[n_combo++] = (combo){models[m], target[v], type[t].k, type[t].v};
    return 0;
}

static void open_on(rig *r, const combo *c, const myth_engine_opts *o)
{
    char path[1024], rest[128];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", c->model);
    rig_open(r, strchr(c->model, ':') ? c->model : check_path(path, sizeof(path), rest), o);
}

/* Calls f on every combination in a full run, else on n of them, spread over models, levels and types. */
static void for_combos(uint32_t n, void (*f)(const combo *c, uint64_t *rng))
{
    enum { STRIDE = 37 }; /* prime to the number of combinations */
    uint64_t rng = check_seed();
    uint32_t first = check_below(&rng, n_combo);
    n = check_sample(n);
    if (check_is_full() || n > n_combo)
        n = n_combo;
    for (uint32_t i = 0; i < n; i++)
        f(&all_combos[(first + i * STRIDE) % n_combo], &rng);
}

static myth_engine_opts opts_of(const combo *c)
{
    myth_engine_opts o = {
        .n_threads = 1,
        .n_ctx = CTX,
        .n_ubatch = CTX,
        .n_logit_rows = CTX,
        .want_full_logits = true,
        .want_hidden = true,
        .has_cache_type = true,
        .type_k = c->k,
        .type_v = c->v,
    };
    rig_at(&o, c->target ? c->target : rig_target());
    return o;
}

static const char *label(const combo *c, const char *what, uint32_t a, uint32_t b)
{
    static char s[128];
    snprintf(s, sizeof(s), "%s %s %s %s: %s %u %u", c->model, c->target ? c->target : rig_target(),
             myth_dtype_get(c->k)->name, myth_dtype_get(c->v)->name, what, a, b);
    return s;
}

/* ---- the oracle: tokens alone; a token that came by the decode path goes by it here too ---- */

typedef struct {
    int32_t id;
    bool is_decode;
} tok;

static void feed_toks(rig *r, myth_seq *s, const tok *t, uint32_t n, rows *w)
{
    int32_t ids[CTX];
    for (uint32_t i = 0; i < n;) {
        uint32_t m = 0;
        while (i + m < n && !t[i + m].is_decode) {
            ids[m] = t[i + m].id;
            m++;
        }
        if (m)
            rig_feed(r, s, ids, m, 0, w);
        else
            rig_decode(r, s, t[i].id, w);
        i += m ? m : 1;
    }
}

static void alone(rig *oracle, const tok *t, uint32_t n, rows *w)
{
    rows_clear(w);
    myth_seq *s = rig_seq(oracle);
    feed_toks(oracle, s, t, n, w);
    myth_seq_close(s);
}

static const float *row_of(const rows *w, uint32_t i) { return w->logits + (size_t)i * w->n_vocab; }

#endif
