/* fuse.h - words and meaning in one number: a chunk's match becomes (1 - w) * match + w * top * nearness.
 *
 * Nearness  of a chunk's vector to the query's, 0 for the farthest candidate and 1 for the nearest: (cosine - least) /
 *           (greatest - least)
 * Scale     top, the best match of all: bonuses and rules behind (rank.h) see the numbers that they know
 * Without   a chunk that has no vector keeps its match: what is not known of it neither helps nor harms
 * Source    convex combination of normalised scores: https://doi.org/10.1145/3596512 */
#ifndef MYTH_FUSE_H
#define MYTH_FUSE_H

#include "rank.h"

/* The share w for a query of this kind, 0 to 1. A name takes none: it is there or it is not. Nor does a report: it has
 * words enough. */
double myth_fuse_share(const myth_query *q, const myth_weights_search *w);
/* cosine [n]: NAN where there is no vector. Sets `match`, and `semantic`, which is what of it nearness gave. */
void myth_fuse(myth_rank_chunk *chunk, uint32_t n, const float *cosine, double share);

#endif
