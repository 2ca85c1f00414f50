/* topic.h - the chunks that a question is about, and no more: the hits of a ranked search are judged by file and cut
 * where the evidence falls off.
 *
 * Why       a list of the k best always has k rows, but a model should be shown only what the question is about. A file
 *           answers a question more often than a single chunk does: its head says what it is for, its functions do it
 * Found     by search.h with MYTH_TOPIC_WEIGHTS: other forms of a word count, words that only frame the question hardly
 *           count, chunks of one file do not push each other out, and tests are ranked beside what they test
 * Evidence  of a file is its score in the search * cover^0.3 * (0.7 + 0.3 * near). cover is the share of the question's
 *           terms, by their weights, that its chunks have. near is the share of neighbouring words of the question that
 *           stand together in one of its chunks, divided by that share of the best file. For a report near is 1: it has
 *           so many words that their distance says nothing
 * Files     the best file and those with 0.55 of its evidence are chosen, six at most. Where the best three files cover
 *           little of a question, nothing is sure and less evidence is enough. One file more is chosen with 0.2 if a
 *           chosen file imports it and a word of the question is in its name: it often does the work that the other one
 *           describes. One file of tests is chosen with 0.75; if the question asks for tests, they are files as others
 * Chunks    the best of each file, then others by their share of their file's best match times the square of the file's
 *           evidence, down to half of the top. Heads (a few lines without a definition, imports) speak for their file
 *           and are taken last, to fill up
 * How many  at most `most`. Fewer than MYTH_TOPIC_MIN are filled up with further chunks of the chosen files, never with
 *           other files, so a question that one small file answers has fewer
 * Order     by evidence, then sources before tests, then as the search has it: the same on every machine
 * Errors    as myth_search */
#ifndef MYTH_TOPIC_H
#define MYTH_TOPIC_H

#include "search.h"

enum {
    MYTH_TOPIC_MIN = 5,  /* chunks that are shown at least, if the chosen files have them */
    MYTH_TOPIC_MAX = 12, /* chunks that are shown at most */
    MYTH_TOPIC_KEPT = 50 /* hits that are given: the taken chunks and the best of the others */
};

#define MYTH_TOPIC_WEIGHTS "term_form=1,term_frame=0.2,same_file=1,test=1,data=0.7,document=0.2,test_quota=0"

/* Searches, and puts the n_taken chunks that the question is about first in *out. Every hit has its text and the parts
 * cover, near and evidence besides those of the search, and its score is that of this order. The k, by_file and
 * with_text of opts are not read; its weights win over those above. */
myth_status myth_topic(myth_hits *out, uint32_t *n_taken, myth_index *x, const myth_search_opts *opts, uint32_t most,
                       myth_error *err);

#endif
