/* json.h - a strict streaming JSON reader for model files: pull tokens from a buffer, no tree, no allocation.
 *
 * Strict   RFC 8259: UTF-8 checked (no overlong forms, no surrogates), escapes checked (lone surrogate escapes
 *          refused), no byte order mark, no trailing commas, no bytes after the value except white space; nesting at
 *          most MYTH_JSON_DEPTH
 * Keys     duplicates are the caller's to refuse (it knows which objects are large); compare with myth_json_is or
 *          myth_json_text, so that "a" and "\u0061" are the same key. \u0000 is legal JSON: whoever wants names without
 *          NUL says so.
 * Owner    tokens lend spans of the buffer
 * Errors   MYTH_EFORMAT "path: offset N: what"; the reader stays at the error and reports it again */
#ifndef MYTH_JSON_H
#define MYTH_JSON_H

#include "mem.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_JSON_DEPTH = 64 };

typedef enum {
    MYTH_JSON_END, /* the one value is complete, only white space was left; every later call says the same */
    MYTH_JSON_OBJECT,
    MYTH_JSON_OBJECT_END,
    MYTH_JSON_ARRAY,
    MYTH_JSON_ARRAY_END,
    MYTH_JSON_KEY, /* span, has_escape as for strings */
    MYTH_JSON_STRING,
    MYTH_JSON_NUMBER, /* span is the literal */
    MYTH_JSON_TRUE,
    MYTH_JSON_FALSE,
    MYTH_JSON_NULL
} myth_json_type;

typedef struct {
    myth_json_type type;
    const char *span; /* inside the quotes for keys and strings */
    size_t len;
    bool has_escape;
    uint64_t off; /* of the token in the buffer */
    int depth;    /* containers open around the token: the same for an OBJECT and its OBJECT_END */
} myth_json_token;

typedef struct {
    const unsigned char *base;
    uint64_t size, pos; /* pos: behind the last token */
    const char *path;   /* for messages; lent */
    uint64_t off0;      /* where base lies in its file, added to the offsets of messages; 0 after start */
    int depth;
    uint64_t is_object; /* bit per open container */
    int state;
} myth_json;

void myth_json_start(myth_json *j, const void *base, uint64_t size, const char *path);
myth_status myth_json_next(myth_json *j, myth_json_token *out, myth_error *err);
/* After a KEY, or where a value is expected: skips one whole value. */
myth_status myth_json_skip(myth_json *j, myth_error *err);
/* "path: offset N: what", N being the offset of tok: for callers that find a well-formed token wrong. */
myth_status myth_json_fail(const myth_json *j, const myth_json_token *tok, myth_error *err, const char *what);

/* Unescaped bytes of a key or string token; dst holds tok->len bytes (unescaping never grows). Returns the length. */
size_t myth_json_text(char *dst, const myth_json_token *tok);
/* Token text equals the NUL-terminated name (escapes resolved). */
bool myth_json_is(const myth_json_token *tok, const char *name);
/* Whole numbers only ("12", "-3"; not 1.0, 1e3, "12" as a string): false when out of range or another form. */
bool myth_json_i64(int64_t *out, const myth_json_token *tok);
bool myth_json_u64(uint64_t *out, const myth_json_token *tok);
bool myth_json_f64(double *out, const myth_json_token *tok); /* finite only; literals of at most 127 bytes */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
