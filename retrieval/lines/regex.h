/* regex.h - applies a regular expression to the lines of a buffer, as grep -P does: each line, without its end, is
 * a subject by itself.
 *
 * Text       lines and the pattern are UTF-8, with the classes, word borders and case folding (character by character)
 *            of Unicode. Nothing matches a byte that is part of no character. A pattern that is not valid UTF-8, or is
 *            so only as bytes (\C), is matched as bytes
 * Syntax     that of pcre2, and what other programs write for the border of a word or a character (dialect.h); a class
 *            that only ripgrep reads as a set ([a-z&&[^x]]) is refused, see class_sets.h
 * Ways       three ways give the same result, and the fastest that the pattern allows is taken: only lines with a
 *            literal that every match must contain; all lines of ASCII that follow each other at once, if no part of
 *            the pattern can match '\n'; line by line
 * Owner      the caller closes both objects; a run must be closed before its regex
 * Threads    a regex may be shared; each thread needs its own run
 * Errors     MYTH_EARG what is wrong in the pattern, and where; MYTH_ELIMIT the match limit is exceeded (the caller
 *            names the file); MYTH_ENOMEM */
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

/* A buffer's text begins: call it before myth_regex_next when other text is searched. */
void myth_regex_begin(myth_regex_run *run);
/* Finds the first line at or after *p that matches. [*p, end) must begin at the start of a line and end at the end of
 * one; after a final '\n' there is no empty line. On true, *line and *n_line are the line, *at and *n_at the match in
 * it, and *p is after the line. */
bool myth_regex_next(myth_regex_run *run, const unsigned char **p, const unsigned char *end, const unsigned char **line,
                     size_t *n_line, size_t *at, size_t *n_at, myth_status *st);
/* Whether one line, of n bytes without its end, matches. */
bool myth_regex_line(myth_regex_run *run, const unsigned char *line, size_t n, size_t *at, size_t *n_at,
                     myth_status *st);
/* The way that is taken: "literal", "buffer" or "lines". */
const char *myth_regex_way(const myth_regex *r);

#endif
