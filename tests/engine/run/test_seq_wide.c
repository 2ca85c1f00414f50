/* test_seq_wide.c - the bits of a row do not depend on other rows at the widths of a real model either, where tiles and
 * the shares of threads are full.
 *
 * Sample   Gemma 3 270M in q8_0 on the fastest level; the full test adds q4_0 and bf16. Without a vector level the test
 *          is skipped, because it would take minutes */
#include "tests/support/rig.h"

enum { N = 45, N_OTHER = 3, N_DECODE = 3, K = 8 };

typedef struct {
    int32_t id[N + N_DECODE][K]; /* k best of every row             */
    float logit[N + N_DECODE][K], lse[N + N_DECODE];
} record;

typedef struct {
    rows *w;
    uint32_t base, from, to;
} window; /* tokens from .. to of a forward are the rows base .. of w */

static void keep_mine(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d)
{
    window *k = user;
    if (tok_idx < k->from || tok_idx >= k->to)
        return;
    k->w->base = k->base;
    rows_on_hidden(k->w, tok_idx - k->from, layer, row, d);
}

/* Rows at .. at + n of the sequence `mine`, in one forward between m rows of each of the others. */
static void forward_between(rig *r, myth_seq *mine, const int32_t *ids, uint32_t at, uint32_t n, myth_seq **other,
                            uint32_t m, bool is_decode, rows *w, record *out)
{
    int32_t token[4 * N];
    uint8_t want[4 * N];
    myth_seq *seq[4 * N];
    uint32_t all = 0, row = 0;
    window k = {.w = w, .base = at};
    for (uint32_t i = 0; i <= N_OTHER; i++) {
        bool is_mine = i == 1; /* neither first nor last */
        uint32_t take = is_mine ? n : m;
        if (is_mine) {
            k.from = all;
            k.to = all + n;
            row = all;
        }
        for (uint32_t j = 0; j < take; j++, all++) {
            token[all] = is_mine ? ids[at + j] : (int32_t)(1000 * i + 17 * all + 5);
            want[all] = (uint8_t)(MYTH_WANT_LOGITS | (is_mine && !is_decode ? MYTH_WANT_HIDDEN : 0));
            seq[all] = is_mine ? mine : other[i == 0 ? 0 : i - 1];
        }
    }
    myth_result res;
    rig_tokens b = {
        .n_tok = all,
        .token = token,
        .seq = seq,
        .want = want,
        .is_decode = is_decode,
        .top_k = K,
        .on_hidden = keep_mine,
        .user = &k,
    };
    assert_ok(rig_forward(r->engine, &b, &res, &rig_err));
    assert_int_equal(res.n_rows, all);
    for (uint32_t j = 0; j < n; j++) {
        memcpy(out->id[at + j], res.top_id + (size_t)(row + j) * K, sizeof(out->id[0]));
        memcpy(out->logit[at + j], res.top_logit + (size_t)(row + j) * K, sizeof(out->logit[0]));
        out->lse[at + j] = res.lse[row + j];
    }
}

/* The whole sequence in forwards of `chunk` rows, each between `m` rows of others; then decode steps among `m` others.
 */
static void run_one(rig *r, const int32_t *ids, uint32_t chunk, uint32_t m, rows *w, record *out)
{
    myth_seq *mine = rig_seq(r), *other[N_OTHER];
    rows_clear(w);
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < N_OTHER; i++)
        other[i] = rig_seq(r);
    for (uint32_t at = 0; at < N; at += chunk)
        forward_between(r, mine, ids, at, at + chunk < N ? chunk : N - at, other, m, false, w, out);
    for (uint32_t i = 0; i < N_DECODE; i++)
        forward_between(r, mine, ids, N + i, 1, other, m ? 1 : 0, true, w, out);
    for (int i = 0; i < N_OTHER; i++)
        myth_seq_close(other[i]);
    myth_seq_close(mine);
}

static void rows_of_a_real_width(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-270m:q8_0", "random:gemma3-270m:q4_0", "random:gemma3-270m:bf16"};
    const char *level[8];
    uint32_t n_level = rig_levels(level);
    if (strcmp(level[n_level - 1], "ref") == 0) {
        check_skip("this processor has no vector level");
    }
    for (int m = 0; m < (check_is_full() ? 3 : 1); m++)
        for (uint32_t v = check_is_full() ? 1 : n_level - 1; v < n_level; v++) {
            rig r;
            rows want, got;
            record a, b;
            int32_t ids[N + N_DECODE];
            uint64_t rng = check_seed();
            myth_engine_opts o = {
                .device = "cpu",
                .n_threads = 2,
                .cpu_level = level[v],
                .n_ctx = 96,
                .n_ubatch = 64,
                .n_seq = 1 + N_OTHER,
                .n_logit_rows = 4 * N,
                .top_k = K,
                .want_hidden = true,
            };
            rig_open(&r, spec[m], &o);
            for (uint32_t i = 0; i < N + N_DECODE; i++)
                ids[i] = (int32_t)check_below(&rng, r.model.config.n_vocab);
            want = (rows){.n_tok = N, .n_layer = r.model.config.n_layer, .d_model = r.model.config.d_model};
            want.hidden = malloc(4 * (size_t)(want.n_layer + 1) * N * want.d_model);
            got = want;
            got.hidden = malloc(4 * (size_t)(want.n_layer + 1) * N * want.d_model);
            assert_true(want.hidden && got.hidden);
            run_one(&r, ids, N, 0, &want, &a);
            static const struct {
                uint32_t chunk, m;
            } cut[] = {{7, 0}, {N, 11}, {16, 5}, {1, 1}};
            for (uint32_t i = 0; i < (check_is_full() ? 4 : 3); i++) {
                run_one(&r, ids, cut[i].chunk, cut[i].m, &got, &b);
                assert_same_bits(got.hidden, want.hidden, (size_t)(want.n_layer + 1) * N * want.d_model, "hidden rows");
                assert_memory_equal(a.id, b.id, sizeof(a.id));
                assert_memory_equal(a.logit, b.logit, sizeof(a.logit));
                assert_memory_equal(a.lse, b.lse, sizeof(a.lse));
            }
            printf("%s %s: %u rows, 0 bits apart\n", spec[m], level[v], N + N_DECODE);
            free(want.hidden);
            free(got.hidden);
            rig_close(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_a_real_width)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
