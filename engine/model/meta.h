/* meta.h - the key/value facts of a model, one table for GGUF metadata and for config.json flattened with dots.
 *
 * Keys     GGUF keys as in the file ("gemma3.block_count"); JSON keys joined by '.', array indices are not keys
 *          ("text_config.rope_parameters.full_attention.rope_theta"); an object is a key too, without a value; other
 *          JSON files of a folder stand under their own prefix ("generation_config." ...)
 * Owner    the weights object; everything lent until it closes
 * Errors   a getter returns false when the key is missing or of another kind; MYTH_META_NULL counts as missing */
#ifndef MYTH_META_H
#define MYTH_META_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
    MYTH_META_NULL,
    MYTH_META_BOOL,
    MYTH_META_INT,
    MYTH_META_UINT,
    MYTH_META_FLOAT,
    MYTH_META_STRING,
    MYTH_META_ARRAY,
    MYTH_META_OBJECT
} myth_meta_type;

typedef struct {
    const char *text;
    size_t len;
} myth_str; /* not NUL-terminated */

typedef struct myth_meta_value {
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
    const unsigned char *raw; /* GGUF: packed little-endian elements of `raw_type`; strings as u64 length + bytes */
    uint32_t raw_type;        /* GGUF: of the value, or of the elements of an array                */
    uint64_t raw_bytes;
    const struct myth_meta_value *items; /* JSON arrays of scalars: count values without keys          */
    const uint64_t *str_off;             /* GGUF: where each string starts in raw; NULL = not indexed    */
} myth_meta_value;

typedef struct myth_meta myth_meta;

uint32_t myth_meta_count(const myth_meta *m);
const myth_meta_value *myth_meta_at(const myth_meta *m, uint32_t idx);
const myth_meta_value *myth_meta_find(const myth_meta *m, const char *key);
bool myth_meta_has(const myth_meta *m, const char *key); /* also when its value is null */

bool myth_meta_u32(uint32_t *out, const myth_meta *m, const char *key); /* whole, 0..2^32-1 */
bool myth_meta_f64(double *out, const myth_meta *m, const char *key);   /* any number, finite */
bool myth_meta_bool(bool *out, const myth_meta *m, const char *key);
bool myth_meta_str(myth_str *out, const myth_meta *m, const char *key);

/* Element idx of an array value, when it is of the kind asked for. Strings are found in O(1) in JSON arrays and in the
 * arrays of the tokenizer (tokenizer.ggml.tokens, .merges), in O(idx) in other arrays of GGUF. JSON arrays of anything
 * but scalars have no elements. */
bool myth_meta_item_str(myth_str *out, const myth_meta_value *a, uint64_t idx);
bool myth_meta_item_i64(int64_t *out, const myth_meta_value *a, uint64_t idx);
bool myth_meta_item_f64(double *out, const myth_meta_value *a, uint64_t idx);
bool myth_meta_item_bool(bool *out, const myth_meta_value *a, uint64_t idx);
/* Cursor over a string array: *pos starts at 0 and is advanced; false at the end. Works for both kinds of file. */
bool myth_meta_next_str(myth_str *out, const myth_meta_value *a, uint64_t *pos);

/* ---- building, for the readers ---- */

enum {
    MYTH_META_MAX = 8192,        /* values; a GGUF of Gemma has about 40, a config.json about 60   */
    MYTH_META_KEY_MAX = 1024,    /* bytes of a flattened key                                        */
    MYTH_META_JSON_MAX = 1 << 20 /* bytes of one JSON file: 8 times that, and 16 MiB, bounds the table */
};

/* What a table needs: counted first, so that one block is taken. Zeroed to begin with; measure adds to it. */
typedef struct {
    uint64_t n_value, n_byte;
} myth_meta_size;

/* Takes one block (class OTHER) of exactly the size given. */
myth_status myth_meta_open(myth_meta **out, myth_mem *mem, const myth_meta_size *size, myth_error *err);
void myth_meta_close(myth_meta *m); /* takes NULL */
uint64_t myth_meta_booked(const myth_meta *m);
/* Copies v; its key must live as long as m. False: the key is there already, or the table is full. */
bool myth_meta_add(myth_meta *m, const myth_meta_value *v);
/* Space out of size.n_byte (aligned to 8); NULL when it is used up. */
void *myth_meta_take(myth_meta *m, uint64_t bytes);

/* The facts of one JSON object, keys flattened behind prefix ("" or "generation_config."). Measure checks the file, add
 * copies from it. MYTH_EFORMAT: not strict JSON, a key twice in one object, a number that is not finite. */
myth_status myth_meta_json_measure(myth_meta_size *size, const void *json, uint64_t len, const char *path,
                                   const char *prefix, myth_error *err);
myth_status myth_meta_json_add(myth_meta *m, const void *json, uint64_t len, const char *path, const char *prefix,
                               myth_error *err);

/* Bytes of an element of a GGUF value type; 0 for strings (8), arrays (9) and unknown types. */
uint32_t myth_meta_gguf_size(uint32_t raw_type);
/* One scalar of a GGUF value type at p into v->type and v->v. */
void myth_meta_gguf_scalar(myth_meta_value *v, uint32_t raw_type, const unsigned char *p);

static inline bool myth_str_is(myth_str s, const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    if (n != s.len)
        return false;
    for (size_t i = 0; i < n; i++)
        if (s.text[i] != text[i])
            return false;
    return true;
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
