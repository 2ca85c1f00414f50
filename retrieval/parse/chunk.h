/* chunk.h - cuts a file into chunks along its syntax, with the names that it defines and uses.
 *
 * Invariant  the chunks are in order, touch and cover the file: every byte is in exactly one chunk. An empty file
 *            has none
 * Cut        functions, methods and types are chunks. A definition larger than MYTH_CHUNK_BYTES is cut between
 *            statements, else between lines, else between bytes. Comments stay with the definition that follows;
 *            imports and top-level statements are chunks of their own. A file without a grammar, with a parser that
 *            fails, or past a limit of limits.h is cut at blank lines, indentation and braces
 * Budget     a parse and its queries may take MYTH_PARSE_STEPS. Steps do not depend on the machine's speed, so
 *            neither does the content of an index. Time limits only end a parser that hangs
 * Worker     parsers run in a separate process with limits on time and memory. If it dies, the file is cut by its
 *            text, `note` says why, and the next file gets a new worker. Each language has its own parser object
 * Lines      from 1. A chunk that begins inside a line (of a line longer than a chunk) has the same first line as
 *            the chunk before it has as its last
 * Owner      the caller closes the chunker and frees each result
 * Threads    one call at a time per chunker
 * Errors     MYTH_ENOMEM only: any bytes can be cut
 * Source     Zhang et al., cAST (2025), for merging siblings greedily; unlike there, bytes outside of child nodes
 *            are kept */
#ifndef MYTH_CHUNK_H
#define MYTH_CHUNK_H

#include "engine/base/mem.h"
#include "structure.h"
#include "tree_reader.h"

typedef struct myth_chunker myth_chunker;

/* worker_path: a program that calls myth_chunk_worker when its first argument is "--chunk-worker"; NULL = cut by
 * text only. */
myth_status myth_chunker_open(myth_chunker **out, myth_mem *mem, const char *worker_path, myth_error *err);
void myth_chunker_close(myth_chunker *c);

/* Cuts one file. `language` is a name of languages.def; free *out by myth_chunks_free. The only error is
 * MYTH_ENOMEM: any bytes can be cut. */
myth_status myth_chunk_file(myth_chunks *out, myth_chunker *c, const char *language, const char *path,
                            const unsigned char *text, uint64_t n, myth_error *err);
void myth_chunks_free(myth_chunks *chunks, myth_mem *mem);

/* What the worker's reader (myth_chunk_worker) writes about the file's tree, in the chunker's ledger: the caller frees
 * *out and checks it, because the worker has read hostile text. *out NULL: the file was not read, and note says why. */
myth_status myth_chunk_read_tree(unsigned char **out, uint64_t *n_out, char note[96], myth_chunker *c,
                                 const char *language, const char *path, const unsigned char *text, uint64_t n,
                                 myth_error *err);
/* The same of a file and what it was before a change, n_before bytes: the reader gets both trees. */
myth_status myth_chunk_read_change(unsigned char **out, uint64_t *n_out, char note[96], myth_chunker *c,
                                   const char *language, const char *path, const unsigned char *text, uint64_t n,
                                   const unsigned char *before, uint64_t n_before, myth_error *err);
myth_mem *myth_chunker_mem(const myth_chunker *c);

/* Whether this build has a grammar for the language. */
bool myth_chunk_has_grammar(const char *language);
/* The worker's process id, 0 = none runs. For tests and monitoring. */
int myth_chunker_worker_pid(const myth_chunker *c);

/* The worker's main function: reads requests from descriptor 0, writes answers to descriptor 1, returns the exit
 * status. reader: what it can do with a tree besides cutting; NULL = nothing. */
int myth_chunk_worker(const myth_tree_reader *reader);

#endif
