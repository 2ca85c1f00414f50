/* diff.h - parses a unified diff, as git and diff -u write it: for each file the changed lines of the new side, and the
 * places where lines were removed.
 *
 * Accepted  "diff --git" with rename, copy, new, deleted, mode, binary; "---" and "+++" without it; quoted paths
 *           (core.quotepath); "\ No newline at end of file"; header lines that end with CR LF; context lines that lost
 *           their leading blank; other text before and between files (mail, logs)
 * Refused   MYTH_EFORMAT with the line: combined diffs of merges ("@@@"), a hunk that ends early, counts that do not
 *           match, bad numbers, hunks that overlap or go backwards, text without any diff. A diff that was cut off is
 *           not accepted as a whole one
 * Skipped   files whose new path cannot be below a root (absolute, "..", ".git", empty, with a NUL or newline);
 *           `skipped` has the reason
 * Binary    "Binary files differ" sets is_binary and gives no lines; the file's own bytes decide whether it is text
 * Lines     of the new side, from 1. `added`: ranges of changed or new lines, in order, not touching. `removed`: how
 *           many lines were removed before line `before` (one past the last line at the end). When they were replaced,
 *           `before` is the first changed line. The text of both is kept, and that of the context
 * Several   patches in a row, as of several commits, are read as one. Their line numbers are those of the texts in
 *           between: a file that is changed more than once has is_twice, and myth_diff_differs compares the others with
 *           the text that is there
 * Moved     myth_diff_mark_moved takes lines out of `added` that another place of the diff lost
 * Prefix    a/ and b/ (or i/ w/ c/ o/ 1/ 2/ of diff.mnemonicPrefix) are removed when both sides have one
 * Owner     the diff owns its strings and lists until myth_diff_free; nothing points into the text
 * Threads   one */
#ifndef MYTH_INSPECT_DIFF_H
#define MYTH_INSPECT_DIFF_H

#include "engine/base/mem.h"
#include "frontend/inspect/prompt/source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_DIFF_BYTES = 64 << 20, MYTH_DIFF_FILES = 1 << 16, MYTH_DIFF_PATH = 4096, MYTH_DIFF_LINE_MAX = 1 << 30 };

typedef enum {
    MYTH_DIFF_CHANGED,
    MYTH_DIFF_ADDED,
    MYTH_DIFF_DELETED,
    MYTH_DIFF_RENAMED,
    MYTH_DIFF_COPIED
} myth_diff_kind;

typedef struct {
    uint32_t first, last;
} myth_diff_lines;
typedef struct {
    uint32_t before, n;
    size_t off, len; /* the lines in old_text, each with "\n" in place of its line end */
} myth_diff_removed;

/* The lines of the new side that a hunk shows, with their context; last = first - 1 when it shows none. */
typedef struct {
    uint32_t first, last;
} myth_diff_hunk;

typedef struct {
    const char *path, *old_path; /* on the new and on the old side; if one side has none, the other's */
    myth_diff_kind kind;
    bool is_binary, is_mode_changed;
    bool is_link, is_module; /* mode 120000, 160000                   */
    bool is_twice;           /* another entry of the diff changes it, too */
    const char *skipped;     /* why the file cannot be shown; NULL = it can be */
    myth_diff_lines *added;
    myth_diff_removed *removed;
    myth_diff_hunk *hunk;
    char *old_text, *new_text; /* all removed lines; the lines of all hunks; one after the other, "\n" as their end */
    size_t n_old_text, n_new_text;
    uint32_t n_added, n_removed, n_hunk; /* lengths of the lists                   */
    uint32_t lines_added, lines_removed; /* the same as git's --numstat            */
    uint32_t lines_moved;                /* of lines_added, those that are not in `added` any more */
} myth_diff_file;

typedef struct {
    myth_diff_file *file;
    uint32_t n_file, cap_file;
    myth_mem *mem;
} myth_diff;

/* Parses text; free *out with myth_diff_free, after a failure too (it is then empty). An empty text is a diff without
 * files. */
myth_status myth_diff_parse(myth_diff *out, myth_mem *mem, const char *text, size_t n, myth_error *err);
void myth_diff_free(myth_diff *d);
/* The removed lines of a file as a source has them: a list [f->n_removed] for the caller to free, whose texts are the
 * diff's; NULL without memory, or when nothing was removed. */
myth_removed *myth_diff_removed_list(const myth_diff_file *f, myth_mem *mem);
/* Puts `prefix` ("src/lib/") before every path, for a diff that was made in a folder of a repository. A path that is
 * refused stays so. */
myth_status myth_diff_put_below(myth_diff *d, const char *prefix, myth_error *err);
/* Takes out of `added` every range whose lines are, byte for byte and beside blank lines at its ends, all that was
 * removed in another place: that code moved and is not new. Ranges with fewer than 20 letters and digits stay, and each
 * removed place counts once. The removed lines stay as they are. *n_line = how many lines moved. */
myth_status myth_diff_mark_moved(myth_diff *d, uint32_t *n_line, myth_error *err);

/* Whether one of lines first..last was changed, or lines were removed there. */
bool myth_diff_touches(const myth_diff_file *f, uint32_t first, uint32_t last);
/* Whether a hunk shows one of lines first..last. */
bool myth_diff_shows(const myth_diff_file *f, uint32_t first, uint32_t last);
/* The first line that the diff shows on the new side and that is another in src, the file that is there; 0 = none.
 * Blanks do not count: diff -w, mails and editors change them, and a line stays where it is. */
uint32_t myth_diff_differs(const myth_diff_file *f, const myth_source *src);
/* Why a path cannot be below a root; NULL when it can. */
const char *myth_diff_path_refused(const char *path);

#ifdef __cplusplus
}
#endif
#endif
