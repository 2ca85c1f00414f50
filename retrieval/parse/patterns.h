/* patterns.h - reads a language's queries (queries/NAME.scm) once, and finds their matches in a tree.
 *
 * Syntax    that of tree-sitter's queries, as far as ours use it: (node ...), field: ..., (_), [...], ?, the anchor
 *           '.', !field, (MISSING "x"), @capture, and a group of siblings in parentheses. Everything else is
 *           refused: + and *, predicates, other "strings", (_) at the top, supertypes
 * Matches   the same captures as tree-sitter's cursor, those of one node in the order of the query. Unlike there,
 *           no match is dropped when many patterns are open, nor the later nodes of a field that names a whole
 *           list; a step without captures matches once
 * Why       tree-sitter's cursor carries every open pattern from node to node, at 120 ns a node of C, and analyses
 *           a query against the whole parse table, 8 ms a language in each process. Here the type of a node selects
 *           the few patterns that begin with it, and leaves that begin none are skipped
 * Owner     open and close a myth_patterns; the language's tables must outlive it
 * Threads   any may search; open and close are not shared
 * Errors    false, as each function says
 * Source    tree-sitter, lib/src/query.c, for the meaning of patterns */
#ifndef MYTH_PATTERNS_H
#define MYTH_PATTERNS_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <tree_sitter/api.h>

enum { MYTH_PATTERN_CAPTURES = 32, MYTH_PATTERN_CAPTURE_BYTES = 32 };

typedef struct {
    myth_mem *mem;
    const TSLanguage *language;
    struct myth_pattern_step *step; /* step 0 is not used: 0 means none */
    uint16_t *first;                /* by symbol: first step of the first pattern that begins with it */
    uint32_t n_step, cap_step, n_symbol, n_pattern, n_capture;
    char capture[MYTH_PATTERN_CAPTURES]
                [MYTH_PATTERN_CAPTURE_BYTES]; /* names of the captures, in the order of their first use */
    bool has_siblings;                        /* some pattern continues after its first node, with siblings */
} myth_patterns;

/* False: there is no memory, or the text at *wrong_at is no pattern or uses a name that the language lacks. */
bool myth_patterns_open(myth_patterns *p, myth_mem *mem, const TSLanguage *language, const char *text, uint32_t n,
                        uint32_t *wrong_at);
void myth_patterns_close(myth_patterns *p); /* takes a zeroed one, and one that failed to open */

/* The callback for matches, and one that may stop the search: `stop` is called every few thousand nodes; NULL =
 * never stop. */
typedef struct {
    void (*on_match)(void *arg, const TSQueryMatch *match);
    void *arg;
    bool (*stop)(void *arg);
    void *stop_arg;
} myth_pattern_asker;

/* Calls on_match for every match at and below a root node. False: no memory. */
bool myth_patterns_find(const myth_patterns *p, TSNode root, const myth_pattern_asker *asker);

#endif
