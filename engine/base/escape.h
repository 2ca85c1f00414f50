/* escape.h - the one spelling of what is not shown as it is: a name or a text of somebody else's on a line of ours.
 *
 * Spelling  \n and \t; \xNN for another control of one byte and for a byte that is no UTF-8; \u{NNNN} for a control or
 *           a mark of more bytes that reorders or hides text (myth_utf8_is_unseen). Everything else is itself, the
 *           backslash too: the text is for people, not to be read back
 * Commands  a line that begins with "::", after blanks or not, is an order to the host of a workflow, and so is "##["
 *           or "##vso[" anywhere in one: their first byte is escaped where a whole line comes from elsewhere */
#ifndef MYTH_ESCAPE_H
#define MYTH_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_ESCAPED_MAX = 12 }; /* bytes of one escape */

/* The first character of text (n > 0 bytes) into dst; returns how many bytes it has there, *used how many here. */
size_t myth_escape(char dst[MYTH_ESCAPED_MAX], const char *text, size_t n, size_t *used);
/* Whether the byte at `at` begins an order to a host, in a line of n bytes that is all of somebody else's. */
bool myth_escape_is_command(const char *line, size_t n, size_t at);

#ifdef __cplusplus
}
#endif
#endif
