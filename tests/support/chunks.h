/* chunks.h - what tests of the cutter share: a chunker on the command under test, and an oracle of the cover that
 * shares no code with it. */
#ifndef MYTH_TESTS_CHUNKS_H
#define MYTH_TESTS_CHUNKS_H

#include "check.h"
#include "retrieval/parse/chunk.h"

/* The command whose --chunk-worker is the worker; skips the program when ctest did not say where it is. */
const char *chunks_worker(void);

/* Every byte in exactly one chunk, in order; lines right; names and ranges inside. `what` is printed when not. */
void chunks_check(const char *what, const myth_chunks *k, const unsigned char *text, uint64_t n);

/* Functions and methods that fit into a chunk are whole in one. */
void chunks_check_whole(const char *what, const myth_chunks *k, const unsigned char *text);

/* The language that languages.def has for the name's suffix, "text" when none. */
const char *chunks_language(const char *path);

/* The file's bytes, freed by the caller; NULL when it cannot be read. */
unsigned char *chunks_read(const char *path, uint64_t *n);

#endif
