/* json_schema_regex.h - a regular expression of a schema ("pattern": ECMA-262 with the flag u) read into a tree.
 *
 * Read      characters, ., [...], [^...], \d \D \w \W \s \S, \t \n \v \f \r \0 \cX \xHH \uHHHH \u{H...}, a \ before
 *           what is no letter or digit, ( ), (?: ), (?<name> ), |, ^, $, * + ? {m} {m,} {m,n}, also with a lazy
 *           ? behind it
 * Refused   what is no regular language, or not of one character after the other: references back, (?= (?! (?<= (?<!,
 *           \b \B, \p{...}, flags in a group; and what u does not allow: a { that begins no repeat
 * Form      node 0 is a CHOICE. Nodes of a CHOICE are SEQUENCEs; those of a SEQUENCE are the others, a REPEAT has one
 * Chars     ranges of a node are sorted, apart, and without surrogates
 * Limits    MYTH_REGEX_NODES nodes, MYTH_REGEX_RANGES ranges in all, MYTH_REGEX_DEPTH brackets inside each other,
 *           MYTH_GBNF_REPEAT repeats
 * Errors    MYTH_EFORMAT, MYTH_EUNSUPPORTED, MYTH_ELIMIT with the byte (from 1) in `at` and the reason in `why`;
 *           MYTH_ENOMEM
 * Owner     the caller closes what was opened, also after an error */
#ifndef MYTH_JSON_SCHEMA_REGEX_H
#define MYTH_JSON_SCHEMA_REGEX_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_REGEX_NODES = 1 << 14, MYTH_REGEX_RANGES = 1 << 14, MYTH_REGEX_DEPTH = 24 };
#define MYTH_REGEX_NONE UINT32_MAX /* no node; as a max: any number */

typedef enum {
    MYTH_REGEX_CHARS,  /* one character of the ranges */
    MYTH_REGEX_BEGIN,  /* ^ */
    MYTH_REGEX_END,    /* $ */
    MYTH_REGEX_REPEAT, /* its node min to max times */
    MYTH_REGEX_CHOICE,
    MYTH_REGEX_SEQUENCE
} myth_regex_kind;

typedef struct {
    myth_regex_kind kind;
    bool has_anchor;            /* ^ or $ is in it */
    uint32_t at;                /* byte of the pattern, from 1 */
    uint32_t first, last, next; /* its nodes; the one behind it */
    uint32_t range, n_range;    /* of CHARS */
    uint32_t min, max;          /* of REPEAT */
} myth_regex_node;

typedef struct {
    uint32_t lo, hi;
} myth_regex_chars;

typedef struct {
    myth_mem *mem;
    myth_regex_node *node;
    myth_regex_chars *range;
    size_t n_node, cap_node, n_range, cap_range;
    uint32_t at;
    const char *why;
} myth_regex_tree;

myth_status myth_regex_tree_open(myth_regex_tree *t, myth_mem *mem, const char *s, size_t n);
void myth_regex_tree_close(myth_regex_tree *t);

/* Sorts and joins n ranges in place, and takes surrogates out; how many are left; there is room for 2 n. */
size_t myth_regex_sort(myth_regex_chars *r, size_t n);
/* All characters that are in none of n sorted ranges, to out, of which n + 2 fit; how many there are. */
size_t myth_regex_others(myth_regex_chars *out, const myth_regex_chars *r, size_t n);

#ifdef __cplusplus
}
#endif
#endif
