/* summaries.h - which files have no summary of a model yet, and what they say of themselves that one could choose from.
 *
 * Stored   summaries(hash, text), by the hash of a file's content: a text that moved keeps its line, one that changed
 *          has none. A line of blanks says that the model was asked and had nothing. All are of one model: asked for
 *          another's, those there are taken away
 * Order    that of the map's ranks, else of paths
 * Offered  the first sentence of the file's head, then those of its documented definitions, each once
 * Owner    the caller's memory; an open map of the index is closed before */
#ifndef MYTH_SUMMARIES_H
#define MYTH_SUMMARIES_H

#include "headline.h"
#include "retrieval/index/index.h"

enum { MYTH_SUMMARY_OFFERS = 8 };

typedef struct {
    int64_t id;
    uint64_t bytes;
    char *path, *language;
} myth_summary_file;

typedef struct {
    myth_summary_file *file;
    uint32_t n_file, cap_file;
    uint32_t n_missing, n_all; /* files without one, of all; the list may hold fewer */
    myth_mem *mem;
} myth_summary_list;

/* The first `most` files without a summary of model `maker` (not 0). *out is freed by myth_summaries_free, also after a
 * failure. */
myth_status myth_summaries_missing(myth_summary_list *out, myth_mem *mem, myth_index *x, uint64_t maker, uint32_t most,
                                   myth_error *err);
void myth_summaries_free(myth_summary_list *list);

/* At most n bytes of a file's text from its beginning; *n is how many there are. */
myth_status myth_summary_text(myth_index *x, const myth_summary_file *f, unsigned char *dst, size_t *n,
                              myth_error *err);
/* *has_head: the first is what the head of the file says. */
myth_status myth_summary_offers(char out[MYTH_SUMMARY_OFFERS][MYTH_HEADLINE_CAP], uint32_t *n, bool *has_head,
                                myth_mem *mem, myth_index *x, const myth_summary_file *f, myth_error *err);

/* Whether a line is about this text: two of its longer words stand in text or path, and every name in it does (what has
 * '_', digits, capitals inside, or a parenthesis behind). */
bool myth_summary_is_grounded(const char *line, const char *path, const unsigned char *text, size_t n);

#endif
