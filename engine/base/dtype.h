/* dtype.h - element types of tensors: types.def has a row of each, here is what their bytes mean.
 *
 * Units    a row of n elements takes n / block * block_bytes; n must be a multiple of block
 * Blocks   little endian, packed. "nibbles of 32": 16 bytes, low halves are values 0..15, high halves 16..31. A bit of
 *          a plane "of 32" is bit i of a u32 for value i. d, m, dmin are f16 unless said; values below are products in
 *          f32
 * Super    256 values: blocks of 16 or 32 with small integer scales below one or two f16
 * Source   GGUF specification (ggml type codes), gguf-py quants.py (layouts); safetensors format (dtype names)
 *
 *   q8_0    d, q i8[32]                                                             d q
 *   q4_0    d, nibbles of 32                                                        d (q - 8)
 *   q4_1    d, m, nibbles of 32                                                     d q + m
 *   q5_0    d, u32 fifth bits, nibbles of 32                                        d (q - 16)
 *   q5_1    d, m, u32 fifth bits, nibbles of 32                                     d q + m
 *   q2_k    scale u8[16] (low nibble s, high m), q u8[64], d, dmin                  d s q - dmin m       blocks of 16
 *           128 values to 32 bytes: value 32 j + i of them is bits 2 j, 2 j + 1 of byte i
 *   q3_k    high u8[32], q u8[64], scale u8[12], d                                  d (s - 32) (q - 4)   blocks of 16
 *           low two bits of q as q2_k; its third of value 32 j + i is bit j of high[i]. s[k], 6 bits: low four from the
 *           k-th nibble of scale[0..7] (all low nibbles first), high two are bits 2 (k / 4), + 1 of scale[8 + k % 4]
 *   q4_k    d, dmin, scale u8[12], nibbles u8[128]                                  d s q - dmin m       blocks of 32
 *           64 values to 32 bytes: low halves are the first 32, high halves the last. s, m of 6 bits: for k < 4 the low
 *           bits of scale[k], scale[4 + k]; else halves of scale[4 + k] (low s, high m) under the top two bits of
 *           scale[k - 4], scale[k]
 *   q5_k    d, dmin, scale u8[12], high u8[32], nibbles u8[128]  as q4_k; fifth bit of value 32 j + i: bit j of high[i]
 *   q6_k    low u8[128], high u8[64], s i8[16], d                                   d s (q - 32)         blocks of 16
 *           128 values to 64 + 32 bytes: value 32 j + i is nibble j / 2 of low[32 (j % 2) + i] under bits 2 j, + 1 of
 *           high[i]
 *   iq4_nl  d, nibbles of 32                                                        d table[q]
 *   iq4_xs  d, u16 high, low u8[4], nibbles of 32 [8]                               d (s - 32) table[q]  blocks of 32
 *           s of block k: nibble k of low under bits 2 k, + 1 of high
 *   mxfp4   u8 e, nibbles of 32  2^(e - 128) twice_fp4[q]
 *   tq2_0   q u8[64], d                                                             d (q - 1)            ternary
 *           q as in q2_k; a ternary model has 0, 1 and 2 only */
#ifndef MYTH_DTYPE_H
#define MYTH_DTYPE_H

#include "types.def"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
#define MYTH_TYPE_CODE(X, code, NAME, ...) MYTH_##NAME = code,
    MYTH_FLOAT_TYPES(MYTH_TYPE_CODE, 0) MYTH_INDEX_TYPES(MYTH_TYPE_CODE, 0) MYTH_QUANT_TYPES(MYTH_TYPE_CODE, 0)
#undef MYTH_TYPE_CODE
        MYTH_DTYPE_N
} myth_dtype;

/* Values of a block, where a constant is wanted. */
enum {
#define MYTH_TYPE_BLOCK(X, code, NAME, name, gguf, file, block, ...) MYTH_BLOCK_OF_##NAME = block,
    MYTH_QUANT_TYPES(MYTH_TYPE_BLOCK, 0)
#undef MYTH_TYPE_BLOCK
};

typedef struct {
    const char *name;        /* "q8_0"                                         */
    const char *safetensors; /* "BF16"; NULL = not a safetensors type we read  */
    int32_t gguf;            /* type code in GGUF; -1 = none                   */
    uint32_t block, block_bytes;
    uint32_t half_off, n_half; /* f16 fields of a block, one behind the other; 0 of them in f32, bf16, mxfp4 */
} myth_dtype_info;

extern const myth_dtype_info myth_dtype_table[MYTH_DTYPE_N];

const myth_dtype_info *myth_dtype_get(myth_dtype t);          /* t < MYTH_DTYPE_N */
bool myth_dtype_from_name(myth_dtype *out, const char *name); /* case-insensitive "q8_0", "bf16" */
bool myth_dtype_from_gguf(myth_dtype *out, uint32_t code);
bool myth_dtype_from_safetensors(myth_dtype *out, const char *name, size_t len);

static inline uint32_t myth_dtype_block(myth_dtype t) { return myth_dtype_table[t].block; }
static inline uint32_t myth_dtype_block_bytes(myth_dtype t) { return myth_dtype_table[t].block_bytes; }
static inline bool myth_dtype_is_quant(myth_dtype t) { return myth_dtype_table[t].block > 1; }
/* Bytes of a row of n elements; n % block == 0. */
static inline uint64_t myth_row_bytes(myth_dtype t, uint64_t n)
{
    return n / myth_dtype_block(t) * myth_dtype_block_bytes(t);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
