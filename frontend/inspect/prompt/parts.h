/* parts.h - pieces of a material to the parts of an inspection, by what each costs.
 *
 * Subjects in the material's order, every line in exactly one block. One that does not fit what is left of a part
 * begins the next; one that
 *          does not fit a part is cut (split.h), its last block shares a part with what follows
 * Context  lines that no subject holds and the part does not show yet. While subjects may still come it gets at most
 *          half of a part; what is left over at the end is filled with what had no room. A piece is shown whole or not
 *          at all
 * Blocks   of a part: subjects in order, behind each its context; at most MYTH_BLOCK_MAX
 * Alone    with is_alone a part has one subject, or what it was cut into, and nothing else
 * Cost     of blocks adds up. A block may reach `soft`, one of a single line `hard`
 * Units    tokens, or whatever cost counts
 * Owner    books STAGING; the packing keeps what it took until close
 * Errors   MYTH_ELIMIT a line that does not fit, more than MYTH_INSPECT_PARTS_MAX parts; MYTH_ENOMEM; what cost returns
 */
#ifndef MYTH_INSPECT_PARTS_H
#define MYTH_INSPECT_PARTS_H

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
    uint32_t soft, hard; /* room of a part for blocks */
    uint32_t max_part;
    bool is_alone;           /* a part has one subject, or a piece of one, and no context */
    const char *worker_path; /* as myth_split_borders */
    myth_status (*cost)(void *user, const myth_block *b, uint32_t *cost, myth_error *err);
    void *user;
} myth_parts_opts;

typedef struct {
    myth_mem *mem;
    myth_parts_row *row; /* by part, within a part in the order of the prompt */
    uint32_t n_row, cap_row, n_part;
    uint32_t n_context, n_left_out; /* context pieces that have lines to show; those that no part shows */
} myth_parts;

myth_status myth_parts_make(myth_parts *out, myth_mem *mem, const myth_material *m, const myth_parts_opts *o,
                            myth_error *err);
void myth_parts_close(myth_parts *p); /* takes a zeroed one */

/* Lines of piece i that no block of shown[0 .. n_shown) and, with beside_subjects, no subject of m holds, as blocks;
 * pieces of white space alone are left out. Writes at most cap, returns how many there are. */
uint32_t myth_parts_rest(myth_block *out, uint32_t cap, const myth_material *m, uint32_t i, bool beside_subjects,
                         const myth_block *shown, uint32_t n_shown);

#ifdef __cplusplus
}
#endif
#endif
