/* grep.h - literal and regular-expression search by scanning the files of a scan: no index, no false negatives.
 *
 * Answers   one row per matching line, as LC_ALL=C grep -anF and -anP give over the same files: a line ends at '\n',
 *           NUL bytes are text
 * Order     of the scan, then by line, whatever the number of threads
 * Regex     pcre2 without UTF mode, JIT where there is one, with a match limit: MYTH_ELIMIT names the file that exceeds
 *           it
 * Source    grep(1), pcre2pattern(3) */
#ifndef MYTH_GREP_H
#define MYTH_GREP_H

#include "engine/base/cancel.h"
#include "retrieval/scan/scan.h"

typedef struct {
    const char *path;
    uint64_t off;                        /* of the line */
    uint32_t line;                       /* from 1      */
    const unsigned char *text;           /* the line, without its end; valid during the call */
    uint64_t n_text, match_off, n_match; /* the first match, within the line */
} myth_grep_row;

typedef struct {
    const char *root;
    const unsigned char *pattern;
    uint64_t n_pattern;
    bool is_regex, ignore_case, is_word;
    uint32_t n_threads; /* 0 = all cores          */
    uint64_t max_rows;  /* 0 = all                */
    const myth_cancel *is_cancelled;
} myth_grep_opts;

/* on_row is called by one thread at a time, in order; false ends the search. n_unread: files that were gone or
 * unreadable. */
myth_status myth_grep(myth_mem *mem, const myth_scan_list *files, const myth_grep_opts *opts,
                      bool (*on_row)(void *arg, const myth_grep_row *row), void *arg, uint64_t *n_unread,
                      myth_error *err);

#endif
