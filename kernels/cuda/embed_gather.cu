/* embed_gather.cu   y[r,:] = scale * E[ids[r],:]
 *
 * Shapes     y f32 [n_rows, dim]; E any type [n_vocab, dim] in the device's form: of a quantised table all quants, then all f16 scales
 * Precision  the value in f32, then scaled in f32
 * Traffic    rows * dim * (4 + the type's bytes)
 * Limit      launch latency in decode, the write of y in prefill. Elements one by one: a row is a few KB                    */
#include "common.cuh"

enum { THREADS = 256 };

template <int TYPE>
static __device__ __forceinline__ float table_value(const unsigned char *table, uint64_t n_vocab, uint64_t id, uint32_t dim, uint32_t i)
{
    const uint64_t at = id * dim + i;
    if (TYPE == MYTH_F32)
        return ((const float *)(const void *)table)[at];
    if (TYPE == MYTH_F16)
        return f16_to_f32(((const uint16_t *)(const void *)table)[at]);
    if (TYPE == MYTH_BF16)
        return bf16_to_f32(((const uint16_t *)(const void *)table)[at]);
    const uint64_t quants = TYPE == MYTH_Q8_0 ? n_vocab * dim : n_vocab * dim / 2;
    const float scale = f16_to_f32(((const uint16_t *)(const void *)(table + quants))[at / 32]);
    if (TYPE == MYTH_Q8_0)
        return scale * (float)(int8_t)table[at];
    const unsigned pair = table[at / 32 * 16 + i % 16];
    return scale * (float)((int)(i % 32 < 16 ? pair & 15u : pair >> 4) - 8);
}

template <int TYPE>
static __global__ void embed_gather_k(float *y, const unsigned char *table, const int *ids, uint64_t n_vocab, uint32_t dim, float scale)
{
    const uint64_t id = (uint64_t)(uint32_t)ids[blockIdx.x];
    y += (uint64_t)blockIdx.x * dim;
    for (uint32_t i = threadIdx.x; i < dim; i += THREADS)
        y[i] = table_value<TYPE>(table, n_vocab, id, dim, i) * scale;
}

extern "C" void cuda_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a)
{
#define RUN(TYPE) \
    MYTH_LAUNCH(embed_gather_k<TYPE>, a->n_rows, THREADS, 0, s)(cuda_ptr<float>(a->y), cuda_ptr<const unsigned char>(a->table), \
                                                                cuda_ptr<const int>(a->ids), a->n_vocab, a->dim, a->scale)
    switch (a->table.dtype) {
    case MYTH_F32: RUN(MYTH_F32); break;
    case MYTH_F16: RUN(MYTH_F16); break;
    case MYTH_BF16: RUN(MYTH_BF16); break;
    case MYTH_Q8_0: RUN(MYTH_Q8_0); break;
    case MYTH_Q4_0: RUN(MYTH_Q4_0); break;
    default: assert(!"device.c let a dtype through");
    }
#undef RUN
    cuda_check(s, "embed_gather");
}
