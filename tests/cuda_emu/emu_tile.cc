/* emu_tile.cc - the f16 tile product: fragments of the 32 lanes as the PTX manual lays them out, products exact, one rounding per element. */
#include "cuda_emu.h"

#include "../../engine/base/half.h"

void emu_mma_m16n8k16_f16(emu_site at, float *c, const uint32_t *a, const uint32_t *b)
{
    uint32_t mine[6] = { a[0], a[1], a[2], a[3], b[0], b[1] };
    const unsigned char (*slot)[EMU_SLOT_BYTES] = emu_exchange(at, 0xffffffffu, mine, sizeof(mine));
    const int g = emu_lane() / 4, t = emu_lane() % 4;
    double sum[4] = { 0.0, 0.0, 0.0, 0.0 };
    for (int k = 0; k < 16; k++) {
        const int holder = k % 8 / 2, half = k % 2, high = k / 8;
        double va[2], vb[2];
        for (int i = 0; i < 2; i++) {   /* A: rows g and g + 8; B: columns 2t and 2t + 1 */
            uint32_t w;
            memcpy(&w, slot[4 * g + holder] + 4 * (2 * high + i), 4);
            va[i] = (double)myth_f16_to_f32((uint16_t)(w >> 16 * half));
            memcpy(&w, slot[4 * (2 * t + i) + holder] + 4 * (4 + high), 4);
            vb[i] = (double)myth_f16_to_f32((uint16_t)(w >> 16 * half));
        }
        for (int i = 0; i < 4; i++)
            sum[i] += va[i / 2] * vb[i % 2];
    }
    for (int i = 0; i < 4; i++)
        c[i] = (float)((double)c[i] + sum[i]);
}
