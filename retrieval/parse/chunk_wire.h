/* chunk_wire.h - the messages between a chunker and its worker, over a socket. Both are the same program, so
 * numbers have the machine's byte order and structs its layout.
 *
 * Request  myth_chunk_request, n_path bytes of path, n bytes of text, n_before bytes of the text before a change to it
 * Answer   myth_chunk_answer; after a cut then the arrays of chunks, symbols, references and names; after a reading
 *          n_names bytes of the reader's (tree_reader.h)
 * Trust    the chunker checks everything in an answer, because the worker has read hostile text */
#ifndef MYTH_CHUNK_WIRE_H
#define MYTH_CHUNK_WIRE_H

#include "chunk.h"

#include <stdbool.h>

enum { MYTH_WIRE_MAGIC = 0x43484b31, MYTH_WIRE_PATH = 4096, MYTH_WIRE_READ_BYTES = 32 << 20 };

typedef enum { MYTH_WIRE_LOAD, MYTH_WIRE_CUT, MYTH_WIRE_READ } myth_wire_verb;

typedef struct {
    uint32_t magic, verb, grammar, n_path;
    uint64_t n, n_before;
} myth_chunk_request;

typedef struct {
    uint32_t magic;
    uint32_t is_failed; /* no cut follows; note says why */
    uint32_t is_over;   /* the parse needs more than MYTH_PARSE_STEPS, and would again */
    uint32_t is_text;   /* the file was cut by its text; note says why */
    uint32_t n_chunk, n_symbol, n_ref, n_names;
    uint32_t n_error;
    uint64_t error_bytes;
    char note[96];
} myth_chunk_answer;

/* After this the process may only compute, and use the descriptors that are open (chunk_jail.c). */
void myth_chunk_jail(void);

/* Moves exactly n bytes; false when the other side is gone. */
bool myth_wire_read(int fd, void *dst, uint64_t n);
bool myth_wire_write(int fd, const void *src, uint64_t n);

#endif
