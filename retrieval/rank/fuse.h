/* fuse.h - combines the score of words with that of vectors: a chunk's match becomes (1 - w) * match + w * top *
 * nearness.
 *
 * Nearness  how near a chunk's vector is to the query's, from 0 for a candidate that is no nearer than the mean of all
 *           to 1 for the nearest: (cosine - floor) / (greatest - floor), never below 0. floor is the mean of the
 *           candidates' cosines; semantic_from moves it towards the least one. Most candidates were found by a word
 *           and mean something else: which of those are the farther ones says nothing, and the farthest of them
 *           alone would set the scale of all
 * Scale     top is the best match of all chunks. It keeps the sum on the scale of a match, for which the bonuses and
 *           factors that are applied later (rank.h) were chosen
 * Without   a chunk that has no vector keeps its match, since nothing is known of its nearness
 * Source    convex combination of normalised scores: https://doi.org/10.1145/3596512 */
#ifndef MYTH_FUSE_H
#define MYTH_FUSE_H

#include "rank.h"

/* The share w of nearness for a query of this kind, 0 to 1. It is 0 for a name, which a chunk contains or does not, and
 * for a report, which has words enough. */
double myth_fuse_share(const myth_query *q, const myth_weights_search *w);
/* cosine has n elements, NAN for a chunk without a vector; from is semantic_from of the weights. Changes `match`, and
 * sets `semantic` to the part of it that comes from nearness. */
void myth_fuse(myth_rank_chunk *chunk, uint32_t n, const float *cosine, double share, double from);

#endif
