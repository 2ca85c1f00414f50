/* json_schema_impl.h - what json_schema.c, which turns schemas into rules, json_schema_string.c and _number.c, which
 * write values, json_schema_logic.c, which takes choices apart, and json_schema_calls.c, which writes calls of tools
 * around them, share: the writer of a grammar's text, and the parts of schemas that get a rule.
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

enum {
    MYTH_SCHEMA_PARTS = MYTH_GBNF_RULES / 2,
    MYTH_SCHEMA_PLACE = 96,
    MYTH_SCHEMA_CHOICES = 128,
    MYTH_SCHEMA_MERGES = 1 << 15,
    MYTH_SCHEMA_WORK = 1 << 22
};

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
    json_t *kept;              /* lists of schemas that were made */
    bool is_loose, has_one_of; /* oneOf is taken as anyOf; there was one that was not */
    char *out;
    size_t n, cap;
    bool is_short, is_large;
    uint32_t n_merge; /* schemas that were put together */
    uint64_t n_work;  /* what that took, in keywords and values that were compared */
    myth_error *err;
} myth_schema_writer;

/* ---- json_schema.c ---- */

/* Puts the rule of a part. The places are for messages: that of the part it is in, and what leads from there. */
myth_status myth_schema_put_part(myth_schema_writer *w, const myth_schema_part *in, const json_t *schema,
                                 const char *type, const char *way, const char *name);
/* Writes the rules of all parts that have none yet. */
myth_status myth_schema_put_rules(myth_schema_writer *w);
/* Whether a failed grammar is written once more with oneOf as anyOf, for which the writer is emptied. */
bool myth_schema_again(myth_schema_writer *w, myth_status st, myth_error *err);
/* Writes the rules that both forms use, frees what the writer holds, and gives its text, or the first error: st or that
 * of the output. */
myth_status myth_schema_end(myth_schema_writer *w, myth_status st, char **out, size_t *n);

const json_t *myth_schema_find(const json_t *root, const char *ref); /* what "#/a/b/0" names; NULL = nothing */
bool myth_schema_is_annotation(const char *key);
bool myth_schema_is_read(const char *key);                  /* beside annotations, and what makes a schema compound */
const char *myth_schema_type_by_keys(const json_t *schema); /* that of a schema without one; NULL = any */
/* Counts of the schema, the second not less than the first; what it has not stays. */
myth_status myth_schema_get_counts(const myth_schema_writer *w, const myth_schema_part *p, const char *least,
                                   const char *most, uint32_t *min, uint32_t *max);
#define MYTH_SCHEMA_ANY UINT32_MAX /* a max that is none */

/* ---- json_schema_string.c, json_schema_number.c ---- */

/* The value of a part: rule idx is being written, and may be followed by rules of its own, s<idx>-n<number>,
 * s<idx>-c<number> and s<idx>-l<number>. */
myth_status myth_schema_put_string(myth_schema_writer *w, const myth_schema_part *p, size_t idx);
myth_status myth_schema_put_integer(myth_schema_writer *w, const myth_schema_part *p);
myth_status myth_schema_put_number(myth_schema_writer *w, const myth_schema_part *p);

/* ---- json_schema_logic.c ---- */

/* Keys of a flat schema and a name of a type that no text of JSON can have: values that are not allowed; that some
 * property was listed with what it may be; numbers that are not whole. */
#define MYTH_SCHEMA_OTHERS \
    "\xff"                 \
    "others"
#define MYTH_SCHEMA_NAMED \
    "\xff"                \
    "named"
#define MYTH_SCHEMA_FRACTION \
    "\xff"                   \
    "fraction"

/* Whether a schema needs flat ones: it has not, if, several allOf, or a choice beside what restricts, too. */
bool myth_schema_is_compound(const json_t *schema);
/* *out: the flat schemas that together allow what the schema does, none when it allows nothing; the writer keeps
 * them. */
myth_status myth_schema_flatten(myth_schema_writer *w, const myth_schema_part *p, const json_t *schema, json_t **out);

/* Whether no value is of two schemas of a list. */
myth_status myth_schema_are_apart(myth_schema_writer *w, const myth_schema_part *p, const json_t *list, bool *out);

/* ---- json_schema_holds.c ---- */

typedef enum { MYTH_SCHEMA_NO, MYTH_SCHEMA_YES, MYTH_SCHEMA_UNKNOWN } myth_schema_verdict;

/* Whether the value is of the schema; unknown where patterns, formats, oneOf and references without an end decide. */
myth_schema_verdict myth_schema_holds(myth_schema_writer *w, const json_t *schema, const json_t *v, int depth);
bool myth_schema_is_equal(const json_t *a, const json_t *b);     /* as JSON Schema says: 1 is 1.0 */
bool myth_schema_has_value(const json_t *list, const json_t *v); /* whether an element of the list is equal to v */
bool myth_schema_is_of(const json_t *v, const char *type);
/* Whether the schema's "type" (or its absence) allows the value. */
bool myth_schema_has_type_of(const json_t *schema, const json_t *v);

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
/* Counts n steps; false: those of one schema are used up. */
bool myth_schema_work(myth_schema_writer *w, uint64_t n);
/* Behind an item: {min,max}. */
void myth_schema_put_repeat(myth_schema_writer *w, uint32_t min, uint32_t max);
/* More of the grammar. What does not fit is said at the end. */
void myth_schema_put(myth_schema_writer *w, const char *s);
void myth_schema_putf(myth_schema_writer *w, const char *fmt, ...) MYTH_SCHEMA_PRINTF(2);
/* A text of the grammar with these bytes. */
void myth_schema_put_text(myth_schema_writer *w, const char *s);

#ifdef __cplusplus
}
#endif
#endif
