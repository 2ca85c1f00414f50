/* table.h - reads the CSV files of rates: the kept one, those of bench/results, and machines.csv. Columns are found by
 * their names, so each file has those it needs.
 *
 * Form     RFC 4180 without line breaks inside of a field. A line of more fields than its header, or of more than
 *          MYTH_RATES_LINE bytes, is skipped, and so is one with control characters
 * Owner    texts of a row point into the file's buffer, and are valid during the callback
 * Errors   MYTH_EFORMAT: the first line names none of the columns; those of myth_file_read
 * Threads  any */
#ifndef MYTH_RATES_TABLE_H
#define MYTH_RATES_TABLE_H

#include "engine/base/mem.h"
#include "engine/base/status.h"

enum { MYTH_RATES_LINE = 1024, MYTH_RATES_FIELDS = 24 };

/* clang-format off */
#define MYTH_RATE_COLUMNS(X) \
    X(processor) X(setup) X(model) X(type) X(shape) X(test) X(batch) X(depth) X(tok_s) X(tokens) X(answers) \
    X(threads) X(tok_per_cpu_s) X(name) X(device) X(memory_mib)
/* clang-format on */

/* A row; "" where the file has no such column. */
typedef struct {
#define X(column) const char *column;
    MYTH_RATE_COLUMNS(X)
#undef X
} myth_rate_row;

/* Calls on_row for every row of a table in memory until it returns false. False: the first line names no column. */
bool myth_rates_rows(const unsigned char *bytes, size_t len, bool (*on_row)(void *user, const myth_rate_row *row),
                     void *user);
/* The same for a file of at most MYTH_RATES_BYTES. */
myth_status myth_rates_table(myth_mem *mem, const char *path, bool (*on_row)(void *user, const myth_rate_row *row),
                             void *user, myth_error *err);

#endif
