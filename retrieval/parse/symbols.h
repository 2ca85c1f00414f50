/* symbols.h - what a grammar's queries say of a tree: definitions, references, and the marks that the cut follows.
 *
 * Captures   def.KIND  a definition, KIND as myth_symbol_kind_name ("function" is a method where a class encloses it);
 *            with
 *                         name, parent (else what encloses it), body (else its field of that name)
 *            scope        encloses definitions without being one (impl, extension); with name
 *            def.call     a call that may define a test or a route, or import: with call.name, what is called, and
 *                         call.text, its first string; the arguments when it is a macro that a block follows
 *            mark         a decorator, annotation or attribute in the match of a definition, with call.name, and
 *                         call.text when it has one
 *            open         a container that is cut at its members even when it would fit
 *            import       a statement of imports;  ref.import the path in it
 *            ref.call, ref.type, ref.read         the name that is used
 * Offsets    32 bits: files that are parsed are smaller than MYTH_PARSE_FILE_BYTES */
#ifndef MYTH_SYMBOLS_H
#define MYTH_SYMBOLS_H

#include "cut.h"
#include "grammars.h"
#include "patterns.h"

enum { MYTH_DEF_SCOPE = MYTH_SYMBOL_KIND_N };

typedef struct {
    uint32_t off, end, name_off, body; /* body 0 = none */
    uint32_t name, parent, enclosing;  /* enclosing: index of the definition around it + 1 */
    uint32_t n_piece;                  /* chunks begun in it: the cut's */
    const void *id;                    /* of its node */
    uint64_t doc_off, doc_bytes;
    uint8_t kind;
    bool is_exported, is_route, is_test; /* the last two: its chunk is one, whatever the kind */
} myth_def;

typedef struct {
    uint32_t off, end;
    const void *id;
} myth_mark;

typedef struct {
    uint32_t off, name;
    myth_ref_kind kind;
} myth_use;

typedef struct {
    myth_mark *mark;
    uint32_t n, cap;
} myth_marks;

/* A grammar's query with the meaning of its captures, and the fields that symbols.c asks nodes for; kept by the worker.
 */
enum { MYTH_SYMBOL_FIELDS = 14 };
typedef struct {
    myth_patterns patterns;
    uint8_t role[MYTH_PATTERN_CAPTURES];
    TSFieldId field[MYTH_SYMBOL_FIELDS];
    uint32_t error_off; /* where the query is wrong when there is none */
} myth_symbol_query;

bool myth_symbol_query_open(myth_symbol_query *q, myth_mem *mem, const myth_grammar *grammar);
void myth_symbol_query_close(myth_symbol_query *q);

typedef struct {
    myth_cut *cut;
    const myth_grammar *grammar;
    const myth_symbol_query *query;
    const char *path;
    myth_def *def; /* by off, the larger first */
    myth_use *use;
    myth_marks open, import, lead, comment; /* each by off; lead: goes with what follows */
    uint32_t n_def, cap_def, n_use, cap_use;
} myth_symbols;

/* Fills s and adds the symbols and references to the cut. False: `stop`, which is asked now and then, said so. */
bool myth_symbols_find(myth_symbols *s, TSNode root, bool (*stop)(void *arg), void *arg);
void myth_symbols_close(myth_symbols *s);

/* Whether the node is among them; NULL when not. */
const myth_mark *myth_marks_find(const myth_marks *m, TSNode node);
/* The definition that this node is; NULL when it is none. */
myth_def *myth_symbols_at(const myth_symbols *s, TSNode node);
/* The first definition whose off is not before `off`: an index, n_def when there is none. */
uint32_t myth_symbols_from(const myth_symbols *s, uint32_t off);

/* The whole file, cut along its tree. */
void myth_cut_tree(myth_symbols *s, TSNode root);

#endif
