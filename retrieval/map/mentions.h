/* mentions.h - the names that a text without a parser's help shows as code: a document's examples, a C header's
 * declarations.
 *
 * Document  words in `backticks`, in fenced or indented blocks, in directives (".. autoclass:: Session"), alone in
 *           [brackets], and words followed by '(' or joined by '.' or "::". Words of prose are none
 * Header    words followed by '(' outside of comments and of lines of the preprocessor
 * Word      letters, digits and '_' that do not begin with a digit, at least two bytes
 * Threads   any */
#ifndef MYTH_MENTIONS_H
#define MYTH_MENTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { MYTH_MENTIONS_NONE, MYTH_MENTIONS_DOCUMENT, MYTH_MENTIONS_HEADER } myth_mentions_form;

/* How the file is read, by its path and language. Lists of changes, licences and the like are not read. */
myth_mentions_form myth_mentions_form_of(const char *path, const char *language, bool is_document);
/* Whether it is the page that a reader opens first: README, with any suffix. */
bool myth_mentions_is_readme(const char *path);
/* Calls on_word for each such word until it returns false. */
void myth_mentions(myth_mentions_form form, const char *text, size_t n,
                   bool (*on_word)(void *arg, const char *word, size_t n), void *arg);

#endif
