/* test_quant_fit.c - the quantisers that search: the distance between rows and their quantised form is compared with
 * that of llama.cpp's quantisers on the same rows; importance makes it smaller; blocks in which there is nothing to
 * search; the bits of a block depend on that block only.
 *
 * The table below has llama.cpp's figures. With PEER=DIR (a build of it, DIR/build-cpu/bin/libggml-base.so) they
 * are measured again. */
#include "tests/support/check.h"

#include "engine/make/mix.h"
#include "engine/make/quant.h"

#include <dlfcn.h>
#include <math.h>

enum { ROWS = 48, COLS = 1024 };

static const myth_dtype types[] = {MYTH_Q4_0, MYTH_Q4_1, MYTH_Q5_0, MYTH_Q5_1,   MYTH_Q2_K,  MYTH_Q3_K,
                                   MYTH_Q4_K, MYTH_Q5_K, MYTH_Q6_K, MYTH_IQ4_NL, MYTH_IQ4_XS};
enum { N_TYPE = sizeof(types) / sizeof(types[0]), NORMAL = 0, HEAVY, SPIKES, N_KIND };
static const char *const kind_name[N_KIND] = {"normal", "heavy", "spikes"};

/* ---- rows ---- */

static double normal(uint64_t *s)
{
    const double u = ((double)(check_rand(s) >> 11) + 1.0) * 0x1p-53, v = (double)(check_rand(s) >> 11) * 0x1p-53;
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Rows of a fixed stream: the figures below are of these. */
static void make_rows(float *x, int kind)
{
    uint64_t s = 20 + (uint64_t)kind;
    for (int i = 0; i < ROWS * COLS; i++) {
        double v = normal(&s);
        if (kind == HEAVY) { /* Student's t, three degrees of freedom */
            double ss = 0.0;
            for (int k = 0; k < 3; k++) {
                const double g = normal(&s);
                ss += g * g;
            }
            v /= sqrt(ss / 3.0);
        }
        if (kind == SPIKES && i % COLS % 97 == 0)
            v *= 9.0;
        x[i] = (float)(0.05 * v);
    }
}

static void make_importance(float *w)
{
    uint64_t s = 77;
    for (int i = 0; i < COLS; i++)
        w[i] = (float)exp(1.5 * normal(&s));
}

/* sqrt(sum w (x - y)^2 / sum w x^2), w NULL = 1. */
static double error_of(const float *x, const float *y, const float *w)
{
    double e = 0.0, all = 0.0;
    for (int i = 0; i < ROWS * COLS; i++) {
        const double k = w ? (double)w[i % COLS] : 1.0, d = (double)x[i] - (double)y[i];
        e += k * d * d;
        all += k * (double)x[i] * (double)x[i];
    }
    return sqrt(e / all);
}

/* ---- llama.cpp ---- */

typedef size_t (*quantize_chunk)(int type, const float *src, void *dst, int64_t first, int64_t n_row, int64_t n_col,
                                 const float *importance);

/* As measured with ggml 0.25.3: without and with importance, the error weighted alike. */
static const double peer_figure[N_TYPE][N_KIND][2] = {
    /* q4_0   */ {{0.085944, 0.073038}, {0.125961, 0.111888}, {0.144715, 0.138182}},
    /* q4_1   */ {{0.078204, 0.057169}, {0.097992, 0.074499}, {0.097879, 0.077869}},
    /* q5_0   */ {{0.042551, 0.035904}, {0.063944, 0.057934}, {0.074019, 0.070487}},
    /* q5_1   */ {{0.037759, 0.027961}, {0.047797, 0.035885}, {0.047570, 0.037309}},
    /* q2_k   */ {{0.295334, 0.208503}, {0.352587, 0.245229}, {0.331956, 0.263208}},
    /* q3_k   */ {{0.150661, 0.123755}, {0.191603, 0.162962}, {0.194376, 0.183808}},
    /* q4_k   */ {{0.071285, 0.058329}, {0.091686, 0.077176}, {0.092120, 0.082305}},
    /* q5_k   */ {{0.035912, 0.030408}, {0.046325, 0.040424}, {0.046234, 0.042381}},
    /* q6_k   */ {{0.017712, 0.015073}, {0.024796, 0.021433}, {0.027437, 0.026798}},
    /* iq4_nl */ {{0.076297, 0.065591}, {0.099600, 0.086721}, {0.111446, 0.102895}},
    /* iq4_xs */ {{0.076945, 0.066535}, {0.100641, 0.088472}, {0.113145, 0.106562}},
};

static quantize_chunk open_peer(void)
{
    const char *peer = getenv("PEER");
    char path[1024];
    quantize_chunk call = NULL;
    if (!peer)
        return NULL;
    snprintf(path, sizeof(path), "%s/build-cpu/bin/libggml-base.so", peer);
    void *lib = dlopen(path, RTLD_NOW);
    void *symbol = lib ? dlsym(lib, "ggml_quantize_chunk") : NULL;
    if (!symbol) {
        printf("%s: no ggml_quantize_chunk; the figures of the table stand for it\n", path);
        return NULL;
    }
    memcpy(&call, &symbol, sizeof(call));
    return call;
}

static void test_errors(void **state)
{
    (void)state;
    const size_t bytes = (size_t)ROWS * COLS * 4;
    float *x = malloc(bytes), *y = malloc(bytes), w[COLS];
    unsigned char *q = malloc(bytes);
    const quantize_chunk peer = open_peer();
    bool is_far = false;
    make_importance(w);
    if (!peer)
        printf("PEER is not set: compared with the figures of the table\n");
    for (int t = 0; t < N_TYPE; t++)
        for (int kind = 0; kind < N_KIND; kind++) {
            double own[2], other[2];
            make_rows(x, kind);
            for (int has = 0; has < 2; has++) {
                const float *importance = has ? w : NULL;
                for (int r = 0; r < ROWS; r++)
                    myth_quant_fit_row(types[t], q + (size_t)r * myth_row_bytes(types[t], COLS), x + r * COLS,
                                       importance, COLS);
                myth_dequant_row(types[t], y, q, (uint64_t)ROWS * COLS);
                own[has] = error_of(x, y, importance);
                other[has] = peer_figure[t][kind][has];
                if (peer) {
                    peer(myth_dtype_get(types[t])->gguf, x, q, 0, ROWS, COLS, importance);
                    myth_dequant_row(types[t], y, q, (uint64_t)ROWS * COLS);
                    other[has] = error_of(x, y, importance);
                }
                is_far = is_far || !(own[has] <= 1.02 * other[has]);
            }
            printf("%-7s %-6s  %.6f of %.6f = %.3f   with importance %.6f of %.6f = %.3f\n",
                   myth_dtype_get(types[t])->name, kind_name[kind], own[0], other[0], own[0] / other[0], own[1],
                   other[1], own[1] / other[1]);
        }
    assert_false(is_far);
    free(x), free(y), free(q);
}

/* Columns that matter are closer with importance than without, at the cost of the others. */
static void test_importance(void **state)
{
    (void)state;
    const size_t bytes = (size_t)ROWS * COLS * 4;
    float *x = malloc(bytes), *y = malloc(bytes), w[COLS];
    unsigned char *q = malloc(bytes);
    make_rows(x, NORMAL);
    make_importance(w);
    for (int t = 0; t < N_TYPE; t++) {
        double e[2];
        for (int has = 0; has < 2; has++) {
            for (int r = 0; r < ROWS; r++)
                myth_quant_fit_row(types[t], q + (size_t)r * myth_row_bytes(types[t], COLS), x + r * COLS,
                                   has ? w : NULL, COLS);
            myth_dequant_row(types[t], y, q, (uint64_t)ROWS * COLS);
            e[has] = error_of(x, y, w);
        }
        if (!(e[1] < 0.97 * e[0]))
            fail_msg("%s: %g with importance, %g without", myth_dtype_get(types[t])->name, e[1], e[0]);
    }
    free(x), free(y), free(q);
}

/* ---- blocks without a choice ---- */

static void expect_row(myth_dtype t, const float *x, uint64_t n, float within)
{
    unsigned char q[512 * 4];
    float y[512];
    myth_quant_fit_row(t, q, x, NULL, n);
    myth_dequant_row(t, y, q, n);
    for (uint64_t i = 0; i < n; i++)
        if (!(fabsf(x[i] - y[i]) <= within))
            fail_msg("%s: element %llu: %g became %g", myth_dtype_get(t)->name, (unsigned long long)i, (double)x[i],
                     (double)y[i]);
}

static void test_plain_blocks(void **state)
{
    (void)state;
    float x[512];
    for (int t = 0; t < N_TYPE; t++) {
        memset(x, 0, sizeof(x));
        expect_row(types[t], x, 512, 0.0f); /* nothing */
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < 512; i++)
                x[i] = 0.75f * (float)sign;
            expect_row(types[t], x, 512, 0.75f * 0x1p-8f); /* one value: as far as codes and f16 hold it */
            memset(x, 0, sizeof(x));
            x[300] = 2.0f * (float)sign;
            expect_row(types[t], x, 512, 2.0f * 0x1p-5f); /* one peak */
        }
        for (int i = 0; i < 512; i++)
            x[i] = (i % 2 ? 1.0f : -1.0f) * 1e-36f;
        expect_row(types[t], x, 512, 1e-35f); /* below what an f16 scale holds */
    }
}

/* Values that are not finite, or past every scale, end in some block, without a trap or an undefined conversion; so
 * does importance that says that nothing matters. */
static void test_odd_values(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e30f};
    unsigned char q[256 * 4];
    float x[256], y[256], w[256] = {0};
    uint64_t s = 5;
    for (int t = 0; t < N_TYPE; t++)
        for (size_t k = 0; k < sizeof(odd) / sizeof(odd[0]); k++) {
            for (int i = 0; i < 256; i++)
                x[i] = (float)normal(&s);
            myth_quant_fit_row(types[t], q, x, w, 256);
            myth_dequant_row(types[t], y, q, 256);
            for (int i = 0; i < 256; i++)
                assert_true(fabsf(x[i] - y[i]) < 4.0f);
            x[(17 * k + 3) % 256] = odd[k];
            myth_quant_fit_row(types[t], q, x, NULL, 256);
            myth_dequant_row(types[t], y, q, 256);
        }
}

/* The bytes of a block depend neither on its place nor on its neighbours. */
static void test_alone(void **state)
{
    (void)state;
    float x[1024], w[1024];
    unsigned char whole[1024 * 4], part[1024 * 4];
    uint64_t s = 9;
    for (int i = 0; i < 1024; i++) {
        x[i] = (float)normal(&s);
        w[i] = (float)exp(normal(&s));
    }
    for (int t = 0; t < N_TYPE; t++)
        for (int has = 0; has < 2; has++) {
            const uint32_t n = myth_dtype_block(types[t]), bytes = myth_dtype_block_bytes(types[t]);
            myth_quant_fit_row(types[t], whole, x, has ? w : NULL, 1024);
            for (uint32_t i = 0; i < 1024 / n; i++)
                myth_quant_fit_row(types[t], part + (size_t)i * bytes, x + (size_t)i * n,
                                   has ? w + (size_t)i * n : NULL, n);
            assert_memory_equal(whole, part, (size_t)1024 / n * bytes);
        }
}

/* Each type that a file can be made of has a quantiser, and its values are near those that went in. */
static void test_every_type(void **state)
{
    (void)state;
    float x[1024], y[1024];
    unsigned char q[1024 * 4];
    uint64_t s = 11;
    int n = 0;
    for (int i = 0; i < 1024; i++)
        x[i] = (float)normal(&s);
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        double e = 0.0, all = 0.0;
        if (!myth_dtype_is_quant((myth_dtype)t) || !myth_mix_of((myth_dtype)t))
            continue;
        myth_quant_row((myth_dtype)t, q, x, 1024);
        myth_dequant_row((myth_dtype)t, y, q, 1024);
        for (int i = 0; i < 1024; i++) {
            e += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
            all += (double)x[i] * (double)x[i];
        }
        if (!(sqrt(e / all) < 0.5)) /* three values alone leave 0.44 of a normal distribution */
            fail_msg("%s: an error of %.3f", myth_dtype_get((myth_dtype)t)->name, sqrt(e / all));
        n++;
    }
    assert_true(n > 10);
    static const float three[] = {-0.75f, 0.0f, 0.75f};
    for (int i = 0; i < 512; i++)
        x[i] = three[(i * 7 + i / 5) % 3];
    expect_row(MYTH_TQ2_0, x, 512, 0.0f); /* ternary values stay what they are */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_importance), cmocka_unit_test(test_plain_blocks),
        cmocka_unit_test(test_odd_values), cmocka_unit_test(test_alone),      cmocka_unit_test(test_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
