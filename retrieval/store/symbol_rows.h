/* symbol_rows.h - the symbols of a file stored as one row, and the virtual table `symbols` that reads them.
 *
 * Why       one row for each symbol, with an index of names, would take four times the space and most of an
 *           update's inserts
 * Table     `symbols` has the columns and ids of store.h. Searches by name, by file_id and by a range of ids are
 *           look-ups; any other reads all files. Rows come by rising id
 * Names     names(key, file_id) says which files may define a name: key is a hash of the name, so the files' rows
 *           are compared
 * Errors    MYTH_EFORMAT a row cannot be decoded; MYTH_ENOMEM
 * Threads   one at a time per store */
#ifndef MYTH_SYMBOL_ROWS_H
#define MYTH_SYMBOL_ROWS_H

#include "buffer.h"
#include "store.h"

/* Appends a file's row, not yet compressed. */
void myth_symbol_rows_encode(myth_buffer *b, const myth_chunks *chunks, uint32_t n);

/* Registers the table `symbols` on the store's connection. */
myth_status myth_symbol_rows_register(myth_store *s, myth_error *err);
/* Collects the names of a new file. They are written at the end of the transaction: sorted, they fill pages in
 * order. */
myth_status myth_symbol_rows_add_names(myth_store *s, int64_t file_id, const myth_chunks *chunks, uint32_t n,
                                       myth_error *err);
myth_status myth_symbol_rows_flush(myth_store *s, myth_error *err);
/* Deletes the names of a stored file, before its row is deleted; *n gets the number of its symbols. */
myth_status myth_symbol_rows_drop_names(myth_store *s, int64_t file_id, int64_t *n, myth_error *err);
/* Calls report for every difference between the names and the symbols. */
myth_status myth_symbol_rows_check(myth_store *s, void (*report)(void *arg, const char *line), void *arg,
                                   myth_error *err);

/* Drops the cached file and the collected names: at the end of a transaction, and when the store closes. */
void myth_symbol_rows_forget(myth_store *s);

#endif
