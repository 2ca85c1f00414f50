/* meta.h - the key/value facts of a model, one table for GGUF metadata and for config.json flattened with dots.
 *
 * Keys     GGUF keys as in the file ("gemma3.block_count"); JSON keys joined by '.', array indices are not keys
 *          ("text_config.rope_parameters.full_attention.rope_theta"); other JSON files of a folder under their own prefix
 *          ("generation_config." ...)
 * Owner    the weights object; everything lent until it closes
 * Errors   a getter returns false when the key is missing or of another kind; MYTH_META_NULL counts as missing                      */
#ifndef MYTH_META_H
#define MYTH_META_H

#include "base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_META_NULL, MYTH_META_BOOL, MYTH_META_INT, MYTH_META_UINT, MYTH_META_FLOAT, MYTH_META_STRING, MYTH_META_ARRAY } myth_meta_type;

typedef struct { const char *text; size_t len; } myth_str;       /* not NUL-terminated */

typedef struct {
    myth_str key;
    myth_meta_type type;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        myth_str s;
    } v;
    /* arrays: element type, count; elements are read by index */
    myth_meta_type elem;
    uint64_t count;
    const unsigned char *raw;       /* GGUF: packed little-endian elements of `raw_type`; strings as u64 length + bytes */
    uint32_t raw_type;
    uint64_t raw_bytes;
    const void *items;              /* JSON arrays of scalars: myth_meta_item[count] */
} myth_meta_value;

typedef struct myth_meta myth_meta;

uint32_t myth_meta_count(const myth_meta *m);
const myth_meta_value *myth_meta_at(const myth_meta *m, uint32_t idx);
const myth_meta_value *myth_meta_find(const myth_meta *m, const char *key);

bool myth_meta_u32(uint32_t *out, const myth_meta *m, const char *key);       /* whole, 0..2^32-1 */
bool myth_meta_f64(double *out, const myth_meta *m, const char *key);         /* any number, finite */
bool myth_meta_bool(bool *out, const myth_meta *m, const char *key);
bool myth_meta_str(myth_str *out, const myth_meta *m, const char *key);

/* Element idx of an array value, when it is of the kind asked for. String elements of GGUF arrays are found in O(1) after open built the
 * offsets for the arrays of the tokenizer, and in O(idx) elsewhere: iterate with the cursor instead. */
bool myth_meta_item_i64(int64_t *out, const myth_meta_value *a, uint64_t idx);
bool myth_meta_item_f64(double *out, const myth_meta_value *a, uint64_t idx);
bool myth_meta_item_bool(bool *out, const myth_meta_value *a, uint64_t idx);
/* Cursor over a string array: *pos starts at 0 and is advanced; false at the end. Works for both kinds of file. */
bool myth_meta_next_str(myth_str *out, const myth_meta_value *a, uint64_t *pos);

static inline bool myth_str_is(myth_str s, const char *text)
{
    size_t n = 0;
    while (text[n]) n++;
    if (n != s.len) return false;
    for (size_t i = 0; i < n; i++)
        if (s.text[i] != text[i]) return false;
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
