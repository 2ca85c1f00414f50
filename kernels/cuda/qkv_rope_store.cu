/* qkv_rope_store.cu   q = rope(RMS(q) * n_q) * q_scale;   k_new = rope(RMS(k) * n_k);   v_new = v, or RMS(v) with
 *                     has_v_norm; with v_is_k, v is k as it was before its norm
 *
 * Shapes     qkv f32: q [n_rows, n_head, head_dim], k and v [n_rows, n_head_kv, head_dim]; k_new, v_new [n_head_kv,
 *            cap_rows, head_dim]
 * Rope       rotates the pairs (i, i + head_dim / 2), as the published Gemma weights want it
 * Precision  f32; k_new and v_new are rounded once, to the cache type (kv_store.cuh)
 * Traffic    rows * heads * head_dim * (4 + bytes of a cached value)
 * Limit      DRAM bandwidth in prefill; in decode the fused op does this. One block per (row, head) */
#include "kv_store.cuh"

enum { THREADS = 128 };

struct store_job {
    const float *qkv, *n_q, *n_k, *rope;
    float *q;
    unsigned char *k_new, *v_new;
    uint32_t n_rows, cap_rows, n_head, n_head_kv, head_dim, k_bytes, v_bytes;
    int k_type, v_type;
    float eps, q_scale;
    bool v_is_k, has_v_norm;
};

static __global__ void qkv_rope_store_k(const store_job j)
{
    MYTH_SHARED(float, sums, 32);
    MYTH_SHARED_DYN(float, head); /* [head_dim] */
    const uint32_t r = blockIdx.x, h = blockIdx.y, hd = j.head_dim, n_half = hd / 2;
    const bool is_q = h < j.n_head, is_v = h >= j.n_head + (j.k_new ? j.n_head_kv : 0u);
    const uint32_t kv = is_q ? 0 : (h - j.n_head) % j.n_head_kv;
    const uint64_t rows = j.n_rows, q_row = (uint64_t)r * j.n_head + h;
    const uint64_t row =
        is_q ? q_row : rows * j.n_head + (is_v && !j.v_is_k ? rows * j.n_head_kv : 0) + (uint64_t)r * j.n_head_kv + kv;
    const float *src = j.qkv + row * hd,
                *norm = is_q ? j.n_q
                      : is_v ? nullptr
                             : j.n_k,
                *rope = j.rope + (uint64_t)r * hd;
    float scale = 1.0f;
    if (norm || (is_v && j.has_v_norm)) {
        float ss = 0.0f;
        for (uint32_t i = threadIdx.x; i < hd; i += THREADS)
            ss = fmaf(src[i], src[i], ss);
        scale = 1.0f / sqrtf(block_sum(ss, sums) / (float)hd + j.eps);
    }
    for (uint32_t i = threadIdx.x; i < n_half; i += THREADS) {
        float lo = src[i], hi = src[i + n_half];
        if (norm) {
            lo = lo * scale * norm[i];
            hi = hi * scale * norm[i + n_half];
        } else {
            lo *= scale;
            hi *= scale;
        }
        const float c = is_v ? 1.0f : rope[2 * i], s = is_v ? 0.0f : rope[2 * i + 1];
        head[i] = is_v ? lo : lo * c - hi * s;
        head[i + n_half] = is_v ? hi : hi * c + lo * s;
    }
    __syncthreads();
    if (is_q) {
        for (uint32_t i = threadIdx.x; i < hd; i += THREADS)
            j.q[q_row * hd + i] = head[i] * j.q_scale;
        return;
    }
    const uint64_t at = (uint64_t)kv * j.cap_rows + r;
    if (is_v)
        kv_store_row<THREADS / 32>(j.v_new + at * j.v_bytes, j.v_type, head, hd, 1.0f);
    else
        kv_store_row<THREADS / 32>(j.k_new + at * j.k_bytes, j.k_type, head, hd, 1.0f);
}

extern "C" void cuda_qkv_rope_store(myth_stream *s, const struct myth_qkv_rope_store_args *a)
{
    store_job j;
    j.qkv = cuda_ptr<const float>(a->qkv);
    j.n_q = cuda_ptr<const float>(a->n_q);
    j.n_k = cuda_ptr<const float>(a->n_k);
    j.rope = cuda_ptr<const float>(a->rope);
    j.q = cuda_ptr<float>(a->q);
    j.k_new = cuda_ptr<unsigned char>(a->k_new);
    j.v_new = cuda_ptr<unsigned char>(a->v_new);
    j.n_rows = a->n_rows;
    j.cap_rows = a->cap_rows;
    j.n_head = a->n_head;
    j.n_head_kv = a->n_head_kv;
    j.head_dim = a->head_dim;
    j.k_bytes = (uint32_t)myth_row_bytes(a->k_new.dtype, a->head_dim);
    j.v_bytes = (uint32_t)myth_row_bytes(a->v_new.dtype, a->head_dim);
    j.k_type = a->k_new.dtype;
    j.v_type = a->v_new.dtype;
    j.eps = a->eps;
    j.q_scale = a->q_scale;
    j.v_is_k = a->v_is_k;
    j.has_v_norm = a->has_v_norm;
    const uint32_t n_stored = (j.k_new ? 1u : 0u) + (j.v_new ? 1u : 0u);
    MYTH_LAUNCH(qkv_rope_store_k, dim3(a->n_rows, a->n_head + n_stored * a->n_head_kv), THREADS,
                (uint64_t)a->head_dim * sizeof(float), s)
    (j);
    cuda_check(s, "qkv_rope_store");
}
