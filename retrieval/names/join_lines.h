/* join_lines.h - a signature of several lines as one. */
#ifndef MYTH_JOIN_LINES_H
#define MYTH_JOIN_LINES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Drops the comments of a language where they lie, and returns the length of what is left; ends of lines stay.
 * To be called before the lines are joined: behind a comment to the end of a line nothing could be told apart. */
size_t myth_drop_comments(char *s, size_t n, const char *language);
/* Joins the lines where they lie, and returns the length of the one line. White space becomes one blank. Where a line
 * ended, no blank stays behind an opening bracket and none, and no comma, before a closing one. */
size_t myth_join_lines(char *text, size_t n);

#ifdef __cplusplus
}
#endif
#endif
