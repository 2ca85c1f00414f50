/* dtype.h - element types of tensors, one row each: name, GGUF code, elements and bytes of a block.
 *
 * Units    a row of n elements takes n / block * block_bytes; n must be a multiple of block
 * Source   GGUF specification (ggml type codes); safetensors format (dtype names)                                  */
#ifndef MYTH_DTYPE_H
#define MYTH_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_F32 = 0,
    MYTH_F16,
    MYTH_BF16,
    MYTH_Q8_0,     /* 32 values: f16 scale, 32 x i8                                   34 bytes */
    MYTH_Q4_0,     /* 32 values: f16 scale, 16 bytes; low nibbles 0..15, high 16..31; value = (nibble - 8) * scale, 18 bytes */
    MYTH_I32,
    MYTH_DTYPE_N
} myth_dtype;

typedef struct {
    const char *name;          /* "q8_0"                                         */
    const char *safetensors;   /* "BF16"; NULL = not a safetensors type we read  */
    int32_t gguf;              /* type code in GGUF; -1 = none                   */
    uint32_t block, block_bytes;
} myth_dtype_info;

const myth_dtype_info *myth_dtype_get(myth_dtype t);                      /* t < MYTH_DTYPE_N */
bool myth_dtype_from_name(myth_dtype *out, const char *name);             /* case-insensitive "q8_0", "bf16" */
bool myth_dtype_from_gguf(myth_dtype *out, uint32_t code);
bool myth_dtype_from_safetensors(myth_dtype *out, const char *name, size_t len);

static inline uint32_t myth_dtype_block(myth_dtype t) { return t == MYTH_Q8_0 || t == MYTH_Q4_0 ? 32 : 1; }
static inline uint32_t myth_dtype_block_bytes(myth_dtype t)
{
    switch (t) {
    case MYTH_F16: case MYTH_BF16: return 2;
    case MYTH_Q8_0: return 34;
    case MYTH_Q4_0: return 18;
    default: return 4;
    }
}
/* Bytes of a row of n elements; n % block == 0. */
static inline uint64_t myth_row_bytes(myth_dtype t, uint64_t n) { return n / myth_dtype_block(t) * myth_dtype_block_bytes(t); }

#ifdef __cplusplus
}
#endif
#endif
