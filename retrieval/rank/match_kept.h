/* match_kept.h - what a connection keeps for later queries while its database stays as it is: the lengths of rows, and
 * the rows of words that queries asked for.
 *
 * Owner    the connection, which frees it when it is closed; booked in the ledger that it was opened with
 * Errors   MYTH_ENOMEM
 * Threads  one call at a time per connection */
#ifndef MYTH_MATCH_KEPT_H
#define MYTH_MATCH_KEPT_H

#include "engine/base/mem.h"
#include "retrieval/store/postings.h"

#include <sqlite3.h>

enum {
    MYTH_MATCH_KEPT_LENGTHS = 1 << 24,
    MYTH_MATCH_KEPT_WORDS = 4096,
    MYTH_MATCH_KEPT_ROWS = 1 << 18 /* at 3 MiB of rows the next query clears the cache */
};

typedef struct {
    char token[30];
    unsigned char n;       /* 0: a free slot            */
    uint32_t first, n_row; /* its rows in `row` */
} myth_match_kept_word;

typedef struct {
    myth_mem *mem;
    uint32_t *length, n; /* number of words by row id; 0: not read yet */
    unsigned version;    /* SQLite's data version: another one makes the cache invalid */
    myth_posting *row;   /* rows of words that queries asked for */
    uint32_t n_row, cap_row, n_word;
    myth_match_kept_word *word; /* open addressing           */
} myth_match_kept;

/* Ties an empty cache to the connection. */
myth_status myth_match_kept_open(sqlite3 *db, myth_mem *mem, myth_error *err);
/* The connection's cache, without what is invalid; NULL = it has none. */
myth_match_kept *myth_match_kept_of(sqlite3 *db);
/* The slot of a word, cached or free; NULL: no room, or the word is too long. */
myth_match_kept_word *myth_match_kept_find_word(myth_match_kept *k, const char *token, size_t n);
/* Adds a row behind the others, for myth_postings_walk. */
myth_status myth_match_kept_add(void *kept, const myth_posting *one);

#endif
