/* grep.h - searches the files of a scan for a literal or a regular expression by reading them: no index, so no
 * match is missed.
 *
 * Answers   one row for each matching line, the same as ripgrep would print for these files: a line ends at '\n', and
 *           NUL bytes are text. For lines of ASCII that is what LC_ALL=C grep -anF or -anP prints
 * Text      UTF-8, as regex.h says; a file that begins with the byte order mark of UTF-16 is converted, and a mark is
 *           no part of its line. A literal is compared byte by byte, or when case is ignored, character by character
 *           with the simple case folding of Unicode. The borders of a whole word are Unicode's
 * Context   lines in front of a match and behind it, each once; none behind the last match of max_rows is in front
 *           of the next
 * Order     that of the scan, then by line, with any number of threads
 * Regex     pcre2, compiled by its JIT where it has one, with a match limit. MYTH_ELIMIT names the file that exceeds it
 * Owner     a row is valid during the call of on_row
 * Threads   starts its own; on_row is called by one at a time
 * Errors    MYTH_EARG a wrong pattern; MYTH_ENOTFOUND no such root; MYTH_ELIMIT; MYTH_ECANCEL; MYTH_ENOMEM
 * Source    grep(1), pcre2pattern(3) */
#ifndef MYTH_GREP_H
#define MYTH_GREP_H

#include "engine/base/cancel.h"
#include "retrieval/scan/scan.h"

typedef struct {
    const char *path;
    uint64_t off;                        /* offset of the line in the file; of UTF-16, in its text as UTF-8 */
    uint32_t line;                       /* from 1      */
    const unsigned char *text;           /* the line, without its end; valid during the call */
    uint64_t n_text, match_off, n_match; /* the first match, within the line */
    bool is_context;                     /* the line does not match, but one near it does */
} myth_grep_row;

typedef struct {
    const char *root;
    const unsigned char *pattern;
    uint64_t n_pattern;
    bool is_regex, ignore_case, is_word;
    uint32_t n_threads;         /* 0 = all cores          */
    uint64_t max_rows;          /* lines that match; 0 = all */
    uint32_t n_before, n_after; /* lines around each of them that are rows, too */
    /* MYTH_SCAN_REASON_N counts, to which the files are added that are out by what is in them (binary, minified, ...)
     * although a scan with names_only listed them; NULL = not wanted */
    uint64_t *n_out;
    const myth_cancel *is_cancelled;
} myth_grep_opts;

/* Whether an expression asks for a line end outside of classes: ripgrep refuses such a one, because no line has it. */
bool myth_grep_wants_line_end(const unsigned char *pattern, uint64_t n);

/* Calls on_row for matching lines, in order and from one thread at a time, until it returns false. *n_unread: number
 * of files that were gone or could not be read. */
myth_status myth_grep(myth_mem *mem, const myth_scan_list *files, const myth_grep_opts *opts,
                      bool (*on_row)(void *arg, const myth_grep_row *row), void *arg, uint64_t *n_unread,
                      myth_error *err);

#endif
