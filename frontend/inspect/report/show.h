/* show.h - the texts of a report on their way out: secrets hidden, then one character after the other as it may be
 * shown. Every renderer takes what comes from a file or a model through here. */
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
/* A file's path as it is: its reader must find the file, whatever the constants of a file hold. Only the form's own
 * escapes are applied. */
void myth_show_file(const char *path, myth_put put, void *user);
/* What was inspected (r->path): a file's path as it is, words with their secrets hidden. */
void myth_show_title(const myth_report *r, myth_put put, void *user);
/* The diff of finding i's patch: the paths of its header as they are, the rest with its secrets hidden. */
void myth_show_patch(const myth_report *r, uint32_t i, myth_put put, void *user);
/* Line n (from 1) of a source, without its terminator; of one longer than MYTH_SHOW_LINE bytes the piece that holds the
 * byte at `keep` of the file (0 = its beginning), with U+2026 where it was cut. */
enum { MYTH_SHOW_LINE = 1000 };
void myth_show_line(const myth_report *r, const myth_source *src, uint32_t n, uint32_t keep, myth_put put, void *user);
const char *myth_show_path(const myth_report *r, uint32_t i); /* of the file of finding i, raw */

/* Bytes of text without the end of its last line. */
size_t myth_show_without_end(const char *text, size_t n);

/* The character at p (n >= 1): *shown gets its bytes, *shown_len their number; returns how many bytes of p it takes.
 * Controls but newline and tab, marks that turn or hide text, and bytes that are not UTF-8 are shown as U+FFFD. */
size_t myth_show_one(const char **shown, size_t *shown_len, const char *p, size_t n);

#ifdef __cplusplus
}
#endif
#endif
