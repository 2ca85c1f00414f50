/* rope_table.cu   table[r, i] = (cos, sin)(pos[r] * base^(-2i / head_dim) / factor) for i < n_pair, else (1, 0)
 *
 * Shapes     table f32 [n_rows, head_dim / 2, 2]; pos i32 [n_rows]
 * Precision  the angle is an integer phase in which 2^64 is one turn, so that pos * step wraps around exactly. The
 *            step, the angle of one position, is computed by the host in its widest float; its rounding, times a
 *            position of 2^31, is 2^-33 of a turn. At most an eighth of a turn is left for sinf and cosf. The error is
 * 1.5e-7 in all
 * Traffic    writes 4 * n_rows * head_dim bytes
 * Limit      launch latency; it runs once a step for all layers */
#include "attn.cuh"

enum { THREADS = 128, PART = 256 }; /* PART: pairs of a launch, whose steps are kernel arguments */

struct rope_steps {
    uint64_t of[PART];
};

static __global__ void rope_table_k(float *table, const int *pos, const rope_steps steps, uint32_t n_half,
                                    uint32_t first, uint32_t n)
{
    const uint64_t row = blockIdx.x;
    const uint64_t p = (uint64_t)(int64_t)pos[row];
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        const uint64_t phase = p * steps.of[i], quarter = (phase + (1ull << 61)) >> 62;
        const float angle = (float)(int64_t)(phase - (quarter << 62)) * 3.4061216e-19f; /* 2 pi / 2^64 */
        const float c = cosf(angle), s = sinf(angle);
        float *pair = table + (row * n_half + first + i) * 2;
        pair[0] = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
        pair[1] = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    }
}

static uint64_t step_of(double base, double factor, uint32_t i, uint32_t head_dim)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    long double turns =
        powl((long double)base, -2.0L * (long double)i / (long double)head_dim) / ((long double)factor * turn);
    turns -= floorl(turns);
    return (uint64_t)(turns * 18446744073709551616.0L);
}

static __global__ void fold_steps_k(uint64_t *out, const rope_steps steps, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        out[i] = steps.of[i];
}

/* Heads of attention are at most 512 wide, so 256 pairs suffice. */
const uint64_t *cuda_fold_steps(myth_stream *s, const struct myth_key_fold *fold, uint32_t head_dim)
{
    const struct cuda_device *d = cuda_of(s);
    uint64_t *out =
        (uint64_t *)(void *)((unsigned char *)d->scratch + d->scratch_bytes - cuda_work_steps(&d->base.shape));
    const uint32_t n = fold->n_pair < PART ? fold->n_pair : (uint32_t)PART;
    rope_steps steps;
    for (uint32_t i = 0; i < PART; i++)
        steps.of[i] = i < n ? step_of(fold->base, fold->factor, i, head_dim) : 0;
    MYTH_LAUNCH(fold_steps_k, 1, THREADS, 0, s)(out, steps, n);
    return out;
}

extern "C" void cuda_rope_table(myth_stream *s, const struct myth_rope_table_args *a)
{
    const uint32_t n_half = a->head_dim / 2;
    for (uint32_t first = 0; first < n_half; first += PART) {
        const uint32_t left = n_half - first, n = left < PART ? left : (uint32_t)PART;
        rope_steps steps;
        for (uint32_t i = 0; i < PART; i++) /* pairs without a step keep angle 0 */
            steps.of[i] = i < n && first + i < a->n_pair ? step_of(a->base, a->factor, first + i, a->head_dim) : 0;
        MYTH_LAUNCH(rope_table_k, a->n_rows, THREADS, 0, s)
        (cuda_ptr<float>(a->table), cuda_ptr<const int>(a->pos), steps, n_half, first, n);
    }
    cuda_check(s, "rope_table");
}
