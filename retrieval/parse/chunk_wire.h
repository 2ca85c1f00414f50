/* chunk_wire.h - what a chunker and its worker say to each other over a socket: both are the same program, numbers as
 * the machine has them.
 *
 * Request  myth_chunk_request, n_path bytes of path, n bytes of text
 * Answer   myth_chunk_answer; of a cut then its chunks, symbols, references and names, each as an array. The chunker
 *          trusts none of it */
#ifndef MYTH_CHUNK_WIRE_H
#define MYTH_CHUNK_WIRE_H

#include "chunk.h"

#include <stdbool.h>

enum { MYTH_WIRE_MAGIC = 0x43484b31, MYTH_WIRE_PATH = 4096 };

typedef enum { MYTH_WIRE_LOAD, MYTH_WIRE_CUT } myth_wire_verb;

typedef struct {
    uint32_t magic, verb, grammar, n_path;
    uint64_t n;
} myth_chunk_request;

typedef struct {
    uint32_t magic;
    uint32_t is_failed; /* no cut follows: note says why */
    uint32_t is_over;   /* because its parse has more than MYTH_PARSE_STEPS, as it has each time */
    uint32_t is_text;   /* the cut that follows is by the text, note says why */
    uint32_t n_chunk, n_symbol, n_ref, n_names;
    uint32_t n_error;
    uint64_t error_bytes;
    char note[96];
} myth_chunk_answer;

/* From here on this process may only compute, and talk over the files it has open. */
void myth_chunk_jail(void);

/* Whole or not at all. */
bool myth_wire_read(int fd, void *dst, uint64_t n);
bool myth_wire_write(int fd, const void *src, uint64_t n);

#endif
