/* level_amx.c - the AMX level: prefill with bf16 and quantised weights uses AMX tiles, everything else the kernels of
 * AVX-512. */
#include "amx.h"

static const struct fast_kernels kernels = {
    .mat = {[MYTH_F32] = {&avx512_form_f32, &avx512_form_f32, avx512_pack_f32, avx512_gemm_f32, avx512_gemv_f32, 4096},
            [MYTH_F16] = {&avx512_form_f32, &avx512_form_f32, avx512_pack_f16, avx512_gemm_f32, avx512_gemv_f16, 4096},
            [MYTH_BF16] = {&avx512_form_bf16, &avx512_form_bf16, avx512_pack_bf16_pair, amx_gemm_bf16, avx512_gemv_bf16,
                           2048},
            [MYTH_Q8_0] = {&avx512_form_bf16, &avx512_form_i8_gemv, amx_pack_q8, amx_gemm_bf16, avx512_gemv_q8, 2048},
            [MYTH_Q4_0] = {&avx512_form_bf16, &avx512_form_i8_gemv, amx_pack_q4, amx_gemm_bf16, avx512_gemv_q4, 2048},
#define BLOCKS(name, type, kernel)                                                 \
    [MYTH_##type] = {&avx512_form_bf16, AVX512_DECODE_FORM(type), amx_pack_##name, \
                     amx_gemm_bf16,     avx512_gemv_##name,       2048},
            FAST_BLOCK_TYPES(BLOCKS)
#undef BLOCKS
    },
    AVX512_TILED,
    AVX512_ROWS,
};

static const struct fast_kernels *kernels_of(const myth_stream *s)
{
    (void)s;
    return &kernels;
}

#include "fast_level.h"

const struct cpu_level cpu_level_amx = {
    .name = "amx",
    .needs = CPU_AVX2 | CPU_FMA | CPU_F16C | CPU_AVX512F | CPU_AVX512BW | CPU_AVX512VL | CPU_AVX512DQ |
             CPU_AVX512_VNNI | CPU_AVX512_BF16 | CPU_AMX_TILE | CPU_AMX_BF16,
    .ops = FAST_OPS,
    .work = fast_work,
};
