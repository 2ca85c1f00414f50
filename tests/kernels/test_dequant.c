/* test_dequant.c - every level and device reads weights of every quantised type as engine/base/blocks.c does, bit by
 * bit: the test compares rows of embed_gather with a scale of 1.
 *
 * Blocks   random bytes, so that every quant and inner scale occurs. Outer scales are any f16 except infinity and NaN,
 *          for which a model is refused; MXFP4 has any exponent
 * Except   on Vulkan the device decides whether values below 2^-126, or products with scales below it, are zero, and
 *          with which sign */
#include "op_case.h"

#include "engine/base/blocks.h"
#include "tests/support/check.h"

enum { N_ROW = 10, WIDTH = 2048, BLOCKS_FULL = 10000 };

static void fill(unsigned char *p, myth_dtype t, uint64_t *rng)
{
    const myth_dtype_info *info = myth_dtype_get(t);
    for (uint32_t b = 0; b < N_ROW * WIDTH / info->block; b++, p += info->block_bytes) {
        for (uint32_t i = 0; i < info->block_bytes; i++)
            p[i] = (unsigned char)check_below(rng, 256);
        for (uint32_t i = 0; i < info->n_half; i++) {
            unsigned char *high = p + info->half_off + 2 * i + 1;
            if ((*high & 0x7c) == 0x7c)
                *high ^= 0x04;
        }
    }
}

static bool is_same(float got, float want, bool is_vulkan)
{
    const float least = 0x1p-120f; /* 2^-126 times the largest quant of MXFP4, rounded up */
    if (is_vulkan && (got == want || (fabsf(got) < least && fabsf(want) < least)))
        return true;
    return memcmp(&got, &want, sizeof(got)) == 0;
}

static void check_rows(struct rig *r, const char *target, myth_dtype t, uint64_t *rng)
{
    const size_t row_bytes = (size_t)myth_row_bytes(t, WIDTH);
    myth_view table = rig_take(r, t, N_ROW, WIDTH, true), y = rig_view(r, MYTH_F32, N_ROW, WIDTH),
              ids = rig_view(r, MYTH_I32, 1, N_ROW);
    float want[WIDTH];
    myth_error err;
    fill(view_host(table), t, rng);
    for (int i = 0; i < N_ROW; i++)
        ((int32_t *)view_host(ids))[i] = (i * 7 + 3) % N_ROW;
    rig_push(r);
    myth_embed_gather(r->s, &(struct myth_embed_gather_args){
                                .y = y,
                                .table = table,
                                .ids = ids,
                                .n_rows = N_ROW,
                                .dim = WIDTH,
                                .n_vocab = N_ROW,
                                .scale = 1.0f,
                            });
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    for (int i = 0; i < N_ROW; i++) {
        const int id = (i * 7 + 3) % N_ROW;
        const float *got = (float *)view_host(y) + (size_t)i * WIDTH;
        myth_dequant_row(t, want, (unsigned char *)view_host(table) + (size_t)id * row_bytes, WIDTH);
        for (int k = 0; k < WIDTH; k++)
            if (!is_same(got[k], want[k], strncmp(target, "vulkan", 6) == 0))
                fail_msg("%s, %s: value %d of row %d is %.9g, not %.9g", target, myth_dtype_get(t)->name, k, id,
                         (double)got[k], (double)want[k]);
    }
    rig_clear(r);
}

static void rows_equal_the_reference(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_target = 0;
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        if (!rig_open(&r, rig_targets[l], 2, CASE_TEST, NULL))
            continue;
        for (int t = 0; t < MYTH_DTYPE_N; t++) {
            const uint32_t per_round = N_ROW * WIDTH / myth_dtype_block((myth_dtype)t),
                           n_round = check_is_full() ? (BLOCKS_FULL + per_round - 1) / per_round : 1;
            if (!myth_dtype_is_quant((myth_dtype)t))
                continue;
            for (uint32_t i = 0; i < n_round; i++)
                check_rows(&r, rig_targets[l], (myth_dtype)t, &rng);
        }
        printf("%s\n", rig_targets[l]);
        assert_int_equal(rig_close(&r), 0);
        n_target++;
    }
    assert_true(n_target > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_equal_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
