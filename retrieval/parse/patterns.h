/* patterns.h - the queries of a language (queries/NAME.scm), read once and asked along a tree.
 *
 * Written   as tree-sitter's queries are: (node ...), field: ..., (_), [...], ?, the anchor '.', !field, (MISSING "x"),
 *           @capture, and siblings in parentheses as a pattern. What no query of ours has is refused: + and *,
 *           predicates, "strings" elsewhere, (_) at the top, supertypes
 * Matches   the captures that tree-sitter's own cursor gives, those of one node in the order of the query. Nothing is
 *           dropped where many patterns are open, nor a field's later nodes where a grammar names a whole list by one
 *           field; a step without captures is matched once
 * Why       that cursor carries every open pattern from node to node: 120 ns a node of C. Here a node's type names the
 *           few patterns that begin with it, and leaves that begin none are not looked at. And its query is analysed
 *           against the whole parse table: 8 ms a language, in each process
 * Source    tree-sitter, lib/src/query.c, for what a pattern means */
#ifndef MYTH_PATTERNS_H
#define MYTH_PATTERNS_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <tree_sitter/api.h>

enum { MYTH_PATTERN_CAPTURES = 32, MYTH_PATTERN_CAPTURE_BYTES = 32 };

typedef struct {
    myth_mem *mem;
    const TSLanguage *language;
    struct myth_pattern_step *step; /* the first is not used: 0 is none                 */
    uint16_t *first;                /* by symbol: the first step of its first pattern   */
    uint32_t n_step, cap_step, n_symbol, n_pattern, n_capture;
    char capture[MYTH_PATTERN_CAPTURES]
                [MYTH_PATTERN_CAPTURE_BYTES]; /* by number; in the order in which they come first */
    bool has_siblings;                        /* a pattern goes on behind its first node          */
} myth_patterns;

/* False: what stands at *wrong_at is no pattern, or names what the language has not; or there is no memory. */
bool myth_patterns_open(myth_patterns *p, myth_mem *mem, const TSLanguage *language, const char *text, uint32_t n,
                        uint32_t *wrong_at);
void myth_patterns_close(myth_patterns *p); /* takes a zeroed one, and one that was not opened */

/* What is told of a match, and when to end: `stop` is asked every few thousand nodes; NULL = never. */
typedef struct {
    void (*on_match)(void *arg, const TSQueryMatch *match);
    void *arg;
    bool (*stop)(void *arg);
    void *stop_arg;
} myth_pattern_asker;

/* Every match below and at a node that has no parent. False: no memory. */
bool myth_patterns_find(const myth_patterns *p, TSNode root, const myth_pattern_asker *asker);

#endif
