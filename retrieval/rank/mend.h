/* mend.h - the word of the index that a misspelt one was meant to be.
 *
 * Words    of one part are in the index by their stems: the word that was meant is one slip away and has a stem that is
 *          there
 * Slip     one letter lost, doubled or wrong, or two neighbours swapped; the first letter is right
 * Several  the one in most rows counts, of equal ones the longest. Words of MYTH_MEND_BYTES letters and more: a shorter
 *          one is near to too many
 * Why      a person who misses a key finds what was meant; for a single misspelt name the answer would be none at all
 * Measured CoSQA's 500 questions, which people typed: NDCG@10 0.4454, and 0.4398 without, a difference of 0.0056
 *          [0.0011, 0.0116]; 1,500 docstrings: 0.0028 [0.0005, 0.0055]. Issues, commits and questions to repositories:
 *          no difference within their intervals. What bench/retrieval_repos.py --perturb misspelt says is no evidence,
 *          because it makes these slips */
#ifndef MYTH_MEND_H
#define MYTH_MEND_H

#include "retrieval/store/postings.h"

enum { MYTH_MEND_BYTES = 5 };

/* Whether one slip of the keys makes b of a. Equal words: no. */
bool myth_mend_is_slip(const char *a, size_t n_a, const char *b, size_t n_b);
/* Writes to dst (MYTH_WORD_BYTES) the word that was meant, and where its rows are; *n 0: none is near. */
myth_status myth_mend_word(myth_postings *p, const char *word, size_t n_word, char *dst, size_t *n,
                           myth_postings_word *where, int64_t *n_row, myth_error *err);

#endif
