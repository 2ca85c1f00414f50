/* corpus.h - ranked search over rows of text that are no files: evaluations, lists of functions. In memory, by the
 * rules of search.h.
 *
 * Row       an id, a text, and what is known of it: a path, the names it defines. Without names those of its
 *           definitions are read off its lines. A row longer than two chunks is cut at lines where no indentation is,
 *           and its pieces add up as chunks of a file do
 * Vectors   with an embedder each piece has one, and a match is words and nearness, as in an index
 * Answer    rows, best first; equal rows are all there, since each has an id of its own. Ties by the order of the rows
 * Errors    MYTH_EFORMAT a line of a JSONL text is not what it should be: path, line, what */
#ifndef MYTH_CORPUS_H
#define MYTH_CORPUS_H

#include "retrieval/vectors/vectors.h"

typedef struct {
    const char *id, *text, *path, *names; /* not zero-terminated; path and names may be NULL */
    size_t n_id, n_text, n_path, n_names;
    bool is_number; /* the id was one: written as it was               */
} myth_corpus_row;

typedef struct {
    uint32_t row; /* place among the rows added, from 0 */
    double score;
} myth_corpus_hit;

typedef struct myth_corpus myth_corpus;

myth_status myth_corpus_open(myth_corpus **out, myth_mem *mem, myth_error *err);
void myth_corpus_close(myth_corpus *c);
/* Before the first row: pieces and queries get vectors. Lent until close. MYTH_EUNSUPPORTED: the build has no FAISS. */
myth_status myth_corpus_embed(myth_corpus *c, const myth_text_embedder *embedder, myth_error *err);
/* Copies what it keeps of the row. Not after the first search. */
myth_status myth_corpus_add(myth_corpus *c, const myth_corpus_row *row, myth_error *err);
/* Behind the last row: pieces that still wait are embedded. The first search does it, if nobody did. */
myth_status myth_corpus_finish(myth_corpus *c, myth_error *err);
/* The id of a row, as it was given; valid until close. */
const char *myth_corpus_id(const myth_corpus *c, uint32_t row, size_t *n, bool *is_number);
/* At most k hits into `hit`. A query without any word has none. weights as in search.h. */
myth_status myth_corpus_search(myth_corpus *c, const char *query, size_t n, const char *weights, uint32_t k,
                               myth_corpus_hit *hit, uint32_t *n_hit, myth_error *err);

/* Calls `row` for each line of a JSONL text: objects with "id" (text or whole number) and "text", perhaps "path" and
 * "names" (text or an array of texts); other keys are skipped, blank lines too. The row's strings are valid during the
 * call. */
myth_status myth_corpus_read(myth_mem *mem, const unsigned char *jsonl, size_t n, const char *path,
                             myth_status (*row)(void *arg, const myth_corpus_row *row, myth_error *err), void *arg,
                             myth_error *err);

#endif
