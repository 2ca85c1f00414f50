/* topic.h - the chunks that a question is about, and no more: what a ranked search finds, judged by file, cut where the
 * evidence falls off.
 *
 * Why       a list of the k best always has k rows; what is shown to a model must be about the question. A file answers
 *           a question more often than a chunk does: its head says what it is for, its functions do it
 * Found     search.h with MYTH_TOPIC_WEIGHTS: a word's other forms count, the question's own words hardly, chunks of
 *           one file do not push each other out, tests are ranked beside what they test
 * Evidence  of a file: its score in the search * cover^0.3 * (0.7 + 0.3 * near). cover: share of the question's terms,
 *           by their weights, that its chunks have. near: share of neighbouring words of the question that stand
 *           together in one of its chunks, of that of the best file (reports: 1, they have too many words for it to say
 *           anything)
 * Files     the best; those with 0.55 of its evidence, less where the best three cover little of a question: nothing is
 *           sure, look wider; six at most. One file of tests with 0.75, unless tests are asked for: then they are files
 *           as others
 * Chunks    the best of each file, then others by their share of their file's best match times the square of the file's
 *           evidence, down to half of the top. Heads (a few lines without a definition, imports) speak for their file
 *           and come last, to fill
 * How many  at most `most`. Fewer than MYTH_TOPIC_MIN are filled up with further chunks of the files that were chosen,
 *           never with other files: of a question that one small file answers fewer come
 * Order     evidence, sources before tests, then as the search has it: the same everywhere
 * Errors    as myth_search */
#ifndef MYTH_TOPIC_H
#define MYTH_TOPIC_H

#include "search.h"

enum {
    MYTH_TOPIC_MIN = 5,
    MYTH_TOPIC_MAX = 12, /* chunks */
    MYTH_TOPIC_KEPT = 50
}; /* hits given: those and the best of the others */

#define MYTH_TOPIC_WEIGHTS "term_form=1,term_frame=0.2,same_file=1,test=1,data=0.7,document=0.2,test_quota=0"

/* *out: hits with their text, the n_taken that the question is about first; parts cover, near and evidence are added,
 * score is that of this order. opts: k, by_file, with_text are set here; weights given stand over those above. */
myth_status myth_topic(myth_hits *out, uint32_t *n_taken, myth_index *x, const myth_search_opts *opts, uint32_t most,
                       myth_error *err);

#endif
