/* dtype.c - the table of element types. */
#include "dtype.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static const myth_dtype_info table[MYTH_DTYPE_N] = {
    /*             name    safetensors  gguf  block  bytes */
    [MYTH_F32]  = { "f32",  "F32",         0,     1,     4 },
    [MYTH_F16]  = { "f16",  "F16",         1,     1,     2 },
    [MYTH_BF16] = { "bf16", "BF16",       30,     1,     2 },
    [MYTH_Q8_0] = { "q8_0", NULL,          8,    32,    34 },
    [MYTH_Q4_0] = { "q4_0", NULL,          2,    32,    18 },
    [MYTH_I32]  = { "i32",  NULL,         26,     1,     4 },
};

const myth_dtype_info *myth_dtype_get(myth_dtype t)
{
    assert((unsigned)t < MYTH_DTYPE_N);
    return &table[t];
}

bool myth_dtype_from_name(myth_dtype *out, const char *name)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        if (strcasecmp(table[t].name, name) == 0) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}

bool myth_dtype_from_gguf(myth_dtype *out, uint32_t code)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        if (table[t].gguf >= 0 && (uint32_t)table[t].gguf == code) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}

bool myth_dtype_from_safetensors(myth_dtype *out, const char *name, size_t len)
{
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        const char *s = table[t].safetensors;
        if (s && strlen(s) == len && memcmp(s, name, len) == 0) {
            *out = (myth_dtype)t;
            return true;
        }
    }
    return false;
}
