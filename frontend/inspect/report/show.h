/* show.h - gives renderers the texts of a report, with secrets hidden. Every renderer must get text from a file or a
 * model through these functions.
 *
 * Owner    the text that `put` gets is valid during the call
 * Threads  one */
#ifndef MYTH_INSPECT_SHOW_H
#define MYTH_INSPECT_SHOW_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The finding's issue, or its rule's title. */
void myth_show_issue(const myth_report *r, uint32_t i, myth_put put, void *user);
void myth_show_evidence(const myth_report *r, uint32_t i, myth_put put, void *user);
void myth_show_text(const myth_report *r, myth_str text, myth_put put, void *user);
void myth_show_cstr(const myth_report *r, const char *text, myth_put put, void *user);
/* A file's path, unredacted, because a reader must find the file. The form applies its own escapes. */
void myth_show_file(const char *path, myth_put put, void *user);
/* The title of the inspection (r->path): a file's path unredacted, other words with their secrets hidden. */
void myth_show_title(const myth_report *r, myth_put put, void *user);
/* Writes a part of a text into the JSON string that is open, as myth_show_one shows it; user is the myth_json_out. */
void myth_show_in_json(void *user, const char *text, size_t len, bool is_placeholder);
/* The diff of finding i's patch: the paths in its header unredacted, the rest with its secrets hidden. */
void myth_show_patch(const myth_report *r, uint32_t i, myth_put put, void *user);
/* Line n (from 1) of a source, without its newline. Of a line longer than MYTH_SHOW_LINE bytes only the piece around
 * byte `keep` of the file (0 = the line's beginning), with U+2026 where it was cut. */
enum { MYTH_SHOW_LINE = 1000 };
void myth_show_line(const myth_report *r, const myth_source *src, uint32_t n, uint32_t keep, myth_put put, void *user);
const char *myth_show_path(const myth_report *r, uint32_t i); /* the path of finding i's file, not escaped */

/* The length of text without its last newline. */
size_t myth_show_without_end(const char *text, size_t n);

/* The character at p (n >= 1), as it may be shown: *shown gets its bytes, *shown_len their number. Returns the number
 * of bytes of p that it used. Control characters except newline and tab, marks that reverse or hide text, and bytes
 * that are not UTF-8 are shown as U+FFFD. */
size_t myth_show_one(const char **shown, size_t *shown_len, const char *p, size_t n);
/* Writes text as myth_show_one shows it, with references of HTML and XML for the signs that these forms act on. Inside
 * an attribute of XML a raw newline or tab would be read as a blank, so they become references too. */
void myth_show_markup(FILE *f, const char *text, size_t len, bool is_attribute);
/* The same inside of an attribute, as a sink of the functions below; file: FILE *. */
void myth_show_attribute(void *file, const char *text, size_t len, bool is_placeholder);
/* The column behind the first n bytes of line `line` (both from 1), in characters; a byte that is not UTF-8 counts as
 * one. */
uint32_t myth_show_column(const myth_source *src, uint32_t line, uint32_t n);

/* The columns of finding i's evidence in the line that it is in: the first character's, and the one behind the last.
 * False: it is not known where the evidence stands. */
bool myth_show_columns(const myth_report *r, uint32_t i, uint32_t *first, uint32_t *behind);

#ifdef __cplusplus
}
#endif
#endif
