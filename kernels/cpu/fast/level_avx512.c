/* level_avx512.c - the AVX-512 level: two tables of kernels, for processors with and without bf16 dot products, and the
 * table of ops. It contains no vector code. */
#include "avx512.h"

#define FLOATS                                                                                                  \
    [MYTH_F32] = {&avx512_form_f32, &avx512_form_f32, avx512_pack_f32, avx512_gemm_f32, avx512_gemv_f32, 4096}, \
    [MYTH_F16] = {&avx512_form_f32, &avx512_form_f32, avx512_pack_f16, avx512_gemm_f32, avx512_gemv_f16, 4096}
#define QUANTS                                                                                                        \
    [MYTH_Q8_0] = {&avx512_form_i8_gemm, &avx512_form_i8_gemv, avx512_pack_q8, avx512_gemm_i8, avx512_gemv_q8, 1152}, \
    [MYTH_Q4_0] = {&avx512_form_i8_gemm, &avx512_form_i8_gemv, avx512_pack_q4, avx512_gemm_i8, avx512_gemv_q4, 1152}
/* The form of x for each of the four kernels. `one` needs one sum for each block of 32; minima and scales of halves
 * need the sums of halves too. */
#define FORM_one        avx512_form_i8_gemm
#define FORM_min        avx512_form_sums
#define FORM_half       avx512_form_sums
#define FORM_both       avx512_form_sums
#define PANEL_one       1152
#define PANEL_min       1280
#define PANEL_half      1280
#define PANEL_both      1536
#define avx512_gemm_one avx512_gemm_i8
#define BLOCKS(name, type, kernel)                                                       \
    [MYTH_##type] = {&FORM_##kernel,       AVX512_DECODE_FORM(type), avx512_pack_##name, \
                     avx512_gemm_##kernel, avx512_gemv_##name,       PANEL_##kernel},
#define BF16_DOT                                                                \
    [MYTH_BF16] = {&avx512_form_bf16, &avx512_form_bf16, avx512_pack_bf16_pair, \
                   avx512_gemm_bf16,  avx512_gemv_bf16,  2048}
#define BF16_WIDE                                                                  \
    [MYTH_BF16] = {&avx512_form_f32, &avx512_form_f32,      avx512_pack_bf16_wide, \
                   avx512_gemm_f32,  avx512_gemv_bf16_wide, 4096}

static const struct fast_kernels with_bf16 = {
    .mat = {FLOATS, QUANTS, FAST_BLOCK_TYPES(BLOCKS) BF16_DOT}, AVX512_TILED, AVX512_ROWS};
static const struct fast_kernels without_bf16 = {
    .mat = {FLOATS, QUANTS, FAST_BLOCK_TYPES(BLOCKS) BF16_WIDE},
    AVX512_TILED,
    AVX512_ROWS,
};

static const struct fast_kernels *kernels_of(const myth_stream *s)
{
    return cpu_of(s)->features & CPU_AVX512_BF16 ? &with_bf16 : &without_bf16;
}

#include "fast_level.h"

const struct cpu_level cpu_level_avx512 = {
    .name = "avx512",
    .needs = CPU_AVX2 | CPU_FMA | CPU_F16C | CPU_AVX512F | CPU_AVX512BW | CPU_AVX512VL | CPU_AVX512DQ | CPU_AVX512_VNNI,
    .ops = FAST_OPS,
    .work = fast_work,
};
