/* json_schema_pattern.h - patterns of a schema as parts of a grammar: what json_schema_string.c, json_schema_pattern.c
 * and json_schema_lengths.c share.
 *
 * Chars    a character of a pattern stands as JSON.stringify writes it: as it is, or with the shortest escape where it
 *          needs one
 * Sides    a pattern that is not held at an end by ^ or $ has any text there */
#ifndef MYTH_JSON_SCHEMA_PATTERN_H
#define MYTH_JSON_SCHEMA_PATTERN_H

#include "json_schema_impl.h"
#include "json_schema_regex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is at a side of a node: other nodes; nothing, as ^ or $ says; or the end of the pattern, any text beyond it. */
typedef enum { MYTH_SIDE_NODES, MYTH_SIDE_NOTHING, MYTH_SIDE_OPEN } myth_schema_side;

typedef struct {
    myth_schema_writer *w;
    const myth_schema_part *p;
    size_t idx; /* of the rule that is being written */
    myth_regex_tree tree;
    uint32_t min_any, max_any; /* characters beyond an open end */
} myth_schema_pattern;

/* A string of the pattern with min to max characters, between these quotes, as the value of rule idx. */
myth_status myth_schema_put_pattern(myth_schema_writer *w, const myth_schema_part *p, size_t idx, const json_t *text,
                                    const char *quote, uint32_t min, uint32_t max);
/* "pattern", character `at`: why */
myth_status myth_schema_pattern_fail(const myth_schema_pattern *t, uint32_t at, myth_status code, const char *why);
/* The error of a ^ or $ at another place than the ends. */
myth_status myth_schema_pattern_stray(const myth_schema_pattern *t, uint32_t node);
#define MYTH_SCHEMA_NOT_IN_CALLS "no character of this can stand in a call"
/* The nodes of a sequence without anchors that say of its sides what is so: *first up to but not *end; both
 * MYTH_REGEX_NONE when there are none. */
void myth_schema_pattern_strip(const myth_schema_pattern *t, uint32_t i, myth_schema_side *left,
                               myth_schema_side *right, uint32_t *first, uint32_t *end);

/* ---- json_schema_string.c ---- */

/* One character of the sorted ranges; false: there is none that a string may hold here. */
bool myth_schema_put_chars(myth_schema_writer *w, const myth_regex_chars *r, size_t n);

/* ---- json_schema_lengths.c ---- */

/* Puts the name of a rule that is the pattern's strings of min to max characters; put_lengths writes it, when rule idx
 * has ended. MYTH_EUNSUPPORTED: the pattern is too large for it. Close also what failed to open. */
typedef struct myth_schema_lengths myth_schema_lengths;
myth_status myth_schema_open_lengths(myth_schema_lengths **out, myth_schema_pattern *t, uint32_t min, uint32_t max);
myth_status myth_schema_put_lengths(myth_schema_lengths *l);
void myth_schema_close_lengths(myth_schema_lengths *l); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
