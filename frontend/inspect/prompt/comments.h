/* comments.h - blanks the comments of a piece of source code: a judge does not read what the code's author says about
 * it, and of removed lines those with code are told from those without.
 *
 * Comment   from //, #, --, ; or % to the line's end, and blocks, as the language has them (languages.h); in Python
 *           also a text in three quotes that is a statement of its own, which is documentation
 * Blanked   each byte becomes a space, except ends of lines: offsets and line numbers stay
 * Strings   are left as they are, with signs of comments inside. In a language whose strings end at the line's end, a
 *           quote that begins no string (a lifetime of Rust) hides the comment of one line at most. JavaScript's
 *           regular expressions are left too: a slash begins one where a value may stand
 * Threads   any */
#ifndef MYTH_INSPECT_COMMENTS_H
#define MYTH_INSPECT_COMMENTS_H

#include "retrieval/retrieval.h"

/* Blanks in place the comments of text[0 .. n), which begins outside of any comment and string; returns whether there
 * were any. */
bool myth_comments_blank(unsigned char *text, uint64_t n, const myth_language *language);
/* The length of a line without the blanks at its end. */
uint32_t myth_comments_line(const unsigned char *line, uint32_t len);

#endif
