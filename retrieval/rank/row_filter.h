/* row_filter.h - which files and chunks a filtered search may find, so that the filter is part of choosing candidates
 * and a file that passes cannot be crowded out by better ones that do not.
 *
 * Memory   at most 48 bytes for each wanted file and each of its chunks; class OTHER
 * Owner    the caller opens and closes
 * Threads  reading is safe from any number */
#ifndef MYTH_ROW_FILTER_H
#define MYTH_ROW_FILTER_H

#include "retrieval/store/store.h"

typedef struct {
    int64_t id;
    uint64_t content; /* the chunk's hash, 0 for a file */
} myth_filter_row;

typedef struct myth_row_filter {
    myth_mem *mem;
    myth_filter_row *chunk, *file;
    uint32_t n_chunk, n_file, cap_chunk, cap_file;
    uint32_t *chunk_slot, *file_slot, n_chunk_slot, n_file_slot; /* open addressing: index + 1 by id */
} myth_row_filter;

/* Asks wants for each file of the index, and reads the chunks of those it wants. */
myth_status myth_row_filter_open(myth_row_filter *out, myth_store *store, myth_mem *mem,
                                 bool (*wants)(void *user, const char *path), void *user, myth_error *err);
void myth_row_filter_close(myth_row_filter *w); /* takes a zeroed one */
bool myth_row_filter_has_chunk(const myth_row_filter *w, int64_t id);
bool myth_row_filter_has_file(const myth_row_filter *w, int64_t id);

#endif
