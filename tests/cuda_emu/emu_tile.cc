/* emu_tile.cc - products of tiles: fragments and operands as the PTX manual lays them out, products exact, one rounding
 * per element of a call. */
#include "cuda_emu.h"
#include "emu_block.h"

#include "engine/base/half.h"

/* Sums of what was read under the sanitizers' eyes; half the time of a session is spent here. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined"), noinline))

static struct f16_values {
    float of[1 << 16];
    f16_values()
    {
        for (unsigned h = 0; h < 1u << 16; h++)
            of[h] = myth_f16_to_f32((uint16_t)h);
    }
} f16;

enum { TILE_F16, TILE_BF16 };

/* out[i] = h[i]. */
template <int TYPE, int N> UNCHECKED static void values(float *out, const uint16_t *h)
{
    for (int i = 0; i < N; i++) {
        const unsigned bits = (unsigned)h[i] << 16;
        if (TYPE == TILE_F16)
            out[i] = f16.of[h[i]];
        else
            memcpy(&out[i], &bits, 4);
    }
}

/* c + a . b over 16 values. */
UNCHECKED static float add_product(float c, const float *a, const float *b)
{
    double sum = 0.0;
    for (int k = 0; k < 16; k++)
        sum += (double)a[k] * (double)b[k];
    return (float)((double)c + sum);
}

template <int TYPE> static void mma_m16n8k16(emu_site at, float *c, const uint32_t *a, const uint32_t *b)
{
    const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    const unsigned char(*slot)[EMU_SLOT_BYTES] = emu_exchange(at, 0xffffffffu, mine, sizeof(mine));
    const int g = emu_lane() / 4, t = emu_lane() % 4;
    uint16_t bits[4][16]; /* rows g and g + 8 of A; columns 2t and 2t + 1 of B */
    float v[4][16];
    for (int high = 0; high < 2; high++)
        for (int holder = 0; holder < 4; holder++)
            for (int i = 0; i < 2; i++) {
                memcpy(&bits[i][8 * high + 2 * holder], slot[4 * g + holder] + 4 * (2 * high + i), 4);
                memcpy(&bits[2 + i][8 * high + 2 * holder], slot[4 * (2 * t + i) + holder] + 4 * (4 + high), 4);
            }
    values<TYPE, 64>(v[0], bits[0]);
    for (int i = 0; i < 4; i++)
        c[i] = add_product(c[i], v[i / 2], v[2 + i % 2]);
}

void emu_mma_m16n8k16_bf16(emu_site at, float *c, const uint32_t *a, const uint32_t *b)
{
    mma_m16n8k16<TILE_BF16>(at, c, a, b);
}
void emu_mma_m16n8k16_f16(emu_site at, float *c, const uint32_t *a, const uint32_t *b)
{
    mma_m16n8k16<TILE_F16>(at, c, a, b);
}

/* Row `row` of an operand of wgmma: 16 values of a row of 128 bytes, 16-byte chunk i of row r at i ^ (r % 8). */
static void operand_row(float (&v)[16], const void *operand, int row)
{
    uint16_t bits[16];
    for (int chunk = 0; chunk < 2; chunk++) {
        uintptr_t at = (uintptr_t)operand + (uintptr_t)row * 128 + (uintptr_t)chunk * 16;
        at ^= (at >> 7 & 7) << 4;
        emu_race_touch((const void *)at, 16, false);
        memcpy(bits + 8 * chunk, (const void *)at, 16);
    }
    values<TILE_F16, 16>(v, bits);
}

/* c[n][0..3] of this thread, n < 8 or 16; see wgmma.cuh. */
void emu_wgmma_k16_f16(float (*c)[4], int n, const void *a, const void *b)
{
    const int row = 16 * ((int)(threadIdx.x >> 5) % 4) + emu_lane() / 4, column = 2 * (emu_lane() % 4);
    float va[2][16], vb[16];
    if (!emu_code_has_wgmma())
        emu_complain("a product of sm_90a, in code for another architecture");
    operand_row(va[0], a, row);
    operand_row(va[1], a, row + 8);
    for (int i = 0; i < n; i++)
        for (int e = 0; e < 2; e++) {
            operand_row(vb, b, 8 * i + column + e);
            c[i][e] = add_product(c[i][e], va[0], vb);
            c[i][2 + e] = add_product(c[i][2 + e], va[1], vb);
        }
}
