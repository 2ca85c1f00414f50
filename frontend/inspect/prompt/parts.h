/* parts.h - packs the pieces of a material into parts, each the code of one prompt, by their cost in tokens.
 *
 * Subjects are packed in the material's order, every line in exactly one block. A subject that does not fit into the
 *          rest of a part begins the next part. One that is larger than a part is cut (split.h), and its last block
 *          shares a part with the following pieces. The parts that begin inside of its definition begin with the
 *          definition's head (material.h), when it takes at most a quarter of a part; its block is_again
 * Context  only lines that no subject has and that the part does not show yet. While subjects may still follow, context
 *          gets at most half of a part; at the end, leftover room is filled with context that did not fit. A piece of
 *          context is shown whole or not at all
 * Removed  each subject's block brings the removed lines that stood in it, of at most removed_most bytes and at most
 *          half of a part; they cost tokens like the block's lines. One line that fits only without them goes without
 * Blocks   a part's subjects in order, each followed by its context; at most MYTH_BLOCK_MAX
 * Local    with is_local a subject that is larger than a part is cut by the names in it (split.h), and a part has one
 *          block. Cost is then that of a prompt of this block alone
 * Alone    with is_alone a part has one subject, or one piece of a cut subject, and nothing else
 * Cost     the cost of a part is the sum of its blocks' costs. A part may cost `soft`, one with a single line `hard`
 * Skipped  with may_skip a single line that does not fit is in no part but in a list, when the subject is cut locally
 * Units    tokens, or whatever the cost callback counts
 * Owner    books STAGING until close
 * Time     the cost of a part's lines is asked a few times for each part, whatever follows them
 * Errors   MYTH_ELIMIT: a single line does not fit, or more than max_part parts; MYTH_ECANCEL; MYTH_ENOMEM; what cost
 *          returns
 * Threads  one */
#ifndef MYTH_INSPECT_PARTS_H
#define MYTH_INSPECT_PARTS_H

#include "engine/base/cancel.h"
#include "material.h"
#include "prompt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t piece; /* index in the material */
    uint32_t part;
    uint32_t cost;
    myth_block block;
} myth_parts_row;

typedef struct {
    uint32_t soft, hard; /* most cost of a part's blocks; hard: when a single line is longer than soft */
    uint32_t max_part;
    uint32_t removed_most; /* most bytes of removed lines beside a subject's block; 0 = none */
    bool is_alone;         /* a part has one subject, or a piece of one, and no context */
    bool is_local, may_skip;
    const char *worker_path; /* as in myth_split_borders */
    myth_status (*cost)(void *user, const myth_block *b, uint32_t *cost, myth_error *err);
    void *user;
    const myth_cancel *cancel; /* NULL = never */
    /* Called for each block of a subject with the lines of subjects that are in parts, and all of them; may be NULL. */
    void (*on_progress)(void *progress_user, uint32_t done, uint32_t total);
    void *progress_user;
} myth_parts_opts;

/* A line that is too long for every prompt. */
typedef struct {
    uint32_t piece, line;
} myth_parts_skip;

typedef struct {
    myth_mem *mem;
    myth_parts_row *row; /* ordered by part, and within a part as in the prompt */
    uint32_t n_row, cap_row, n_part;
    myth_parts_skip *skip; /* [n_skip], in the material's order */
    uint32_t n_skip, cap_skip;
    uint32_t n_context, n_left_out; /* context pieces with lines to show; those of them that no part shows */
} myth_parts;

myth_status myth_parts_make(myth_parts *out, myth_mem *mem, const myth_material *m, const myth_parts_opts *o,
                            myth_error *err);
void myth_parts_close(myth_parts *p); /* takes a zeroed one */

/* The lines of piece i that no block of shown[0 .. n_shown) has, and with beside_subjects no subject of m, as blocks;
 * blocks with only white space are left out. Writes at most cap blocks and returns how many there are. */
uint32_t myth_parts_rest(myth_block *out, uint32_t cap, const myth_material *m, uint32_t i, bool beside_subjects,
                         const myth_block *shown, uint32_t n_shown);

#ifdef __cplusplus
}
#endif
#endif
