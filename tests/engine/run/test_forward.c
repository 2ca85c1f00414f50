/* test_forward.c - a forward that is refused changes nothing: it appends no token, takes no page and moves no position.
 */
#include "tests/support/rig.h"

#include "engine/run/run.h"
#include "kernels/device_impl.h"

enum { CTX = 32 };

static const char model[] = "random:gemma2-tiny:bf16"; /* rings and pages */

#define FORWARD(...) rig_forward(r.engine, &(rig_tokens){.seq = seq, __VA_ARGS__}, &out, &rig_err)

static void on_any_row(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d_model)
{
    (void)user, (void)tok_idx, (void)layer, (void)row, (void)d_model;
}

/* One row more, one mask past the last, a row that nobody takes: refused before a token is appended. */
static void what_was_not_opened_is_refused(void **state)
{
    (void)state;
    enum { N_ASK = 2, N_MASK = 2, N_BIAS = 3 };
    rig r;
    myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX};
    myth_result out;
    o.n_seq = 1;
    o.n_logit_rows = 2;
    o.n_ask = N_ASK;
    o.n_mask = N_MASK;
    o.n_bias = N_BIAS;
    o.want_hidden = true;
    rig_at(&o, rig_target());
    rig_open(&r, model, &o);
    int32_t ids[4] = {3, 4, 5, 6}, ask[2 * (N_ASK + 1)] = {0}, bias_id[N_BIAS + 1] = {0, 1, 2, 3};
    const float bias[N_BIAS + 1] = {0};
    uint32_t *masks = malloc(4 * (size_t)(N_MASK + 1) * r.engine->layout.mask_words);
    assert_non_null(masks);
    memset(masks, 0xff, 4 * (size_t)(N_MASK + 1) * r.engine->layout.mask_words);
    myth_seq *s = rig_seq(&r), *seq[4] = {s, s, s, s};
    const uint8_t want[4] = {MYTH_WANT_LOGITS, 0, 0, MYTH_WANT_LOGITS},
                  three[4] = {MYTH_WANT_LOGITS, MYTH_WANT_LOGITS, 0, MYTH_WANT_LOGITS},
                  full[4] = {MYTH_WANT_FULL_LOGITS}, hidden[4] = {0, MYTH_WANT_HIDDEN},
                  final[4] = {0, 0, 0, MYTH_WANT_FINAL};
    const int32_t past[2] = {0, N_MASK}, below[2] = {-2, 0}, none[2] = {-1, -1}, last[2] = {N_MASK - 1, -1},
                  rising[3] = {0, 1, N_BIAS}, more[3] = {0, 1, N_BIAS + 1}, falling[3] = {0, 2, 1},
                  later[3] = {1, 1, 2};
#define ASKED(...) FORWARD(.n_tok = 4, .token = ids, .want = want, __VA_ARGS__)
    assert_int_equal(FORWARD(.n_tok = 4, .token = ids, .want = full), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 4, .token = ids, .want = hidden), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 4, .token = ids, .want = final), MYTH_EARG);
    assert_int_equal(FORWARD(.n_tok = 4, .token = ids, .want = three), MYTH_EFULL);
    assert_int_equal(ASKED(.ask_id = ask, .n_ask = N_ASK + 1), MYTH_EFULL);
    assert_int_equal(ASKED(.n_ask = N_ASK), MYTH_EARG);
    assert_int_equal(ASKED(.mask_idx = none, .masks = masks, .n_masks = N_MASK + 1), MYTH_EFULL);
    assert_int_equal(ASKED(.mask_idx = none, .masks = masks), MYTH_EARG);
    assert_int_equal(ASKED(.mask_idx = none, .n_masks = 1), MYTH_EARG);
    assert_int_equal(ASKED(.mask_idx = past, .masks = masks, .n_masks = N_MASK), MYTH_EARG);
    assert_int_equal(ASKED(.mask_idx = below, .masks = masks, .n_masks = N_MASK), MYTH_EARG);
    assert_int_equal(ASKED(.bias_off = more, .bias_id = bias_id, .bias = bias), MYTH_EFULL);
    assert_int_equal(ASKED(.bias_off = falling, .bias_id = bias_id, .bias = bias), MYTH_EARG);
    assert_int_equal(ASKED(.bias_off = later, .bias_id = bias_id, .bias = bias), MYTH_EARG);
    assert_int_equal(ASKED(.bias_off = rising, .bias_id = bias_id), MYTH_EARG);
    assert_int_equal(ASKED(.bias_off = rising, .bias = bias), MYTH_EARG);
    const int32_t n_vocab = (int32_t)r.model.config.n_vocab, outside[] = {-1, n_vocab, INT32_MAX, INT32_MIN};
    const uint8_t unknown[4] = {MYTH_WANT_LOGITS, 0, 16, 0};
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        int32_t asked[2 * N_ASK] = {0}, biased[N_BIAS] = {0}, token[4] = {3, 4, outside[i], 6};
        asked[2 * N_ASK - 1] = biased[N_BIAS - 1] = outside[i];
        assert_int_equal(ASKED(.ask_id = asked, .n_ask = N_ASK), MYTH_EARG);
        assert_int_equal(ASKED(.bias_off = rising, .bias_id = biased, .bias = bias), MYTH_EARG);
        assert_int_equal(FORWARD(.n_tok = 4, .token = token, .want = want), MYTH_EARG);
    }
    assert_int_equal(FORWARD(.n_tok = 4, .token = ids, .want = unknown), MYTH_EARG);
    ask[2 * N_ASK - 1] = bias_id[N_BIAS - 1] = n_vocab - 1; /* the last of them is inside */
    assert_int_equal(myth_seq_len(s), 0);
    assert_int_equal(r.engine->kv.n_free_page, r.engine->kv.n_page);
    assert_int_equal(r.engine->kv.n_free_ring, r.engine->kv.n_ring);
    assert_ok(FORWARD(.n_tok = 4, .token = ids, .want = hidden, .on_hidden = on_any_row));
    assert_ok(ASKED(.mask_idx = last, .masks = masks, .n_masks = N_MASK, .bias_off = rising, .bias_id = bias_id,
                    .bias = bias, .ask_id = ask, .n_ask = N_ASK));
    assert_int_equal(out.n_rows, 2);
    assert_int_equal(myth_seq_len(s), 8);
#undef ASKED
    free(masks);
    myth_seq_close(s);
    rig_close(&r);
}

/* ---- a step that cannot be recorded ---- */

static const struct myth_device_vtable *whole;
static uint32_t n_good; /* records until one fails */

static myth_status end_record(myth_graph **out, myth_stream *s, myth_error *err)
{
    myth_status st = whole->end_record(out, s, err);
    if (st != MYTH_OK || n_good-- > 0)
        return st;
    n_good = 0;
    return myth_fail(err, MYTH_EFULL, "no room for one more graph");
}

typedef struct {
    uint32_t n_page, n_ring, pos[3], high[3];
} held;

static held held_by(const rig *r, myth_seq *const seq[3])
{
    held h = {.n_page = r->engine->kv.n_free_page, .n_ring = r->engine->kv.n_free_ring};
    for (int i = 0; i < 3; i++) {
        h.pos[i] = seq[i]->kv->n_pos;
        h.high[i] = seq[i]->kv->n_high;
    }
    return h;
}

/* Three sequences of which two share their page and ring, so that the step would take copies. */
static void a_step_that_cannot_be_recorded_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t n_ubatch = 2; n_ubatch <= 3; n_ubatch++) {
        rig r;
        myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX, .n_seq = 3, .n_ubatch = n_ubatch, .page_tok = 4};
        rig_at(&o, rig_target());
        rig_open(&r, model, &o);
        const int32_t ids[13] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        myth_seq *seq[3] = {rig_seq(&r), NULL, NULL};
        myth_result out;
        myth_run run;
        uint64_t mark;
        rig_feed(&r, seq[0], ids, 13, 0, NULL);
        assert_ok(myth_seq_fork(&seq[1], seq[0], &rig_err));
        seq[2] = rig_seq(&r);
        rig_feed(&r, seq[2], ids, 8, 0, NULL);
        myth_device *dev = r.engine->part[0].dev;
        struct myth_device_vtable broken = *(whole = dev->vt);
        broken.end_record = end_record;
        dev->vt = &broken;
        const held before = held_by(&r, seq);
        n_good = 0;
        assert_int_equal(FORWARD(.n_tok = 3, .token = ids, .is_decode = true), MYTH_EFULL);
        held after = held_by(&r, seq);
        assert_memory_equal(&after, &before, sizeof(before));

        n_good = 0;
        const myth_run_opts one = {.seq = seq, .n_seq = 1, .first = ids};
        assert_ok(myth_run_begin(&run, r.engine, &one, &rig_err));
        assert_int_equal(myth_run_issue(&run, 4, &mark, &rig_err), MYTH_EFULL);
        myth_run_end(&run);
        after = held_by(&r, seq);
        assert_memory_equal(&after, &before, sizeof(before));

        n_good = 1; /* two rows, then the third by itself: the first two stay */
        if (n_ubatch == 2) {
            assert_int_equal(FORWARD(.n_tok = 3, .token = ids, .is_decode = true), MYTH_EFULL);
            after = held_by(&r, seq);
            assert_int_equal(after.pos[0], before.pos[0] + 1);
            assert_int_equal(after.pos[1], before.pos[1] + 1);
            assert_int_equal(after.pos[2], before.pos[2]);
            assert_int_equal(after.high[2], before.high[2]);
            assert_int_equal(after.n_page, before.n_page - 1); /* the copy of the shared page, none for the third */
        } else {
            assert_ok(FORWARD(.n_tok = 3, .token = ids, .is_decode = true));
        }
        dev->vt = whole;
        for (int i = 0; i < 3; i++)
            myth_seq_close(seq[i]);
        rig_close(&r);
    }
}

/* ---- masks ---- */

/* An embedding with more rows than there are ids to choose from, as Gemma 3 4B has it, by more than a word of a mask:
 * every mask is as wide as the embedding, and the second one begins after the first one's last word. */
static void masks_are_as_wide_as_the_embedding(void **state)
{
    (void)state;
    enum { N_MASK = 3 };
    rig r;
    myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX, .n_logit_rows = N_MASK, .n_mask = N_MASK};
    rig_at(&o, rig_target());
    rig_open(&r, model, &o);
    const uint32_t n_vocab = r.model.config.n_vocab, words = (n_vocab + 31) / 32, n_choice = n_vocab - 70;
    r.engine->n_vocab_choice = n_choice;
    const int32_t ids[N_MASK] = {3, 4, 5}, idx[N_MASK] = {2, 0, 1}, only[N_MASK] = {7, (int32_t)n_choice - 1, 64};
    const uint8_t want[N_MASK] = {MYTH_WANT_LOGITS, MYTH_WANT_LOGITS, MYTH_WANT_LOGITS};
    uint32_t *masks = calloc((size_t)N_MASK * words, 4);
    assert_non_null(masks);
    for (uint32_t i = 0; i < N_MASK; i++) {
        masks[i * words + (uint32_t)only[i] / 32] |= 1u << only[i] % 32;
        masks[i * words + words - 1] |= 1u << 31; /* a row that may not be chosen, whatever a mask says */
    }
    myth_seq *s = rig_seq(&r), *seq[N_MASK] = {s, s, s};
    myth_result out;
    assert_ok(FORWARD(.n_tok = N_MASK, .token = ids, .want = want, .mask_idx = idx, .masks = masks, .n_masks = N_MASK));
    assert_int_equal(out.n_rows, N_MASK);
    for (uint32_t i = 0; i < N_MASK; i++)
        assert_int_equal(out.top_id[i], only[idx[i]]);
    assert_ok(myth_reduce_again(r.engine, 1, masks + words, 1, &out, &rig_err));
    assert_int_equal(out.top_id[0], only[1]);
    free(masks);
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_opened_is_refused),
        cmocka_unit_test(a_step_that_cannot_be_recorded_changes_nothing),
        cmocka_unit_test(masks_are_as_wide_as_the_embedding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
