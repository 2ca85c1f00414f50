/* hunks.h - the places of a change as the blocks of one prompt, each with as many of its lines as there is room for.
 *
 * Place    changed lines first..last of a subject piece, with lines that were removed before them; last = first - 1:
 *          lines were only removed there, before line first
 * Blocks   each place with MYTH_HUNK_BESIDE lines on both sides, within its piece; places whose lines meet are one
 *          block. So every line of a block is one of a subject
 * Room     of each place the first L changed lines, and of its block the removed lines within L lines' bytes, with the
 *          largest L of a fixed list that lets all places fit. When not all fit with the smallest L: the first place of
 *          every file, then the second of every file, and so on, as many as fit
 * Order    that of the places
 * Errors   MYTH_ENOMEM; what `fits` returns
 * Threads  one */
#ifndef MYTH_INSPECT_HUNKS_H
#define MYTH_INSPECT_HUNKS_H

#include "material.h"
#include "prompt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_HUNK_BESIDE = 3, MYTH_HUNK_LEAST = 8 }; /* LEAST: the smallest L */

typedef struct {
    uint32_t piece; /* index in the material */
    uint32_t first, last, n_removed;
} myth_hunk;

typedef struct {
    myth_block block[MYTH_BLOCK_MAX];
    uint32_t piece[MYTH_BLOCK_MAX]; /* for each block the piece that it shows lines of */
    uint32_t n_block;
    uint32_t n_line, n_shown; /* changed and removed lines of all places; those of them that the blocks show */
} myth_hunks;

/* Whether a prompt of these blocks has room. Fewer lines never need more. */
typedef myth_status (*myth_hunks_fit)(void *user, const myth_block *block, uint32_t n_block, bool *fits,
                                      myth_error *err);

/* place: [n], ordered by piece and line. out->n_block 0: not even one place fits, or there is none. Books STAGING
 * during the call. */
myth_status myth_hunks_make(myth_hunks *out, myth_mem *mem, const myth_material *m, const myth_hunk *place, uint32_t n,
                            myth_hunks_fit fits, void *user, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
