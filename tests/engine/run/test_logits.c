/* test_logits.c - the results of a forward: rows in any pattern, the k best, masks, biases, logits that were asked for,
 * and the same row reduced again.
 *
 * Oracle   the whole row of logits, reduced here in double. Values that the device only chooses are equal bit for bit;
 *          lse and entropy agree within 1e-5 */
#include "tests/support/rig.h"

#include <math.h>

enum { CTX = 40 };

static const char *target[RIG_TARGET_MAX];
static uint32_t n_target;
static golden g;

static int open_golden(void **state)
{
    (void)state;
    golden_load(&g,
                "gemma2-gqa"); /* both caps bite, so lse and asked logits show whether they are after the final one */
    n_target = rig_targets(target);
    return 0;
}

static int close_golden(void **state)
{
    (void)state;
    golden_free(&g);
    return 0;
}

static myth_engine_opts opts_of(const char *on)
{
    myth_engine_opts o = {
        .n_threads = 1,
        .n_ctx = CTX,
        .n_ubatch = 11,
        .n_logit_rows = CTX,
        .top_k = 1024,
        .n_ask = 16,
        .n_bias = 400,
        .n_mask = 5,
        .want_full_logits = true,
        .want_hidden = true,
    };
    rig_at(&o, on);
    return o;
}

static bool same_bits(float a, float b) { return memcmp(&a, &b, 4) == 0; }

typedef struct {
    float v[512];
    bool allowed[512];
} full_row;

/* The record of one row against the whole row after its mask and biases. */
static void check_record(const myth_result *out, uint32_t r, const full_row *row, const char *what)
{
    double max = -INFINITY, z = 0, entropy = 0;
    uint32_t n_allowed = 0, n = g.n_vocab;
    const int32_t *id = out->top_id + (size_t)r * out->k;
    const float *logit = out->top_logit + (size_t)r * out->k;
    for (uint32_t i = 0; i < n; i++)
        if (row->allowed[i]) {
            max = fmax(max, (double)row->v[i]);
            n_allowed++;
        }
    for (uint32_t k = 0; k < out->k; k++) {
        if (k >= n_allowed) {
            assert_int_equal(id[k], -1);
            continue;
        }
        if (id[k] < 0 || (uint32_t)id[k] >= n || !row->allowed[id[k]] || !same_bits(logit[k], row->v[id[k]]))
            fail_msg("%s: row %u, place %u: id %d, logit %.9g", what, r, k, id[k], (double)logit[k]);
        if (k > 0 && !(logit[k - 1] > logit[k] || (logit[k - 1] == logit[k] && id[k - 1] < id[k])))
            fail_msg("%s: row %u: places %u and %u are out of order", what, r, k - 1, k);
    }
    uint32_t n_above = 0; /* nothing better was left out */
    for (uint32_t i = 0; i < n && n_allowed > out->k; i++)
        n_above += row->allowed[i] &&
                   (row->v[i] > logit[out->k - 1] || (row->v[i] == logit[out->k - 1] && (int32_t)i < id[out->k - 1]));
    if (n_allowed > out->k)
        assert_int_equal(n_above, out->k - 1);
    if (n_allowed == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        z += row->allowed[i] ? exp((double)row->v[i] - max) : 0;
    for (uint32_t i = 0; i < n; i++) {
        double lp = (double)row->v[i] - max - log(z);
        entropy -= row->allowed[i] ? exp(lp) * lp : 0;
    }
    if (fabs((double)out->lse[r] - max - log(z)) > 1e-5 * (1 + fabs(max)) ||
        fabs((double)out->entropy[r] - entropy) > 1e-4)
        fail_msg("%s: row %u: lse %.7g, entropy %.7g, expected %.7g, %.7g", what, r, (double)out->lse[r],
                 (double)out->entropy[r], max + log(z), entropy);
}

/* Every logit of the rows of one forward, by the reduction itself: k as large as the vocabulary. */
static void whole_rows(rig *r, const int32_t *ids, uint32_t n, bool is_decode, full_row *row)
{
    myth_seq *s = rig_seq(r), *seq[CTX];
    uint8_t want[CTX];
    myth_result out;
    for (uint32_t i = 0; i < n; i++) {
        seq[i] = s;
        want[i] = MYTH_WANT_LOGITS;
    }
    if (is_decode)
        rig_feed(r, s, ids, n - 1, 0, NULL);
    uint32_t first = is_decode ? n - 1 : 0;
    rig_tokens b = {
        .n_tok = n - first,
        .token = ids + first,
        .seq = seq,
        .want = want,
        .is_decode = is_decode,
        .top_k = g.n_vocab,
    };
    assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    assert_int_equal(out.n_rows, n - first);
    assert_int_equal(out.k, g.n_vocab);
    for (uint32_t i = 0; i < out.n_rows; i++) {
        memset(row[i].allowed, 0, sizeof(row[i].allowed));
        for (uint32_t k = 0; k < out.k; k++) {
            int32_t id = out.top_id[(size_t)i * out.k + k];
            assert_true(id >= 0 && (uint32_t)id < g.n_vocab && !row[i].allowed[id]);
            row[i].allowed[id] = true;
            row[i].v[id] = out.top_logit[(size_t)i * out.k + k];
        }
        check_record(&out, i, &row[i], "all candidates");
    }
    myth_seq_close(s);
}

/* The reduction against head_logits' rows: the same numbers on the reference, close on the others. */
static void reduction_agrees_with_whole_rows(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < n_target; v++) {
        rig r;
        rows w;
        full_row row[CTX];
        myth_engine_opts o = opts_of(target[v]);
        rig_open(&r, g.path, &o);
        rows_open(&w, &r, g.n_tok, false);
        whole_rows(&r, g.ids, g.n_tok, false, row);
        myth_seq *s = rig_seq(&r);
        rig_feed(&r, s, g.ids, g.n_tok, 0, &w);
        myth_seq_close(s);
        for (uint32_t i = 0; i < g.n_tok; i++)
            assert_true(share_apart(row[i].v, w.logits + (size_t)i * g.n_vocab, g.n_vocab) <=
                        (strcmp(target[v], "exact") != 0 ? 1e-4f : 0.0f));
        rows_close(&w);
        rig_close(&r);
    }
}

/* Random masks, biases, asked ids and k over the rows of a forward, prefill and decode. */
static void one_request(rig *r, const full_row *plain, uint32_t n, bool is_decode, uint64_t *rng)
{
    enum { N_MASK = 5, WORDS = 512 / 32 };
    uint32_t masks[N_MASK * WORDS], words = (g.n_vocab + 31) / 32, first = is_decode ? n - 1 : 0, n_rows = n - first,
                                    n_bias = 0;
    int32_t mask_idx[CTX], bias_off[CTX + 1], bias_id[400], ask[CTX * 16];
    float bias[400];
    full_row want[CTX];
    myth_seq *s = rig_seq(r), *seq[CTX];
    uint8_t wants[CTX];
    myth_result out;
    uint32_t k = check_below(rng, 4) ? 1 + check_below(rng, 12) : 1 + check_below(rng, 2 * g.n_vocab),
             n_ask = check_below(rng, 17);
    if (k > g.n_vocab)
        k = g.n_vocab;
    for (uint32_t m = 0; m < N_MASK; m++) /* one id, few, half, all, none */
        for (uint32_t i = 0; i < words; i++)
            masks[m * words + i] = m == 0 ? 0
                                 : m == 1 ? (uint32_t)(check_rand(rng) & check_rand(rng) & check_rand(rng))
                                 : m == 2 ? (uint32_t)check_rand(rng)
                                 : m == 3 ? UINT32_MAX
                                          : 0;
    uint32_t only = check_below(rng, g.n_vocab);
    masks[only / 32] |= 1u << only % 32;
    bool has_mask = check_below(rng, 3), has_bias = check_below(rng, 3);
    for (uint32_t i = 0; i < n_rows; i++) {
        want[i] = plain[i];
        seq[i] = s;
        wants[i] = MYTH_WANT_LOGITS;
        mask_idx[i] = (int32_t)check_below(rng, N_MASK + 1) - 1;
        bias_off[i] = (int32_t)n_bias;
        for (uint32_t j = check_below(rng, 10); has_bias && j > 0; j--) {
            int32_t id = (int32_t)check_below(rng, g.n_vocab);
            bool seen = false;
            for (uint32_t q = (uint32_t)bias_off[i]; q < n_bias; q++)
                seen = seen || bias_id[q] == id;
            if (seen)
                continue;
            bias_id[n_bias] = id;
            bias[n_bias] = check_below(rng, 4) ? check_unit(rng) * 8 - 4 : -1e9f;
            want[i].v[id] += bias[n_bias++];
        }
        for (uint32_t id = 0; has_mask && mask_idx[i] >= 0 && id < g.n_vocab; id++)
            want[i].allowed[id] = masks[(uint32_t)mask_idx[i] * words + id / 32] >> id % 32 & 1;
        for (uint32_t j = 0; j < n_ask; j++)
            ask[i * n_ask + j] = (int32_t)check_below(rng, g.n_vocab);
    }
    bias_off[n_rows] = (int32_t)n_bias;
    if (is_decode)
        rig_feed(r, s, g.ids, n - 1, 0, NULL);
    rig_tokens b = {
        .n_tok = n_rows,
        .token = g.ids + first,
        .seq = seq,
        .want = wants,
        .is_decode = is_decode,
        .top_k = k,
        .mask_idx = has_mask ? mask_idx : NULL,
        .masks = masks,
        .n_masks = has_mask ? N_MASK : 0,
        .bias_off = has_bias ? bias_off : NULL,
        .bias_id = bias_id,
        .bias = bias,
        .ask_id = ask,
        .n_ask = n_ask,
    };
    assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    assert_int_equal(out.n_rows, n_rows);
    assert_int_equal(out.k, k);
    assert_int_equal(out.n_ask, n_ask);
    for (uint32_t i = 0; i < n_rows; i++) {
        check_record(&out, i, &want[i], is_decode ? "decode" : "prefill");
        for (uint32_t j = 0; j < n_ask; j++) /* before masks and biases */
            assert_true(same_bits(out.ask_logit[i * n_ask + j], plain[i].v[ask[i * n_ask + j]]));
    }

    uint32_t row = check_below(rng, n_rows), m = 1 + check_below(rng, 3), k2 = 1 + check_below(rng, k);
    full_row again = want[row]; /* its biases, and this mask alone */
    for (uint32_t id = 0; id < g.n_vocab; id++)
        again.allowed[id] = masks[m * words + id / 32] >> id % 32 & 1;
    myth_result second;
    assert_ok(myth_reduce_again(r->engine, row, masks + m * words, k2, &second, &rig_err));
    assert_int_equal(second.n_rows, 1);
    assert_int_equal(second.k, k2);
    check_record(&second, 0, &again, "again");
    memset(again.allowed, 1, g.n_vocab * sizeof(again.allowed[0]));
    assert_ok(myth_reduce_again(r->engine, row, NULL, k2, &second, &rig_err));
    check_record(&second, 0, &again, "without a mask");
    assert_int_equal(myth_reduce_again(r->engine, n_rows, masks, 1, &second, &rig_err), MYTH_EARG);
    myth_seq_close(s);
}

static void masks_biases_and_asks_equal_the_row_post_processed(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (uint32_t v = 0; v < n_target; v++)
        for (int is_decode = 0; is_decode < 2; is_decode++) {
            rig r;
            full_row plain[CTX];
            myth_engine_opts o = opts_of(target[v]);
            rig_open(&r, g.path, &o);
            whole_rows(&r, g.ids, g.n_tok, is_decode, plain);
            for (int i = 0; i < (check_is_full() ? 400 : (int)check_sample(30)); i++)
                one_request(&r, plain, g.n_tok, is_decode, &rng);
            rig_close(&r);
        }
}

/* A subset of rows, of kinds and of tokens: what is asked has the same bits, what is not asked is not handed over. */
static void rows_are_asked_in_any_pattern(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (uint32_t v = 0; v < n_target; v++) {
        rig r;
        rows want, got;
        full_row plain[CTX];
        myth_engine_opts o = opts_of(target[v]);
        rig_open(&r, g.path, &o);
        rows_open(&want, &r, g.n_tok, true);
        rows_open(&got, &r, g.n_tok, true);
        whole_rows(&r, g.ids, g.n_tok, false, plain);
        myth_seq *s = rig_seq(&r), *seq[CTX];
        rig_feed(&r, s, g.ids, g.n_tok, 0, &want);
        myth_seq_close(s);
        for (uint32_t round = 0; round < check_sample(20); round++) {
            uint8_t wants[CTX];
            uint32_t n_full = 0, n_hidden = 0, n_top = 0;
            s = rig_seq(&r);
            for (uint32_t i = 0; i < g.n_tok; i++) {
                seq[i] = s;
                wants[i] = round == 0 ? 0 : (uint8_t)(check_rand(&rng) & check_rand(&rng) & 7);
                n_full += wants[i] & MYTH_WANT_FULL_LOGITS ? 1 : 0;
                n_hidden += wants[i] & MYTH_WANT_HIDDEN ? 1 : 0;
                n_top += wants[i] & MYTH_WANT_LOGITS;
            }
            rows_clear(&got);
            rig_tokens b = {
                .n_tok = g.n_tok,
                .token = g.ids,
                .seq = seq,
                .want = wants,
                .top_k = 3,
                .on_full_logits = rows_on_logits,
                .on_hidden = rows_on_hidden,
                .user = &got,
            };
            myth_result out;
            assert_ok(rig_forward(r.engine, &b, &out, &rig_err));
            assert_int_equal(out.n_rows, n_top);
            assert_int_equal(got.n_logits, n_full);
            assert_int_equal(got.n_hidden, n_hidden * (g.n_layer + 1));
            for (uint32_t i = 0, row = 0; i < g.n_tok; i++) {
                size_t at = (size_t)i * g.n_vocab;
                if (wants[i] & MYTH_WANT_FULL_LOGITS)
                    assert_same_bits(got.logits + at, want.logits + at, g.n_vocab, "asked row");
                for (uint32_t l = 0; wants[i] & MYTH_WANT_HIDDEN && l <= g.n_layer; l++) {
                    size_t h = ((size_t)l * g.n_tok + i) * g.d_model;
                    assert_same_bits(got.hidden + h, want.hidden + h, g.d_model, "asked hidden row");
                }
                if (wants[i] & MYTH_WANT_LOGITS)
                    check_record(&out, row++, &plain[i], "asked record");
            }
            myth_seq_close(s);
        }
        rows_close(&want);
        rows_close(&got);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduction_agrees_with_whole_rows),
        cmocka_unit_test(masks_biases_and_asks_equal_the_row_post_processed),
        cmocka_unit_test(rows_are_asked_in_any_pattern),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
