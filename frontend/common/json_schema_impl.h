/* json_schema_impl.h - what json_schema.c, which turns schemas into rules, and json_schema_calls.c, which writes calls
 * of tools around them, share: the writer of a grammar's text, and the parts of schemas that get a rule.
 *
 * Calls    with `quote` set, values are written as a call has them: strings between two tokens, keys bare where they
 *          can be, no blanks, no objects whose keys are not known (calls.h reads them back) */
#ifndef MYTH_JSON_SCHEMA_IMPL_H
#define MYTH_JSON_SCHEMA_IMPL_H

#include "json_schema.h"

#include "engine/text/gbnf.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SCHEMA_PARTS = MYTH_GBNF_RULES / 2, MYTH_SCHEMA_PLACE = 96, MYTH_SCHEMA_MERGED = 64 };

typedef struct {
    const json_t *schema;
    const char *type; /* takes the place of the schema's own; NULL = none */
    char place[MYTH_SCHEMA_PLACE];
    uint32_t depth; /* of a call: containers that are open with it, the arguments' object is 1; else 0 */
    size_t n_keys;  /* of a call: bytes of the keys of the objects around it */
} myth_schema_part;

typedef struct {
    myth_mem *mem;
    const char *name;
    const json_t *root;
    const char *quote;      /* what begins and ends a string, in the grammar; NULL = JSON */
    myth_schema_part *part; /* rule i is s<i> */
    size_t n_part, cap_part, n_written;
    json_t *merged[MYTH_SCHEMA_MERGED]; /* schemas that allOf was made of */
    size_t n_merged;
    char *out;
    size_t n, cap;
    bool is_short, is_large;
    uint32_t n_merge; /* schemas that were put together */
    myth_error *err;
} myth_schema_writer;

/* ---- json_schema.c ---- */

/* Puts the rule of a part. The places are for messages: that of the part it is in, and what leads from there. */
myth_status myth_schema_put_part(myth_schema_writer *w, const myth_schema_part *in, const json_t *schema,
                                 const char *type, const char *way, const char *name);
/* Writes the rules of all parts that have none yet. */
myth_status myth_schema_put_rules(myth_schema_writer *w);
/* Writes the rules that both forms use, frees what the writer holds, and gives its text, or the first error: st or that
 * of the output. */
myth_status myth_schema_end(myth_schema_writer *w, myth_status st, char **out, size_t *n);

/* ---- json_schema_calls.c ---- */

/* A value, and the key of a member, as a call has them. */
myth_status myth_schema_call_value(myth_schema_writer *w, const myth_schema_part *p, const json_t *v);
myth_status myth_schema_call_key(myth_schema_writer *w, const myth_schema_part *p, const char *key);
/* Sets depth and n_keys of a part that `way` leads to. MYTH_ELIMIT: more than the reader of calls takes. */
myth_status myth_schema_call_part(const myth_schema_writer *w, const myth_schema_part *in, const char *way,
                                  myth_schema_part *out);

/* ---- json_schema_text.c ---- */

#if defined(__GNUC__)
#define MYTH_SCHEMA_PRINTF(at) __attribute__((format(printf, at, at + 1)))
#else
#define MYTH_SCHEMA_PRINTF(at)
#endif

/* "NAME: #/a/place: what" */
myth_status myth_schema_fail(const myth_schema_writer *w, const myth_schema_part *p, myth_status code, const char *fmt,
                             ...) MYTH_SCHEMA_PRINTF(4);
myth_status myth_schema_no_memory(const myth_schema_writer *w);
/* More of the grammar. What does not fit is said at the end. */
void myth_schema_put(myth_schema_writer *w, const char *s);
void myth_schema_putf(myth_schema_writer *w, const char *fmt, ...) MYTH_SCHEMA_PRINTF(2);
/* A text of the grammar with these bytes. */
void myth_schema_put_text(myth_schema_writer *w, const char *s);

#ifdef __cplusplus
}
#endif
#endif
