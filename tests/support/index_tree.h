/* index_tree.h - what tests of the index share: a tree that changes at random, an index of it, and everything an index says as one text. */
#ifndef MYTH_TESTS_INDEX_TREE_H
#define MYTH_TESTS_INDEX_TREE_H

#include "files.h"
#include "retrieval/index.h"

/* Files below files_path(name): C, Python and text, made from a few words so that names repeat. */
void tree_make(const char *name, uint32_t n_file, uint64_t *rng);
/* Edits, removals, renames, new files; at least one. */
void tree_change(const char *name, uint32_t n_change, uint64_t *rng);

/* Opens the index at files_path(db) of the tree; updates it. Fails the test when that fails. */
void index_update(const char *tree, const char *db, myth_mem *mem, myth_index_stats *stats);
/* Checks it and writes what it says, by path and place, without ids and clocks. */
void index_dump(bytes *out, const char *tree, const char *db, myth_mem *mem);
/* The index equals one made anew. */
void index_equals_fresh(const char *tree, const char *db, myth_mem *mem);
/* Removes a database and what lies beside it. */
void index_remove(const char *db);

#endif
