/* report.h - the lines of a report that say what is wrong, and those that only hold it together.
 *
 * Heading   a line behind the first that begins with one to six '#' and a blank, or is all in "**", or has a line of
 *           "---" or "===" below: of a form, so that its words are the same in all reports ("Expected behaviour")
 * Settings  the lines below a heading of at most six words, one of which names them (environment, versions, platform,
 *           ...), up to the next heading
 * Fence     between lines of ``` or ~~~ nothing is a heading */
#ifndef MYTH_REPORT_H
#define MYTH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* A walk over a text, line by line. Begins as { 0 }. */
typedef struct {
    size_t begin, end; /* of the line at hand, its end without '\n' */
    bool is_heading, is_settings, in_fence, has_line;
} myth_report;

/* To the next line; false at the end. A line says nothing of its own when is_heading or is_settings. */
bool myth_report_next(myth_report *r, const char *text, size_t n);

#endif
