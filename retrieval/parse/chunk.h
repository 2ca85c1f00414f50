/* chunk.h - a file cut into chunks by its structure, with the names it defines and uses.
 *
 * Invariant  the chunks' byte ranges are in order, touch, and cover the file: every byte is in exactly one chunk. An
 *            empty file has none
 * Cut        functions, methods, types first; what is larger than MYTH_CHUNK_BYTES at statements, then lines, then
 *            bytes; comments stay with the definition that follows; imports and top-level statements make chunks of
 *            their own. A file without a grammar, with one that fails, or past a guard of limits.h is cut by blank
 *            lines, indentation and braces
 * Budget     a parse and its queries have MYTH_PARSE_STEPS, which a file needs on a slow machine as on a fast one: what
 *            the index holds does not depend on the clock. Time ends what hangs
 * Worker     parsers run in a process of their own with a deadline and a limit on memory; when it dies, the file is cut
 *            by its text, `note` says why, and the next file gets a new worker. Trees of two languages never share a
 *            parser
 * Lines      from 1; a chunk that begins inside a line (a line larger than a chunk) shares its number with the one
 *            before
 * Source     Zhang et al., cAST (2025), for the greedy merge of siblings; its loss of childless nodes is mended */
#ifndef MYTH_CHUNK_H
#define MYTH_CHUNK_H

#include "engine/base/mem.h"
#include "structure.h"

typedef struct myth_chunker myth_chunker;

/* worker_path: the program that runs myth_chunk_worker when its first argument is "--chunk-worker"; NULL = text cuts
 * only. */
myth_status myth_chunker_open(myth_chunker **out, myth_mem *mem, const char *worker_path, myth_error *err);
void myth_chunker_close(myth_chunker *c);

/* Cuts one file; one call at a time per chunker. `language` a name of languages.def. *out is freed by myth_chunks_free.
 * Fails only for memory: whatever the bytes are, they are cut. */
myth_status myth_chunk_file(myth_chunks *out, myth_chunker *c, const char *language, const char *path,
                            const unsigned char *text, uint64_t n, myth_error *err);
void myth_chunks_free(myth_chunks *chunks, myth_mem *mem);

/* Whether a grammar of this build cuts files of the language. */
bool myth_chunk_has_grammar(const char *language);
/* Process id of the worker, 0 = none runs: for tests, and for those who watch. */
int myth_chunker_worker_pid(const myth_chunker *c);

/* The worker's whole life: requests on file 0, answers on file 1. Returns the exit status. */
int myth_chunk_worker(void);

#endif
