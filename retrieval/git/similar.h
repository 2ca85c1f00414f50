/* similar.h - how similar two files are, counted as git 2.44 counts it (git's diffcore-delta.c), for libgit2's search
 * for renamed files. libgit2 has its own measure, a sample of hashes, which takes two files of one kind for the same
 * file where git sees a fifth in common.
 *
 * Piece    what a file is compared by: a line with its end, or 64 bytes of a longer line. In text a CR before LF
 *          does not count. Pieces with one hash of 107,927 are equal
 * Score    100 times the bytes of the pieces that both files have, over the size of the larger file; rounded down
 * Limit    files of more than max_bytes have no score; libgit2 then sees no renaming
 * Owner    the caller keeps myth_similar as long as the search runs; libgit2 frees the signatures before it returns
 * Threads  one at a time
 * Errors   memory that runs out ends libgit2's search with GIT_ERROR; a file that cannot be read has no score */
#ifndef MYTH_SIMILAR_H
#define MYTH_SIMILAR_H

#include "engine/base/mem.h"
#include "git.h"

typedef struct {
    git_diff_similarity_metric metric; /* for git_diff_find_options.metric */
    myth_mem *mem;
    size_t max_bytes;
} myth_similar;

void myth_similar_init(myth_similar *s, myth_mem *mem, size_t max_bytes);

#endif
