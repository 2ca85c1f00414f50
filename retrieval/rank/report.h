/* report.h - which lines of a report say nothing about what is wrong: the form that it was written in.
 *
 * Form      a heading of the form's own words ("### Steps to reproduce", "Expected behaviour:"), an item of a check
 *           list ("- [x] I searched"), a comment of the form (<!-- ... -->, over several lines too), and a line that
 *           only names issues ("Closes #7", "Fixes #12, #13")
 * Title     the first line that is none of these
 * Order     lines are asked for from first to last
 * Threads   any; nothing is allocated */
#ifndef MYTH_REPORT_H
#define MYTH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *text;
    size_t n, end; /* end: behind the line that was asked for last */
    bool is_comment, is_form;
} myth_report;

/* Begins before the first line. */
void myth_report_start(myth_report *r, const char *text, size_t n);
/* Whether the line with the byte `off` belongs to the form; r->end is then where this line ends. */
bool myth_report_is_form(myth_report *r, size_t off);

#endif
