/* json_out.h - a JSON writer: writes each value to a stream at once, one compact document a line. It builds no tree and
 * allocates nothing.
 *
 * Text     valid UTF-8 is kept, an invalid byte becomes U+FFFD; control characters and marks that change the direction
 *          of text are escaped
 * Depth    at most MYTH_JOUT_DEPTH containers are open at once; a deeper one, with all its contents, becomes null. The
 *          bound holds in release builds too, because the values may come from a file
 * Numbers  a double has 9 significant digits, enough to read the same float back; infinities and NaN become null
 * Errors   none here: the caller checks the stream
 * Threads  one for each writer */
#ifndef MYTH_JSON_OUT_H
#define MYTH_JSON_OUT_H

#include "engine/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_JOUT_DEPTH = 32 };

typedef struct {
    FILE *f;
    int depth;     /* containers that are open             */
    uint64_t deep; /* containers open beyond the bound; nothing is written while this is not 0 */
    bool has_item[MYTH_JOUT_DEPTH], is_object[MYTH_JOUT_DEPTH], after_key;
} myth_json_out;

void myth_jout_start(myth_json_out *j, FILE *f);
void myth_jout_object(myth_json_out *j);
void myth_jout_array(myth_json_out *j);
void myth_jout_end(myth_json_out *j); /* closes the innermost container; writes a newline after the outermost */
void myth_jout_key(myth_json_out *j, const char *name);

void myth_jout_text(myth_json_out *j, const char *text, size_t len);
void myth_jout_str(myth_json_out *j, const char *text); /* NULL writes null */
void myth_jout_u64(myth_json_out *j, uint64_t v);
void myth_jout_i64(myth_json_out *j, int64_t v);
void myth_jout_f64(myth_json_out *j, double v);
void myth_jout_bool(myth_json_out *j, bool v);
void myth_jout_null(myth_json_out *j);
/* Writes one string in several parts; a part must not end inside a UTF-8 character. */
void myth_jout_text_begin(myth_json_out *j);
void myth_jout_text_part(myth_json_out *j, const char *text, size_t len);
void myth_jout_text_end(myth_json_out *j);
void myth_jout_ids(myth_json_out *j, const int32_t *ids, size_t n);
void myth_jout_json(myth_json_out *j, const char *text, size_t len); /* a value that is JSON already, as it is */

static inline void myth_jout_key_str(myth_json_out *j, const char *k, const char *v)
{
    myth_jout_key(j, k);
    myth_jout_str(j, v);
}
static inline void myth_jout_key_u64(myth_json_out *j, const char *k, uint64_t v)
{
    myth_jout_key(j, k);
    myth_jout_u64(j, v);
}
/* "lines":[first,last] */
static inline void myth_jout_key_lines(myth_json_out *j, uint64_t first, uint64_t last)
{
    myth_jout_key(j, "lines");
    myth_jout_array(j);
    myth_jout_u64(j, first);
    myth_jout_u64(j, last);
    myth_jout_end(j);
}
static inline void myth_jout_key_f64(myth_json_out *j, const char *k, double v)
{
    myth_jout_key(j, k);
    myth_jout_f64(j, v);
}
static inline void myth_jout_key_bool(myth_json_out *j, const char *k, bool v)
{
    myth_jout_key(j, k);
    myth_jout_bool(j, v);
}

/* Lines in a block of memory. */
typedef struct {
    myth_json_out json;
    FILE *f; /* NULL = closed */
    size_t cap;
} myth_jout_block;

/* Begins in block [cap], which is lent until end. Without memory for a stream what is written is lost, and end tells
 * it. */
myth_json_out *myth_jout_block_begin(myth_jout_block *b, char *block, size_t cap);
/* Behind a whole document: begins another one, on the next line. */
myth_json_out *myth_jout_block_next(myth_jout_block *b);
/* *n: the bytes written, with the newline of each document. MYTH_ELIMIT: more than cap - 1; MYTH_ENOMEM. The message is
 * the caller's. */
myth_status myth_jout_block_end(myth_jout_block *b, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
