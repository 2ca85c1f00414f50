/* mention_why.h - what a line of code does with a name that stands in it, as far as the text beside the name tells:
 * nothing is parsed, so what is not certain is "the same word in code".
 *
 * Threads  any */
#ifndef MYTH_MENTION_WHY_H
#define MYTH_MENTION_WHY_H

#include "retrieval/scan/languages.h"

#include <stddef.h>

/* text[0 .. n): a file without its comments and strings (code_mask.h), in which the name is at `at`. Returns words that
 * are valid for ever. */
const char *myth_mention_why(const char *text, size_t n, size_t at, size_t n_name, const myth_language *language);
extern const char myth_mention_word[]; /* what it returns where nothing is certain */

#endif
