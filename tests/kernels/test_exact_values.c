/* test_exact_values.c - errors too small for the tolerances of test_ops: the error of each level's exponential, the
 * side to which a q8_0 cache rounds halves, and norms of values near zero. */
#include "op_case.h"

#include "tests/support/check.h"

static myth_view put_floats(struct rig *r, uint64_t n_row, uint64_t n, const float *v)
{
    myth_view view = rig_view(r, MYTH_F32, n_row, n);
    memcpy(view_host(view), v, n_row * n * sizeof(float));
    return view;
}

/* With two logits, 0 and -t, log-sum-exp is log(1 + e^-t), from which the test gets e^-t. fast_vec8.h and avx512.h
 * promise an error below 3e-7. */
static void the_exponential_of_every_level(void **state)
{
    (void)state;
    enum { ROWS = 100, DIM = 64, VOCAB = 2, ROUNDS = 20 };
    static float x[ROWS * DIM], w[VOCAB * DIM];
    uint32_t n_level = 0;
    w[DIM] = 1;
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        double most = 0.0;
        if (strchr(rig_targets[l], ':') || !rig_open(&r, rig_targets[l], 1, CASE_TEST, NULL))
            continue;
        for (int round = 0; round < ROUNDS; round++) {
            myth_view weights = rig_take(&r, MYTH_F32, VOCAB, DIM, true);
            memcpy(view_host(weights), w, sizeof(w));
            for (int i = 0; i < ROWS; i++) /* over several periods of the reduction by ln 2 */
                x[i * DIM] = -(float)(round * ROWS + i) * 0.0013f;
            struct myth_head_topk_args a = {
                .x = put_floats(&r, ROWS, DIM, x),
                .w = weights,
                .n_rows = 1,
                .dim = DIM,
                .n_vocab = VOCAB,
                .k = 1,
                .is_decode = round % 2,
            };
            a.top_id = rig_view(&r, MYTH_I32, 1, 1);
            a.top_logit = rig_view(&r, MYTH_F32, 1, 1);
            a.lse = rig_view(&r, MYTH_F32, 1, 1);
            a.entropy = rig_view(&r, MYTH_F32, 1, 1);
            const uint64_t first = a.x.off;
            for (int i = 0; i < ROWS; i++) {
                myth_error err;
                const double t = (double)x[i * DIM], e = exp(t), want = log1p(e);
                a.x.off = first + (uint64_t)i * DIM * sizeof(float);
                rig_push(&r);
                myth_head_topk(r.s, &a);
                if (rig_sync(&r, &err) != MYTH_OK)
                    fail_msg("%s", err.msg);
                /* d log(1 + e) = relative error of e * e / (1 + e); the sum and the result are rounded to floats */
                const double error = fabs((double)*(float *)view_host(a.lse) - want) - (1 + want) * 0x1p-24,
                             share = error / (3e-7 * e / (1 + e));
                most = share > most ? share : most;
                if (!(share <= 1.0))
                    fail_msg("%s: log(1 + e^%g) is %.9g, expected %.9g", rig_targets[l], t,
                             (double)*(float *)view_host(a.lse), want);
            }
            rig_clear(&r);
        }
        printf("%s: %.2f of the error allowed\n", rig_targets[l], most);
        assert_int_equal(rig_close(&r), 0);
        n_level++;
    }
    assert_true(n_level > 0);
}

/* A block whose largest value is 127 has a scale of 1, so every half stays a half until it is rounded. */
static void a_q8_0_cache_rounds_halves_away_from_zero(void **state)
{
    (void)state;
    enum { HEAD = 64, BLOCK = 32, BLOCK_BYTES = 34 };
    static const float value[] = {0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 3.49f, -3.49f, 126.5f, -126.5f, 127, 0};
    static const int code[] = {1, -1, 2, -2, 3, -3, 3, -3, 127, -127, 127, 0};
    enum { N = sizeof(value) / sizeof(value[0]) };
    float qkv[3 * HEAD], rope[HEAD];
    uint32_t n_level = 0;
    for (int i = 0; i < HEAD; i++) {
        qkv[i] = qkv[HEAD + i] = qkv[2 * HEAD + i] = i % BLOCK < N ? value[i % BLOCK] : 0;
        rope[i] = i % 2 ? 0 : 1; /* no rotation */
    }
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        myth_error err;
        if (strchr(rig_targets[l], ':') || !rig_open(&r, rig_targets[l], 1, CASE_TEST, NULL))
            continue;
        struct myth_qkv_rope_store_args a = {
            .qkv = put_floats(&r, 1, 3 * HEAD, qkv),
            .rope = put_floats(&r, 1, HEAD, rope),
            .q = rig_view(&r, MYTH_F32, 1, HEAD),
            .k_new = rig_view(&r, MYTH_Q8_0, 1, HEAD),
            .v_new = rig_view(&r, MYTH_Q8_0, 1, HEAD),
            .n_rows = 1,
            .cap_rows = 1,
            .n_head = 1,
            .n_head_kv = 1,
            .head_dim = HEAD,
            .eps = 1e-6f,
            .q_scale = 1,
        };
        rig_push(&r);
        myth_qkv_rope_store(r.s, &a);
        if (rig_sync(&r, &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        for (int is_v = 0; is_v < 2; is_v++)
            for (int i = 0; i < HEAD; i++) {
                const unsigned char *row = view_host(is_v ? a.v_new : a.k_new), *block = row + i / BLOCK * BLOCK_BYTES;
                const int got = (int8_t)block[2 + i % BLOCK], want = i % BLOCK < N ? code[i % BLOCK] : 0;
                assert_true(block[0] == 0x00 && block[1] == 0x3c); /* 1.0 as a half */
                if (got != want)
                    fail_msg("%s: %g became %d in %s, expected %d", rig_targets[l], (double)qkv[HEAD + i], got,
                             is_v ? "v" : "k", want);
            }
        rig_clear(&r);
        assert_int_equal(rig_close(&r), 0);
        n_level++;
    }
    assert_true(n_level > 0);
}

/* eps keeps a row of zeros at zero, and divides a row of 1e-3, whose mean square is eps, by sqrt(2 eps). This holds for
 * rows of the residual and for pending branches. */
static void norms_of_nearly_nothing(void **state)
{
    (void)state;
    enum { ROWS = 2, DIM = 64 };
    static const float eps = 1e-6f;
    float x[ROWS * DIM], w[DIM], none_yet[ROWS * DIM] = {0};
    uint32_t n_level = 0;
    for (int i = 0; i < DIM; i++) {
        x[i] = 0;
        x[DIM + i] = 1e-3f;
        w[i] = 1;
    }
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        myth_error err;
        if (strchr(rig_targets[l], ':') || !rig_open(&r, rig_targets[l], 1, CASE_TEST, NULL))
            continue;
        for (int is_pending = 0; is_pending < 2; is_pending++) {
            struct myth_rms_norm_args a = {
                .y = rig_view(&r, MYTH_F32, ROWS, DIM),
                .x = put_floats(&r, ROWS, DIM, is_pending ? none_yet : x),
                .w = put_floats(&r, 1, DIM, w),
                .n_rows = ROWS,
                .dim = DIM,
                .eps = eps,
            };
            if (is_pending) {
                a.pend = put_floats(&r, ROWS, DIM, x);
                a.w_post = put_floats(&r, 1, DIM, w);
            }
            rig_push(&r);
            myth_rms_norm(r.s, &a);
            if (rig_sync(&r, &err) != MYTH_OK)
                fail_msg("%s", err.msg);
            const float *got = view_host(is_pending ? a.x : a.y);
            for (int i = 0; i < ROWS * DIM; i++) {
                const double want = i < DIM ? 0 : sqrt(0.5);
                if (!(fabs((double)got[i] - want) <= 1e-6))
                    fail_msg("%s: value %d %s is %.9g, expected %.9g", rig_targets[l], i,
                             is_pending ? "of the branch" : "of the row", (double)got[i], want);
            }
        }
        rig_clear(&r);
        assert_int_equal(rig_close(&r), 0);
        n_level++;
    }
    assert_true(n_level > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exponential_of_every_level),
        cmocka_unit_test(a_q8_0_cache_rounds_halves_away_from_zero),
        cmocka_unit_test(norms_of_nearly_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
