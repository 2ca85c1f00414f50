/* mend.h - finds the word of the index that a misspelt word was meant to be.
 *
 * Slip     one letter lost, doubled or wrong, or two neighbours swapped. The first letter is right
 * Words    the index has the stems of words. The intended word is one slip away from the misspelt one, and its stem is
 *          in the index
 * Several  of several such words the one in most rows counts, then the longest. Words under MYTH_MEND_BYTES letters are
 *          not mended, since too many words are one slip away
 * Why      a person who misses a key still finds what was meant; a single misspelt name would find nothing at all
 * Measured on CoSQA's 500 questions, which people typed, NDCG@10 is 0.4454, and 0.4398 without: a difference of 0.0056
 *          [0.0011, 0.0116]. On 1,500 docstrings the difference is 0.0028 [0.0005, 0.0055]. On issues, commits and
 *          questions about repositories there is none within their intervals. bench/retrieval_repos.py --perturb
 *          misspelt is no evidence, because it makes just these slips */
#ifndef MYTH_MEND_H
#define MYTH_MEND_H

#include "retrieval/store/postings.h"

enum { MYTH_MEND_BYTES = 5 };

/* True when one slip turns a into b; false for equal words. */
bool myth_mend_is_slip(const char *a, size_t n_a, const char *b, size_t n_b);
/* Writes the intended word to dst (MYTH_WORD_BYTES), its length to *n and where its rows are; *n = 0 when there is
 * none.
 */
myth_status myth_mend_word(myth_postings *p, const char *word, size_t n_word, char *dst, size_t *n,
                           myth_postings_word *where, int64_t *n_row, myth_error *err);

#endif
