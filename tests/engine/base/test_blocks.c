/* test_blocks.c - 10,000 blocks of every quantised type, dequantised bit by bit as gguf-py does
 * (tests/golden/make_blocks.py, which says how the blocks are made), subnormal and extreme scales among them. */
#include "tests/support/check.h"

#include "engine/base/blocks.h"

#include <inttypes.h>

enum { N = 10000, GROUP = 500, BYTES_MAX = 210 };

static const uint64_t Z_STEP = 0x9E3779B97F4A7C15u;

static uint64_t splitmix(uint64_t z)
{
    z += Z_STEP;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void add(uint64_t *sum, uint64_t i, uint64_t word)
{
    uint64_t z = (i + 1) * Z_STEP;
    *sum += (word + 1) * ((z ^ z >> 29) | 1);
}

static void make_blocks(unsigned char *raw, myth_dtype t)
{
    const myth_dtype_info *info = myth_dtype_get(t);
    const uint64_t bytes = (uint64_t)N * info->block_bytes;
    for (uint64_t i = 0; i < bytes; i++)
        raw[i] = (unsigned char)(splitmix((uint64_t)(uint32_t)info->gguf << 40 | i / 8) >> i % 8 * 8);
    for (uint32_t b = 0; b < N; b++) {
        unsigned char *p = raw + (size_t)b * info->block_bytes;
        if (t == MYTH_MXFP4)
            p[0] = (unsigned char)(b % 253);
        for (uint32_t k = 0; k < info->n_half; k++) {
            unsigned char *at = p + info->half_off + 2 * k;
            unsigned h = at[0] | (unsigned)at[1] << 8, finite = (h & 0x7c00) == 0x7c00 ? h & 0xbfff : h;
            h = b % 4 == 1           ? h & 0x83ff
              : b % 4 == 2 && k == 0 ? h & 0x8000
              : b % 4 == 3           ? (h & 0x8000) | 0x7bff
                                     : finite;
            at[0] = (unsigned char)h;
            at[1] = (unsigned char)(h >> 8);
        }
    }
}

static void every_block_is_gguf_pys(void **state)
{
    (void)state;
    static unsigned char raw[N * BYTES_MAX];
    static float x[GROUP * MYTH_BLOCK_MAX];
    char path[1024];
    int n_type = 0;
    uint32_t code;
    FILE *f = fopen(check_path(path, sizeof(path), "tests/golden/blocks.txt"), "r");
    assert_non_null(f);
    for (; fscanf(f, "%" SCNu32, &code) == 1; n_type++) {
        myth_dtype t;
        assert_true(myth_dtype_from_gguf(&t, code));
        const uint64_t block = myth_dtype_block(t), bytes = myth_dtype_block_bytes(t);
        make_blocks(raw, t);
        for (uint32_t g = 0; g < N / GROUP; g++) {
            uint64_t want[2], sum[2] = {0, 0};
            const unsigned char *p = raw + g * GROUP * bytes;
            assert_int_equal(fscanf(f, "%" SCNx64 " %" SCNx64, &want[0], &want[1]), 2);
            for (uint64_t i = 0; i < GROUP * bytes; i++)
                add(&sum[0], i, p[i]);
            myth_dequant_row(t, x, p, GROUP * block);
            for (uint64_t i = 0; i < GROUP * block; i++)
                add(&sum[1], i, myth_f32_bits(x[i]));
            assert_int_equal(sum[0], want[0]); /* the same blocks */
            if (sum[1] != want[1])
                fail_msg("%s: blocks %u to %u: the values are not gguf-py's", myth_dtype_get(t)->name, g * GROUP,
                         (g + 1) * GROUP - 1);
        }
        printf("%-6s %d blocks\n", myth_dtype_get(t)->name, N);
    }
    fclose(f);
    int n_quant = 0;
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        n_quant += myth_dtype_is_quant((myth_dtype)t);
    assert_int_equal(n_type, n_quant); /* a type without a line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_block_is_gguf_pys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
