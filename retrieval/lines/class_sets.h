/* class_sets.h - finds, in the text of an expression, a class that ripgrep's default syntax reads as a set and pcre2 as
 * single characters, so that the same text would find other lines without a word.
 *
 * Sets     [X&&Y] what both have, [X--Y] what X has and Y has not, [X~~Y] what one of them has; and a class in a class,
 *          [X[Y]], what any of them has. [[:alpha:]] is none of these: both read it the same way
 * Ranges   [--a] and []-a] are two signs and a letter for ripgrep, because the first comes first
 * Borders  only classes that are whole by the rules of ripgrep count: [[], which it refuses, is the sign [ for pcre2
 * Source   regex-syntax, ast/parse.rs (parse_set_class and what it calls); pcre2pattern(3) */
#ifndef MYTH_CLASS_SETS_H
#define MYTH_CLASS_SETS_H

#include "engine/base/status.h"

#include <stddef.h>

/* MYTH_EARG: the expression has such a class; the message names the byte and what to write instead. */
myth_status myth_class_sets_check(const unsigned char *pattern, size_t n, myth_error *err);

#endif
