/* summaries.h - lists the files without a model's summary, and the sentences of a file from which a summary can be
 * chosen.
 *
 * Stored   summaries(hash, text), by the hash of a file's content: a file that moves keeps its summary, a changed
 *          one has none. A blank line means that the model was asked and gave nothing. All summaries are of one
 *          model: asking for another model's deletes them
 * Order    that of the map's ranks, else of paths
 * Offered  the first sentence of the file's head, then those of its documented definitions, each once
 * Owner    the caller's memory. Close an open map of the index first
 * Threads  one call at a time per index
 * Errors   those of the store; MYTH_ENOMEM */
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
    uint32_t n_missing, n_all; /* files without a summary; all files. The list may hold fewer */
    myth_mem *mem;
} myth_summary_list;

/* Lists the first `most` files without a summary by model `maker` (not 0). Free *out by myth_summaries_free, also
 * after a failure. */
myth_status myth_summaries_missing(myth_summary_list *out, myth_mem *mem, myth_index *x, uint64_t maker, uint32_t most,
                                   myth_error *err);
void myth_summaries_free(myth_summary_list *list);

/* Reads at most *n bytes from the beginning of a file's text; *n gets their number. */
myth_status myth_summary_text(myth_index *x, const myth_summary_file *f, unsigned char *dst, size_t *n,
                              myth_error *err);
/* Collects the sentences. *has_head: the first one is that of the file's head. */
myth_status myth_summary_offers(char out[MYTH_SUMMARY_OFFERS][MYTH_HEADLINE_CAP], uint32_t *n, bool *has_head,
                                myth_mem *mem, myth_index *x, const myth_summary_file *f, myth_error *err);

/* Whether a line is about this text: at least two of its longer words occur in the text or path, and so does every
 * name in it (a word with '_', digits, inner capitals, or a parenthesis after it). */
bool myth_summary_is_grounded(const char *line, const char *path, const unsigned char *text, size_t n);

#endif
