/* regex.h - a regular expression applied to lines of a buffer as grep -P applies it: each line is a subject of its own,
 * without its end.
 *
 * Ways       three give the same answer, the fastest that the pattern allows is taken: lines that hold a literal which
 *            every match must hold; the whole buffer at once, with a pattern none of whose parts can take a '\n'; line
 *            by line
 * Threads    a regex may be shared, a regex_run belongs to one thread
 * Errors     MYTH_EARG what is wrong and where in the pattern; MYTH_ELIMIT the match limit is exceeded (the caller
 *            names the file) */
#ifndef MYTH_REGEX_H
#define MYTH_REGEX_H

#include "engine/base/mem.h"

typedef struct myth_regex myth_regex;
typedef struct myth_regex_run myth_regex_run;

myth_status myth_regex_open(myth_regex **out, myth_mem *mem, const unsigned char *pattern, size_t n, bool ignore_case,
                            bool is_word, myth_error *err);
void myth_regex_close(myth_regex *r); /* takes NULL */
myth_status myth_regex_run_open(myth_regex_run **out, const myth_regex *r, myth_error *err);
void myth_regex_run_close(myth_regex_run *run); /* takes NULL */

/* The first line at or behind *p that matches. [*p, end) begins with a line and ends with one; a line is never ""
 * behind the last '\n'. Found: true, *line and *n_line the line, *at and *n_at the match in it, *p behind the line. */
bool myth_regex_next(myth_regex_run *run, const unsigned char **p, const unsigned char *end, const unsigned char **line,
                     size_t *n_line, size_t *at, size_t *n_at, myth_status *st);
/* "literal", "buffer" or "lines": which way is taken. */
const char *myth_regex_way(const myth_regex *r);

#endif
