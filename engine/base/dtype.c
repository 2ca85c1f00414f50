/* dtype.c - the table of element types. */
#include "dtype.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define FLOAT(X, code, NAME, name, gguf, file, bytes, n_half) [code] = {#name, #NAME, gguf, 1, bytes, 0, n_half},
#define INDEX(X, code, NAME, name, gguf, bytes)               [code] = {#name, NULL, gguf, 1, bytes, 0, 0},
#define QUANT(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, ...) \
    [code] = {#name, NULL, gguf, block, bytes, half_off, n_half},

const myth_dtype_info myth_dtype_table[MYTH_DTYPE_N] = {MYTH_FLOAT_TYPES(FLOAT, 0) MYTH_INDEX_TYPES(INDEX, 0)
                                                            MYTH_QUANT_TYPES(QUANT, 0)};

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
