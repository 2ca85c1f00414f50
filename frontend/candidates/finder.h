/* finder.h - finds the places of a file's text (candidates.h), or takes those that an earlier run found in the same
 * text.
 *
 * myth_finder_open opens the file of kept places (in the cache directory, candidates-1.db) myth_finder_find the places
 * of one text myth_finder_change the places of a text that are about what a change removed myth_finder_all the places
 * of many texts, found by several threads
 *
 * Kept     the key is the language, the bytes of the text and the program; a kept answer is checked like a new one from
 *          the parsers' process. Without the file, texts are parsed each time. A file that is full of answers used in
 *          the last MYTH_KEPT_SPARED_S keeps nothing new (kept.h)
 * Errors   what myth_candidates_ask returns. A file of kept places that cannot be opened is no error
 * Threads  any, each with a chunker of its own: one connection serves all, so that none waits for a file. The places of
 *          a text are the same with any number of them */
#ifndef MYTH_CANDIDATES_FINDER_H
#define MYTH_CANDIDATES_FINDER_H

#include "engine/base/cancel.h"
#include "frontend/inspect/kept/kept.h"
#include "frontend/cli/cli.h"
#include "retrieval/retrieval.h"

typedef struct myth_finder myth_finder;

/* keeps: false = kept places are neither read nor written. most_bytes: the largest size of their file; 0 =
 * MYTH_KEPT_BYTES. The caller keeps cli until close. */
myth_status myth_finder_open(myth_finder **out, myth_cli *cli, bool keeps, uint64_t most_bytes, myth_error *err);
/* Prints a note if there was no room for places in the file. Takes NULL. */
void myth_finder_close(myth_finder *f);
/* Opens the same file for the scores that an opened model gives to places (judge.h); NULL where there is none. */
myth_kept *myth_finder_scores(myth_cli *cli, const myth_engine_flags *f, const myth_model *m, uint64_t most_bytes);
/* A chunker for a thread of the caller's. */
myth_status myth_finder_chunker(myth_chunker **out, myth_finder *f, myth_error *err);
/* *is_kept: the places are of an earlier run; may be NULL. */
myth_status myth_finder_find(myth_candidates *out, bool *is_kept, myth_finder *f, myth_chunker *chunker,
                             const char *language, const char *name, const unsigned char *text, uint64_t n_text,
                             myth_error *err);

/* The places of a change alone (myth_candidates_change), kept by both texts. */
myth_status myth_finder_change(myth_candidates *out, myth_finder *f, myth_chunker *chunker, const char *language,
                               const char *name, const unsigned char *text, uint64_t n_text,
                               const unsigned char *before, uint64_t n_before, myth_error *err);

enum { MYTH_FINDER_THREADS = 16 }; /* most of them */
/* How many threads find places of n texts: --threads, else one for each core. */
uint32_t myth_finder_threads(const myth_cli *cli, uint32_t n);

typedef struct {
    const char *language, *name;
    const unsigned char *text;
    uint64_t n_text;
    myth_candidates found; /* the caller frees them, also after a failure */
    bool is_found;
} myth_finder_text;

/* Finds the places of all texts; after a cancel (may be NULL), of the first ones only. Texts at which another thread
 * failed are tried again by the caller's thread; the error returned is that of the first text at which it fails too. */
myth_status myth_finder_all(myth_finder *f, myth_finder_text *text, uint32_t n, const myth_cancel *cancel,
                            myth_error *err);

#endif
