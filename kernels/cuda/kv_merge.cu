/* kv_merge.cu   copies the scratch rows of runs that are not ephemeral into their pages or rings; scratch and cache
 *               have the same type, so nothing is rounded
 *
 * Shapes     k_new, v_new [n_head_kv, cap_rows, head_dim] of the cache type; n_run records
 * Traffic    2 * rows * n_head_kv * (K row + V row)
 * Limit      launch latency, since a step's rows are at most a few MB. A warp copies a row; PART blocks share the rows
 *            of a run for one head
 * Gaps       the rows of a run come after its gaps; pages wholly in a gap have no entry in the table */
#include "attn.cuh"

enum { THREADS = 128, WARPS = THREADS / 32, PART = 8 };

struct merge_job {
    kv_map kv;
    const int *runs;
    bool has_k; /* false: the cache has values only */
};

template <typename T>
static __device__ __forceinline__ void copy_row(unsigned char *dst, const unsigned char *src, uint32_t n_bytes)
{
    for (uint32_t i = (uint32_t)lane(); i < n_bytes / sizeof(T); i += 32)
        ((T *)(void *)dst)[i] = ((const T *)(const void *)src)[i];
}

static __global__ void kv_merge_k(const merge_job j)
{
    const int *rec = j.runs + (uint64_t)(blockIdx.x / PART) * MYTH_RUN_WIDTH;
    const uint32_t head = j.has_k ? blockIdx.y >> 1 : blockIdx.y, n_rows = (uint32_t)rec[MYTH_RUN_N_ROWS];
    const bool is_v = !j.has_k || (blockIdx.y & 1);
    if (rec[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL)
        return;
    const kv_run r = kv_read_run(j.kv, rec);
    const uint32_t n_bytes = is_v ? j.kv.v_bytes : j.kv.k_bytes;
    uint32_t first = j.kv.is_ring && n_rows > j.kv.page_tok ? n_rows - j.kv.page_tok
                                                            : 0; /* later rows of the run overwrite those before */
    for (uint32_t i = first + blockIdx.x % PART * WARPS + (uint32_t)warp(); i < n_rows; i += PART * WARPS) {
        const unsigned char *src = kv_row(j.kv, r, head, r.pos0 + i, is_v);
        unsigned char *dst = kv_cached_row(j.kv, r, head, r.pos0 + i, is_v);
        uint64_t bits = (uint64_t)(uintptr_t)src | (uint64_t)(uintptr_t)dst | n_bytes;
        if (bits % 16 == 0)
            copy_row<uint4>(dst, src, n_bytes);
        else if (bits % 4 == 0)
            copy_row<uint32_t>(dst, src, n_bytes);
        else
            copy_row<uint16_t>(dst, src, n_bytes);
    }
}

extern "C" void cuda_kv_merge(myth_stream *s, const struct myth_kv_merge_args *a)
{
    merge_job j;
    j.kv = kv_map_of(a->k_new, a->v_new, &a->kv, a->cap_rows, a->n_head_kv, a->head_dim);
    j.runs = cuda_ptr<const int>(a->runs);
    j.has_k = a->k_new.buf != NULL;
    MYTH_LAUNCH(kv_merge_k, dim3(a->n_run * PART, a->n_head_kv * (j.has_k ? 2u : 1u)), THREADS, 0, s)(j);
    cuda_check(s, "kv_merge");
}
