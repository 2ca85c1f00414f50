/* dtype.c - the table of element types. */
#include "dtype.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

const myth_dtype_info myth_dtype_table[MYTH_DTYPE_N] = {
    /*               name      safetensors  gguf  block  bytes  halves */
    [MYTH_F32] = {"f32", "F32", 0, 1, 4, 0, 0},         [MYTH_F16] = {"f16", "F16", 1, 1, 2, 0, 1},
    [MYTH_BF16] = {"bf16", "BF16", 30, 1, 2, 0, 0},     [MYTH_Q8_0] = {"q8_0", NULL, 8, 32, 34, 0, 1},
    [MYTH_Q4_0] = {"q4_0", NULL, 2, 32, 18, 0, 1},      [MYTH_I32] = {"i32", NULL, 26, 1, 4, 0, 0},
    [MYTH_Q4_1] = {"q4_1", NULL, 3, 32, 20, 0, 2},      [MYTH_Q5_0] = {"q5_0", NULL, 6, 32, 22, 0, 1},
    [MYTH_Q5_1] = {"q5_1", NULL, 7, 32, 24, 0, 2},      [MYTH_Q2_K] = {"q2_k", NULL, 10, 256, 84, 80, 2},
    [MYTH_Q3_K] = {"q3_k", NULL, 11, 256, 110, 108, 1}, [MYTH_Q4_K] = {"q4_k", NULL, 12, 256, 144, 0, 2},
    [MYTH_Q5_K] = {"q5_k", NULL, 13, 256, 176, 0, 2},   [MYTH_Q6_K] = {"q6_k", NULL, 14, 256, 210, 208, 1},
    [MYTH_IQ4_NL] = {"iq4_nl", NULL, 20, 32, 18, 0, 1}, [MYTH_IQ4_XS] = {"iq4_xs", NULL, 23, 256, 136, 0, 1},
    [MYTH_MXFP4] = {"mxfp4", NULL, 39, 32, 17, 0, 0},
};

const myth_dtype_info *myth_dtype_get(myth_dtype t)
{
    assert((unsigned)t < MYTH_DTYPE_N);
    return &myth_dtype_table[t];
}

bool myth_dtype_from_name(myth_dtype *out, const char *name)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        if (strcasecmp(myth_dtype_table[t].name, name) == 0) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}

bool myth_dtype_from_gguf(myth_dtype *out, uint32_t code)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        if (myth_dtype_table[t].gguf >= 0 && (uint32_t)myth_dtype_table[t].gguf == code) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}

bool myth_dtype_from_safetensors(myth_dtype *out, const char *name, size_t len)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        const char *s = myth_dtype_table[t].safetensors;
        if (s && strlen(s) == len && memcmp(s, name, len) == 0) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}
