/* symbol_rows.h - the symbols of a file as one row of the store, and the table `symbols` over these rows.
 *
 * Why       a row of SQLite a symbol, with an index of names beside it, takes four times the room and most of an
 *           update's inserts
 * Table     `symbols` is virtual: columns and ids as store.h has them. A name, a file_id and a range of ids are looked
 *           up, everything else reads all files. Rows come by rising id
 * Names     names(key, file_id): key is a hash of the name. It says which files may define it; their rows are compared
 * Errors    MYTH_EFORMAT the bytes are not what is written here
 * Threads   one at a time per store */
#ifndef MYTH_SYMBOL_ROWS_H
#define MYTH_SYMBOL_ROWS_H

#include "buffer.h"
#include "store.h"

/* What the row of a file holds before it is compressed. */
void myth_symbol_rows_encode(myth_buffer *b, const myth_chunks *chunks, uint32_t n);

/* Makes `symbols` known to the store's connection. */
myth_status myth_symbol_rows_register(myth_store *s, myth_error *err);
/* Names of a file that is put wait until the transaction ends: sorted, they fill pages in order. */
myth_status myth_symbol_rows_add_names(myth_store *s, int64_t file_id, const myth_chunks *chunks, uint32_t n,
                                       myth_error *err);
myth_status myth_symbol_rows_flush(myth_store *s, myth_error *err);
/* Takes the names of a stored file back, before its row goes; *n gets how many symbols it has. */
myth_status myth_symbol_rows_drop_names(myth_store *s, int64_t file_id, int64_t *n, myth_error *err);
/* Calls report for what differs between the names and the rows. */
myth_status myth_symbol_rows_check(myth_store *s, void (*report)(void *arg, const char *line), void *arg,
                                   myth_error *err);

/* What was read and what waits: at the end of a transaction, and of the store. */
void myth_symbol_rows_forget(myth_store *s);

#endif
