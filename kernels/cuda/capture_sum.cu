/* capture_sum.cu   sum[label[i],:] += round(t * 2^24),  t = x[rows[i],:] after the prologue (x itself is unchanged)
 *
 * Shapes     sum i64 [n_label, dim]; x, pend f32 [.., dim]; rows, label i32 [n_gather], label -1 = left out
 * Precision  t has the bits that gather_norm gives without a norm. t * 2^24 is exact in f32 and is rounded once, ties
 *            to even. Integers give the same sum in any order
 * Traffic    8 bytes per element with a pending branch (4 without), and 8 of the sums per ROWS rows of one label
 * Limit      DRAM bandwidth for x and pend; L2 atomics for the sums. A block takes ROWS rows and adds those of one
 *            label as one number. If that carries a sum out of 64 bits, the number is subtracted again
 * Alignment  where sums are not aligned to 8 bytes, one block does plain additions, row by row */
#include "rows.cuh"

enum { THREADS = 256, ROWS = 4 };

struct capture_job {
    int *sum;
    unsigned *bad;
    const float *x, *pend, *w_post;
    const int *rows, *label;
    uint32_t n_gather, dim;
    float eps, x_scale;
};

/* Writes a + b to out; true when the sum does not fit 64 bits. */
static __device__ __forceinline__ bool adds_past(long long a, long long b, long long *out)
{
    *out = (long long)((unsigned long long)a + (unsigned long long)b);
    return b < 0 ? *out > a : *out < a;
}

template <bool IS_SHARED> static __device__ __forceinline__ bool add_to(int *at, long long v)
{
    long long next;
    if (IS_SHARED) {
        unsigned long long *sum = (unsigned long long *)(void *)at;
        if (!adds_past((long long)atomicAdd(sum, (unsigned long long)v), v, &next))
            return true;
        atomicAdd(sum, 0ull - (unsigned long long)v);
        return false;
    }
    long long old = (long long)((unsigned long long)(unsigned)at[1] << 32 | (unsigned)at[0]);
    if (adds_past(old, v, &next))
        return false;
    at[0] = (int)(unsigned)next;
    at[1] = (int)(unsigned)((unsigned long long)next >> 32);
    return true;
}

template <bool IS_SHARED, int N> static __global__ void capture_sum_k(const capture_job j)
{
    MYTH_SHARED(float, sums, 32);
    bool is_good = true;
    for (uint32_t first = blockIdx.x * N; first < j.n_gather; first += gridDim.x * N) {
        const float *x[N], *pend[N];
        float scale[N];
        int label[N];
#pragma unroll
        for (uint32_t k = 0; k < N; k++) {
            label[k] = first + k < j.n_gather ? j.label[first + k] : -1;
            x[k] = pend[k] = nullptr;
            scale[k] = 1.0f;
            if (label[k] < 0)
                continue;
            const uint64_t at = (uint64_t)(uint32_t)j.rows[first + k] * j.dim;
            x[k] = j.x + at;
            if (!j.pend)
                continue;
            pend[k] = j.pend + at;
            if (j.w_post)
                scale[k] = row_scale(pend[k], j.dim, j.eps, sums);
        }
        for (uint32_t i = threadIdx.x; i < j.dim; i += THREADS) {
            long long held = 0;
            int of = -1; /* the label of the number that is not added yet */
#pragma unroll
            for (uint32_t k = 0; k < N; k++) {
                if (label[k] < 0)
                    continue;
                const float v = row_fold(x[k], pend[k], j.w_post, scale[k], j.x_scale, i) *
                                (float)(1 << MYTH_CAPTURE_FRACTION_BITS);
                if (!(fabsf(v) < 0x1p62f)) {
                    is_good = false;
                    continue;
                }
                const bool is_alone = fabsf(v) >= 0x1p52f; /* N smaller numbers fit 64 bits together */
                if (of >= 0 && (is_alone || of != label[k])) {
                    is_good &= add_to<IS_SHARED>(j.sum + 2 * ((uint64_t)of * j.dim + i), held);
                    held = 0;
                    of = -1;
                }
                if (is_alone) {
                    is_good &= add_to<IS_SHARED>(j.sum + 2 * ((uint64_t)label[k] * j.dim + i), __float2ll_rn(v));
                    continue;
                }
                held += __float2ll_rn(v);
                of = label[k];
            }
            if (of >= 0)
                is_good &= add_to<IS_SHARED>(j.sum + 2 * ((uint64_t)of * j.dim + i), held);
        }
    }
    if (!is_good)
        atomicOr(j.bad, 1u);
}

extern "C" void cuda_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a)
{
    capture_job j;
    j.sum = cuda_ptr<int>(a->sum);
    j.bad = cuda_ptr<unsigned>(a->bad);
    j.x = cuda_ptr<const float>(a->x);
    j.pend = cuda_ptr<const float>(a->pend);
    j.w_post = cuda_ptr<const float>(a->w_post);
    j.rows = cuda_ptr<const int>(a->rows);
    j.label = cuda_ptr<const int>(a->label);
    j.n_gather = a->n_gather;
    j.dim = a->dim;
    j.eps = a->eps;
    j.x_scale = cuda_x_scale(a->x_scale);
    if ((uint64_t)(uintptr_t)j.sum % 8 == 0)
        MYTH_LAUNCH((capture_sum_k<true, ROWS>), (a->n_gather + ROWS - 1) / ROWS, THREADS, 0, s)(j);
    else
        MYTH_LAUNCH((capture_sum_k<false, 1>), 1, THREADS, 0, s)(j);
    cuda_check(s, "capture_sum");
}
