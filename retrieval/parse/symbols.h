/* symbols.h - what a grammar's queries find in a tree: definitions, uses, and the marks that the cutter follows.
 *
 * Captures   def.KIND     a definition; KIND is a name of myth_symbol_kind_name ("function" becomes a method inside a
 *                         class). Beside it name, parent (else the enclosing definition), body (else its field
 *                         `body`)
 *            scope        encloses definitions without being one (impl, extension); with name
 *                         Beside it call.name without a mark: the call that defines it, one of languages.def's
 *                         definers
 *            def.call     a call that may define a test or a route, or import. Beside it call.name, the called
 *                         name, and call.text, its first string; for a macro followed by a block, its arguments
 *            mark         a decorator, annotation or attribute of a definition; with call.name, and call.text
 *                         if it has one
 *            open         a container that is cut between its members even if it would fit
 *            import       an import statement;  ref.import is the path in it
 *            ref.call, ref.type, ref.read   a name that is used
 *            tokens       what a macro is given, unparsed; the calls in it are uses (macro_calls.h)
 * Units      offsets in bytes of the file, 32 bits: parsed files are smaller than MYTH_PARSE_FILE_BYTES
 * Owner      close frees what find made; the tree and the cut must outlive it
 * Errors     out of memory is kept in the cut
 * Threads    one at a time per myth_symbols */
#ifndef MYTH_SYMBOLS_H
#define MYTH_SYMBOLS_H

#include "cut.h"
#include "grammars.h"
#include "node_marks.h"
#include "node_names.h"
#include "patterns.h"

enum { MYTH_DEF_SCOPE = MYTH_SYMBOL_KIND_N };

typedef struct {
    uint32_t off, end, name_off, body; /* body 0 = none */
    uint32_t name, parent, enclosing;  /* enclosing: index of the definition around it + 1 */
    uint32_t n_piece;                  /* chunks that begin in it; counted by the cutter */
    const void *id;                    /* id of its node */
    uint64_t doc_off, doc_bytes;
    uint8_t kind;
    bool is_exported, is_route, is_test; /* is_route, is_test: its chunk has this kind whatever its own kind is */
} myth_def;

typedef struct {
    uint32_t off, name;
    myth_ref_kind kind;
} myth_use;

/* A grammar's query, the meaning of its captures, and the fields that names are behind; the worker keeps it. */
typedef struct {
    myth_patterns patterns;
    uint8_t role[MYTH_PATTERN_CAPTURES];
    TSFieldId field[MYTH_NODE_FIELDS];
    uint32_t error_off; /* when open fails: where the query is wrong */
} myth_symbol_query;

bool myth_symbol_query_open(myth_symbol_query *q, myth_mem *mem, const myth_grammar *grammar);
void myth_symbol_query_close(myth_symbol_query *q);

typedef struct {
    myth_cut *cut;
    const myth_grammar *grammar;
    const myth_symbol_query *query;
    const char *path;
    myth_def *def; /* sorted by off, the larger first */
    myth_use *use;
    myth_node_marks open, import, lead, comment; /* each sorted by off; lead: joins what follows */
    uint32_t n_def, cap_def, n_use, cap_use;
    uint32_t given[32], n_given; /* offsets of the names that are assigned to CommonJS's exports */
    bool has_given;              /* they were looked for */
} myth_symbols;

/* The text of the file from an offset on. */
static inline const char *myth_symbols_text(const myth_symbols *s, uint32_t off)
{
    return (const char *)s->cut->text + off;
}

/* Fills s, and adds the symbols and uses to the cut. False: the callback `stop` ended it. */
bool myth_symbols_find(myth_symbols *s, TSNode root, bool (*stop)(void *arg), void *arg);
void myth_symbols_close(myth_symbols *s);

/* The definition that this node is; NULL when it is not one. */
myth_def *myth_symbols_at(const myth_symbols *s, TSNode node);
/* The first definition whose off is not before `off`: an index, n_def when there is none. */
uint32_t myth_symbols_from(const myth_symbols *s, uint32_t off);

/* Cuts the whole file along its tree. */
void myth_cut_tree(myth_symbols *s, TSNode root);

#endif
