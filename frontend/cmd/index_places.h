/* index_places.h - `mythos index list` and `mythos index prune`: the indexes of all trees.
 *
 * Threads  one */
#ifndef MYTH_INDEX_PLACES_H
#define MYTH_INDEX_PLACES_H

#include "frontend/cli/cli.h"

typedef struct {
    bool is_prune, json, is_dry;
    bool has_days; /* prune also deletes what was not used for so many days */
    uint32_t days;
} myth_index_places_opts;

/* Runs the command and returns its exit code. */
int myth_index_places_run(myth_cli *cli, const myth_index_places_opts *o);

#endif
