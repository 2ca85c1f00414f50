/* test_fast_product.c - compares products of the fast levels with sums in double over the same rounded inputs. The only
 * loss may be the rounding of activations (int8 blocks of 32, bf16, or none): no term, scale or tail may be missing.
 * Tests panels that end early, rows that fill no tile, widths past one panel, and both paths. 1, 2 and 5 threads must
 * give the same bits. */
#include "engine/base/blocks.h"
#include "kernels/ops.h"
#include "tests/support/check.h"

#include <math.h>

enum { ROWS = 27, OUT = 71, IN = 4352 };

struct shape {
    uint32_t n_rows, n_out, n_in;
};
static const struct shape shapes[] = {
    {1, 1, 32},    {1, 33, 96},    {5, 31, 640},   {6, 32, 128},  {7, 64, 1152},
    {12, 33, 160}, {13, 70, 2048}, {27, 71, 2080}, {3, 37, 4192},
};

static uint64_t state;
static float uniform(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (float)((double)(state >> 40) / (1 << 23) - 1.0);
}

static float x[ROWS * IN], wide[OUT * IN];
static unsigned char packed[OUT * IN * 4];

/* Makes random weights of the type and their values. With `fill` >= 0 every byte of a block except its scales is
 * `fill`. */
static void make_weights(myth_dtype t, uint32_t n_out, uint32_t n_in, int fill)
{
    for (uint64_t o = 0; o < n_out; o++) {
        unsigned char *row = packed + o * myth_row_bytes(t, n_in);
        for (uint32_t k = 0; k < n_in; k++) {
            float v = uniform(), *w = &wide[o * n_in + k];
            uint16_t h;
            switch (t) {
            case MYTH_F16:
                h = myth_f32_to_f16(v);
                *w = myth_f16_to_f32(h);
                memcpy(row + 2 * k, &h, 2);
                break;
            case MYTH_BF16:
                h = myth_f32_to_bf16(v);
                *w = myth_bf16_to_f32(h);
                memcpy(row + 2 * k, &h, 2);
                break;
            case MYTH_F32:
                *w = v;
                memcpy(row + 4 * k, &v, 4);
                break;
            default: break;
            }
        }
        if (!myth_dtype_is_quant(t))
            continue;
        const myth_dtype_info *info = myth_dtype_get(t);
        for (uint32_t b = 0; b < n_in / info->block; b++) { /* random bytes, with scales of about one size */
            unsigned char *p = row + b * info->block_bytes;
            for (uint32_t i = 0; i < info->block_bytes; i++)
                p[i] = fill < 0 ? (unsigned char)(127.99f + 127.99f * uniform()) : (unsigned char)fill;
            if (b == 0 && t == MYTH_Q8_0 && fill < 0)
                p[2] = 0x80; /* -128, which no quantiser writes but a file may contain */
            if (t == MYTH_MXFP4)
                p[0] = (unsigned char)(120 + p[0] % 4);
            for (uint32_t i = 0; i < info->n_half; i++) {
                uint16_t h = myth_f32_to_f16(0.01f + 0.009f * uniform());
                memcpy(p + info->half_off + 2 * i, &h, 2);
            }
        }
        myth_dequant_row(t, wide + o * n_in, row, n_in);
    }
}

enum rounding { NONE, TO_BF16, TO_I8, TO_BF16_BOTH, ROUNDING_N };

static float round_to(float v, enum rounding how, float scale)
{
    if (how == TO_BF16 || how == TO_BF16_BOTH)
        return myth_bf16_to_f32(myth_f32_to_bf16(v));
    return how == TO_I8 ? rintf(v * (1.0f / scale)) * scale : v;
}

/* The largest error of y, divided by the sum of the magnitudes of its terms, if activations are rounded as `how` says.
 */
static double worst(const float *y, struct shape s, enum rounding how)
{
    static double rounded[IN];
    double most = 0.0;
    for (uint32_t r = 0; r < s.n_rows; r++) {
        for (uint32_t k = 0; k < s.n_in; k++) {
            float amax = 0.0f;
            for (uint32_t i = k / 32 * 32; i < k / 32 * 32 + 32; i++)
                amax = fmaxf(amax, fabsf(x[r * s.n_in + i]));
            rounded[k] = (double)round_to(x[r * s.n_in + k], how, amax / 127.0f);
        }
        for (uint32_t o = 0; o < s.n_out; o++) {
            double sum = 0.0, size = 1e-30;
            for (uint32_t k = 0; k < s.n_in; k++) {
                double t = rounded[k] * (double)round_to(wide[o * s.n_in + k], how == TO_BF16_BOTH ? how : NONE, 1.0f);
                sum += t;
                size += fabs(t);
            }
            double e = fabs((double)y[r * s.n_out + o] - sum) / size;
            most = e > most || !(e == e) ? e : most;
        }
    }
    return most;
}

/* y = W x on a fresh device. */
static void multiply(float *y, const char *level, int n_threads, struct shape s, myth_dtype t, bool is_decode)
{
    myth_mem *mem;
    myth_device *dev;
    myth_stream *st;
    myth_buf *bx, *by, *bw;
    myth_error err;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    assert_int_equal(myth_device_open(&dev, mem,
                                      &(myth_device_opts){.name = "cpu", .n_threads = n_threads, .cpu_level = level},
                                      &err),
                     MYTH_OK);
    myth_work_shape shape = {
        .n_rows = s.n_rows,
        .n_logit_rows = 1,
        .d_model = s.n_in,
        .d_ff = s.n_in,
        .n_head = 1,
        .n_head_kv = 1,
        .head_dim = 16,
        .n_vocab = 1,
        .top_k = 1,
    };
    assert_int_equal(myth_device_reserve(dev, &shape, &err), MYTH_OK);
    assert_int_equal(myth_stream_open(&st, dev, &err), MYTH_OK);
    assert_int_equal(myth_buf_wrap(&bx, dev, x, sizeof(x), &err), MYTH_OK);
    assert_int_equal(myth_buf_wrap(&bw, dev, packed, sizeof(packed), &err), MYTH_OK);
    assert_int_equal(myth_buf_wrap(&by, dev, y, (uint64_t)ROWS * OUT * sizeof(float), &err), MYTH_OK);
    myth_proj(st, &(struct myth_proj_args){
                      .y = myth_view_at(by, 0, MYTH_F32),
                      .x = myth_view_at(bx, 0, MYTH_F32),
                      .w = myth_view_at(bw, 0, t),
                      .n_rows = s.n_rows,
                      .n_in = s.n_in,
                      .n_out = s.n_out,
                      .is_decode = is_decode,
                  });
    assert_int_equal(myth_stream_sync(st, &err), MYTH_OK);
    myth_buf_close(bx);
    myth_buf_close(bw);
    myth_buf_close(by);
    myth_stream_close(st);
    myth_device_close(dev);
    assert_int_equal(myth_mem_close(mem), 0);
}

static bool is_present(const char *level)
{
    myth_mem *mem;
    myth_device *dev;
    myth_error err;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    bool found = myth_device_open(&dev, mem, &(myth_device_opts){.name = "cpu", .n_threads = 1, .cpu_level = level},
                                  &err) == MYTH_OK;
    if (found)
        myth_device_close(dev);
    else
        check_left_out_target(level, err.msg);
    myth_mem_close(mem);
    return found;
}

static void check_level(const char *level)
{
    static float y[ROWS * OUT], again[ROWS * OUT];
    const double limit = 1e-6;
    double most = 0.0;
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int t = 0; t < MYTH_DTYPE_N; t++)
            for (int is_decode = 0; is_decode < 2 && t != MYTH_I32; is_decode++, n++) {
                const myth_dtype type = (myth_dtype)t;
                const uint32_t block = myth_dtype_block(type), share = check_is_full() ? 1 : 3 * check_quick();
                if (((n + (uint32_t)check_seed()) * 2654435761u >> 16) %
                    share) /* a scattered sample, in which every shape, type and path occurs */
                    continue;
                struct shape s = shapes[i];
                s.n_in = (s.n_in + block - 1) / block * block;
                make_weights(type, s.n_out, s.n_in, -1);
                for (uint32_t k = 0; k < s.n_rows * s.n_in; k++)
                    x[k] = uniform();
                multiply(y, level, 1, s, type, is_decode);
                double least = INFINITY; /* a level may choose any of the roundings */
                for (int how = NONE; how < ROUNDING_N; how++)
                    least = fmin(least, worst(y, s, (enum rounding)how));
                if (!(least <= limit))
                    fail_msg("%s %s %s: rows %u out %u in %u: %.2e of the sum of magnitudes; at most %.2e", level,
                             myth_dtype_get(type)->name, is_decode ? "decode" : "prefill", s.n_rows, s.n_out, s.n_in,
                             least, limit);
                most = least > most ? least : most;
                for (int threads = 2; threads <= 5; threads += 3) {
                    multiply(again, level, threads, s, type, is_decode);
                    assert_memory_equal(again, y, s.n_rows * s.n_out * sizeof(float));
                }
            }
    printf("level %-7s %u products, worst %.2e of the sum of magnitudes, bit-equal on 1, 2 and 5 threads\n", level, n,
           most);
}

static const char *const levels[] = {"ref", "avx2", "avx512", "amx", "neon"};

/* Row 0 is all 1 and row 1 all -1; the other rows change their sign after 1, 4, 16 and 64 values. */
static float one_of(uint32_t row, uint32_t k)
{
    const bool is_neg = row < 2 ? row == 1 : (k >> 2 * (row - 2) & 1) != 0;
    return is_neg ? -1.0f : 1.0f;
}

/* Weights and activations have their largest magnitude, with one sign or with both in turn. Sums that a level keeps in
 * 16 bits must not overflow. */
static void check_extremes(const char *level)
{
    static const int fills[] = {0x00, 0x7f, 0x80, 0x88, 0xff};
    static float y[ROWS * OUT];
    const struct shape s = {6, 33, 512};
    const double limit =
        2e-5; /* equal terms round the same way, so errors add up; an overflow is a thousand times larger */
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]) && myth_dtype_is_quant((myth_dtype)t); i++) {
            float size = 0.0f;
            make_weights((myth_dtype)t, s.n_out, s.n_in, fills[i]);
            for (uint32_t k = 0; k < s.n_in; k++)
                size += fabsf(wide[k]);
            if (size == 0.0f) /* nothing to compare an error with */
                continue;
            for (uint32_t k = 0; k < s.n_rows * s.n_in; k++)
                x[k] = one_of(k / s.n_in, k % s.n_in);
            for (int is_decode = 0; is_decode < 2; is_decode++) {
                multiply(y, level, 1, s, (myth_dtype)t, is_decode);
                double least = INFINITY;
                for (int how = NONE; how < ROUNDING_N; how++)
                    least = fmin(least, worst(y, s, (enum rounding)how));
                if (!(least <= limit))
                    fail_msg("%s %s %s of bytes 0x%02x: %.2e of the sum of magnitudes; at most %.2e", level,
                             myth_dtype_get((myth_dtype)t)->name, is_decode ? "decode" : "prefill", (unsigned)fills[i],
                             least, limit);
            }
        }
}

static void test_extremes(void **unused)
{
    (void)unused;
    state = check_seed();
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (is_present(levels[i]))
            check_extremes(levels[i]);
}

static void test_products(void **unused)
{
    (void)unused;
    state = check_seed();
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (is_present(levels[i]))
            check_level(levels[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
