/* structure.h - what cutting a file yields: its chunks, the symbols it defines, and the names it uses. Only data:
 * the chunker fills it (chunk.h) and the store keeps it.
 *
 * Units    offsets and sizes in bytes of the file; lines from 1
 * Owner    whoever cut the file frees it by myth_chunks_free
 * Threads  any, as nothing is changed after the cut */
#ifndef MYTH_STRUCTURE_H
#define MYTH_STRUCTURE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    MYTH_CHUNK_TEXT,
    MYTH_CHUNK_FUNCTION,
    MYTH_CHUNK_METHOD,
    MYTH_CHUNK_CLASS,
    MYTH_CHUNK_ROUTE,
    MYTH_CHUNK_TEST,
    MYTH_CHUNK_CONFIG,
    MYTH_CHUNK_MODULE,
    MYTH_CHUNK_IMPORTS,
    MYTH_CHUNK_KIND_N
} myth_chunk_kind;

typedef struct {
    uint64_t off, bytes;
    uint32_t line0, line1; /* first and last line */
    myth_chunk_kind kind;
    uint32_t symbol, parent;     /* the first definition, and the one around it: offsets into `names`, 0 = none */
    uint64_t doc_off, doc_bytes; /* the comment or string that documents it; 0 bytes = none */
    bool is_part;                /* a piece of a definition that was cut, other than its first */
} myth_chunk;

typedef enum {
    MYTH_SYMBOL_FUNCTION,
    MYTH_SYMBOL_METHOD,
    MYTH_SYMBOL_CLASS,
    MYTH_SYMBOL_TYPE,
    MYTH_SYMBOL_CONSTANT,
    MYTH_SYMBOL_VARIABLE,
    MYTH_SYMBOL_MACRO,
    MYTH_SYMBOL_MODULE,
    MYTH_SYMBOL_TEST,
    MYTH_SYMBOL_ROUTE,
    MYTH_SYMBOL_KIND_N
} myth_symbol_kind;

typedef struct {
    uint32_t name, parent; /* offsets into `names` */
    uint64_t off, bytes;   /* the whole definition */
    uint32_t line0, line1, name_line;
    uint64_t signature_off, signature_bytes; /* the definition without its body */
    myth_symbol_kind kind;
    bool is_exported; /* visible outside of its file, by the rules of the language */
} myth_symbol;

typedef enum { MYTH_REF_CALL, MYTH_REF_TYPE, MYTH_REF_IMPORT, MYTH_REF_READ, MYTH_REF_KIND_N } myth_ref_kind;

typedef struct {
    uint32_t name;   /* the name that is used; for an import the module's path as written */
    uint32_t within; /* name of the definition around it, 0 = none              */
    uint32_t line;
    myth_ref_kind kind;
} myth_ref;

/* The result for one file. names: zero-terminated strings, the empty one first. */
typedef struct {
    myth_chunk *chunk;
    myth_symbol *symbol;
    myth_ref *ref;
    char *names;
    uint32_t n_chunk, n_symbol, n_ref, n_names;
    uint64_t error_bytes; /* bytes in nodes that the parser marked as errors */
    uint32_t n_error;     /* error nodes, and missing nodes that the parser inserted */
    bool is_structured;   /* the file was cut along its syntax tree */
    /* the parser died or ran out of time. If this happens twice with the same content, pass "text" as the language */
    bool is_failed;
    bool is_unasked; /* no worker could be started; a later try may succeed */
    /* the language has a grammar that did not read this file, so its definitions and uses are unknown */
    bool is_lost;
    char note[96]; /* why the grammar was not used: "parse: more than 10000 steps" */
} myth_chunks;

const char *myth_chunk_kind_name(myth_chunk_kind kind);
const char *myth_symbol_kind_name(myth_symbol_kind kind);
const char *myth_ref_kind_name(myth_ref_kind kind);

#endif
