/* structure.h - what a file is made of once it is cut: chunks, the symbols it defines, the names it uses. Data alone:
 * the chunker fills it (chunk.h), the store keeps it.
 *
 * Units    offsets and sizes in bytes of the file, lines from 1
 * Owner    who cut the file: myth_chunks_free */
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
    uint32_t symbol, parent;     /* of the first definition and of what encloses it: offsets into `names`, 0 = none   */
    uint64_t doc_off, doc_bytes; /* the comment or string that documents it; 0 bytes = none */
    bool is_part;                /* of a definition cut into several: not its first piece */
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
    uint64_t off, bytes;   /* of the whole definition */
    uint32_t line0, line1, name_line;
    uint64_t signature_off, signature_bytes; /* the definition without its body */
    myth_symbol_kind kind;
    bool is_exported; /* visible outside its file, as far as the language says */
} myth_symbol;

typedef enum { MYTH_REF_CALL, MYTH_REF_TYPE, MYTH_REF_IMPORT, MYTH_REF_READ, MYTH_REF_KIND_N } myth_ref_kind;

typedef struct {
    uint32_t name;   /* what is used; of an import the module's path as written */
    uint32_t within; /* name of the definition around it, 0 = none              */
    uint32_t line;
    myth_ref_kind kind;
} myth_ref;

/* Of one file. names: zero-terminated strings, the empty one first. */
typedef struct {
    myth_chunk *chunk;
    myth_symbol *symbol;
    myth_ref *ref;
    char *names;
    uint32_t n_chunk, n_symbol, n_ref, n_names;
    uint64_t error_bytes; /* inside nodes that the parser could not make sense of                 */
    uint32_t n_error;     /* such nodes, and those that it had to add because they are missing    */
    bool is_structured;   /* a grammar made the cut                                               */
    bool is_failed;  /* its parser died or ran out of time: seen twice of one content, give "text" as its language */
    bool is_unasked; /* no worker could be started: nothing is known of the file, the next try may have one */
    bool is_lost;    /* code that no grammar has seen though there is one: what it defines and uses is not known   */
    char note[96];   /* why not, when a grammar was there: "parse: more than 10000 steps"      */
} myth_chunks;

const char *myth_chunk_kind_name(myth_chunk_kind kind);
const char *myth_symbol_kind_name(myth_symbol_kind kind);
const char *myth_ref_kind_name(myth_ref_kind kind);

#endif
