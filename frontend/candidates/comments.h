/* comments.h - blanks the comments of a piece of source code, so that it can be judged without what it says of itself.
 *
 * Comment   from two slashes, #, --, ; or % to the line's end, and blocks, as the language has them (languages.h);
 *           texts in three quotes that are statements of Python, which are documentation
 * Blanked   each byte becomes a space, except ends of lines: offsets and line numbers stay
 * Strings   are left as they are: "// no comment". They end at the line's end where the language's do, so a quote that
 *           begins none (a lifetime of Rust) hides one line's comment at most. So are JavaScript's patterns: where a
 *           value may stand, a slash begins one
 * Threads   any */
#ifndef MYTH_CANDIDATES_COMMENTS_H
#define MYTH_CANDIDATES_COMMENTS_H

#include "retrieval/retrieval.h"

/* Blanks in place the comments of text[0 .. n), which begins outside of any comment and string; returns whether there
 * were any. */
bool myth_comments_blank(unsigned char *text, uint64_t n, const myth_language *language);
/* How many bytes of a line remain without the blanks at its end. */
uint32_t myth_comments_line(const unsigned char *line, uint32_t len);

#endif
