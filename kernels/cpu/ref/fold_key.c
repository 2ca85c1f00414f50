/* fold_key.c   key = RoPE(w * v) at the key's position
 *
 * Precision  f32, with the same operations as qkv_rope_store after its norm: with a cache of f32 a folded key has the
 *            bits of a stored one. Angles past the table are computed in double and rounded once, as in rope_table */
#include "kernels/cpu/cpu.h"

#include <math.h>

static void rotate(float *row, uint32_t i, uint32_t n_half, float c, float s)
{
    const float lo = row[i], hi = row[i + n_half];
    row[i] = lo * c - hi * s;
    row[i + n_half] = hi * c + lo * s;
}

void cpu_fold_key(float *row, const struct myth_key_fold *fold, uint32_t pos, uint32_t head_dim)
{
    const float *w = cpu_f32(fold->w),
                *table = pos < fold->n_table ? cpu_f32(fold->table) + (size_t)pos * fold->n_pair * 2 : NULL;
    const uint32_t n_half = head_dim / 2;
    for (uint32_t i = 0; i < head_dim; i++)
        row[i] *= w[i];
    for (uint32_t i = 0; table && i < fold->n_pair; i++)
        rotate(row, i, n_half, table[2 * i], table[2 * i + 1]);
    for (uint32_t i = 0; !table && i < fold->n_pair; i++) {
        const double angle = pos * (pow(fold->base, -2.0 * (double)i / head_dim) / fold->factor);
        rotate(row, i, n_half, (float)cos(angle), (float)sin(angle));
    }
}
