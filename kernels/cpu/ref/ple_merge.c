/* ple_merge.c   p[r, l, :] = out_scale * (RMS(p_scale * p[r, l, :]) * w + table_scale * table[id, l, :]),   id =
 *               ids[r], or r without ids
 *
 * Precision  the mean of squares in double, everything else in f32; rows of the table are dequantised to f32
 * Table      an id outside the table reads row 0: Gemma 3n gives such ids to images and sounds. A block of a quantised
 *            type may reach from one layer's values into the next layer's, so a row is dequantised in pieces of PIECE
 *            values and not layer by layer */
#include "ref.h"

enum { PIECE = 256 }; /* a multiple of every type's block */

static void merge_row(const struct myth_ple_merge_args *a, float *p, const unsigned char *row)
{
    const float *w = cpu_f32(a->w);
    const uint64_t width = (uint64_t)a->n_layer * a->n_ple;
    float piece[PIECE];
    for (uint64_t l = 0; l < a->n_layer; l++) {
        float *x = p + l * a->n_ple;
        for (uint32_t i = 0; i < a->n_ple; i++)
            x[i] *= a->p_scale;
        ref_norm_row(x, x, w, a->n_ple, a->eps);
    }
    for (uint64_t at = 0; at < width; at += PIECE) {
        uint32_t n = width - at < PIECE ? (uint32_t)(width - at) : PIECE;
        cpu_row_to_f32(piece, row + myth_row_bytes(a->table.dtype, at), a->table.dtype, n);
        for (uint32_t i = 0; i < n; i++)
            p[at + i] = a->out_scale * (p[at + i] + a->table_scale * piece[i]);
    }
}

static void merge(void *arg, int tid, int n_threads)
{
    const struct myth_ple_merge_args *a = arg;
    const int32_t *ids = cpu_i32(a->ids);
    const uint64_t width = (uint64_t)a->n_layer * a->n_ple;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        uint64_t row = !ids ? r : (uint32_t)ids[r] < a->n_table ? (uint32_t)ids[r] : 0;
        merge_row(a, cpu_f32(a->p) + r * width, cpu_row(a->table, row, width));
    }
}

void cpu_ref_ple_merge(myth_stream *s, const struct myth_ple_merge_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, a->n_rows, merge, (void *)(uintptr_t)a);
}
