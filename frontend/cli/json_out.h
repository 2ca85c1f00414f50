/* json_out.h - writes JSON to a stream as it is made, one compact document a line, no tree and no allocation.
 *
 * Text     valid UTF-8 stays, an invalid byte becomes U+FFFD, controls and marks that turn text around are escaped
 * Depth    at most MYTH_JOUT_DEPTH containers are open; a deeper one is written as null, with all that is put into it.
 *          The bound holds in every build: what is written may come from a file
 * Numbers  a double is written with 9 significant digits (a float survives); not finite: null */
#ifndef MYTH_JSON_OUT_H
#define MYTH_JSON_OUT_H

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
    uint64_t deep; /* those open beyond the bound: nothing is written while there are any */
    bool has_item[MYTH_JOUT_DEPTH], is_object[MYTH_JOUT_DEPTH], after_key;
} myth_json_out;

void myth_jout_start(myth_json_out *j, FILE *f);
void myth_jout_object(myth_json_out *j);
void myth_jout_array(myth_json_out *j);
void myth_jout_end(myth_json_out *j); /* closes the innermost; a newline after the outermost */
void myth_jout_key(myth_json_out *j, const char *name);

void myth_jout_text(myth_json_out *j, const char *text, size_t len);
void myth_jout_str(myth_json_out *j, const char *text); /* NULL writes null */
void myth_jout_u64(myth_json_out *j, uint64_t v);
void myth_jout_i64(myth_json_out *j, int64_t v);
void myth_jout_f64(myth_json_out *j, double v);
void myth_jout_bool(myth_json_out *j, bool v);
void myth_jout_null(myth_json_out *j);
/* A string in parts; each part is whole UTF-8. */
void myth_jout_text_begin(myth_json_out *j);
void myth_jout_text_part(myth_json_out *j, const char *text, size_t len);
void myth_jout_text_end(myth_json_out *j);
void myth_jout_ids(myth_json_out *j, const int32_t *ids, size_t n);

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

#ifdef __cplusplus
}
#endif
#endif
