/* diff.h - a unified diff, as git and diff -u write it: per file which lines of the new side are changed and where
 * lines were removed.
 *
 * Taken     "diff --git" with rename, copy, new, deleted, mode, binary; "---" and "+++" alone; quoted paths
 *           (core.quotepath); "\ No newline at end of file"; header lines that end in CR LF; context lines whose blank
 *           was lost; text before and between (mail, logs)
 * Refused   MYTH_EFORMAT with the line: combined diffs of merges ("@@@"), a hunk that ends early, counts that do not
 *           fit, numbers that are none, hunks that overlap or go back, text that is no diff at all. Half a diff is not
 *           taken for a whole one
 * Skipped   files whose new path cannot be below a root: absolute, "..", ".git", empty, a NUL or newline: `skipped`
 *           says why
 * Binary    "Binary files differ" says is_binary and nothing of the lines: whether the file is text, its bytes decide
 * Lines     of the new side, from 1. `added`: changed or new lines, ranges in order that do not touch. `removed`: how
 *           many lines went away in front of `before` (one past the last line at the end); part of a change too, then
 *           `before` is the first changed line
 * Prefix    a/ and b/ (i/ w/ c/ o/ 1/ 2/ of diff.mnemonicPrefix) are left out when both sides have them
 * Owner     the diff owns its strings and lists; myth_diff_free frees them. Nothing points into the text */
#ifndef MYTH_INSPECT_DIFF_H
#define MYTH_INSPECT_DIFF_H

#include "engine/base/mem.h"

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
} myth_diff_removed;

/* What a hunk shows: lines of the new side with its context; last = first - 1 when there is none. */
typedef struct {
    uint32_t first, last;
} myth_diff_hunk;

typedef struct {
    const char *path, *old_path; /* of the new and of the old side; the other's where there is none */
    myth_diff_kind kind;
    bool is_binary, is_mode_changed;
    bool is_link, is_module; /* mode 120000, 160000                   */
    const char *skipped;     /* why nothing of it is shown; NULL = it can be */
    myth_diff_lines *added;
    myth_diff_removed *removed;
    myth_diff_hunk *hunk;
    uint32_t n_added, n_removed, n_hunk; /* of the lists                           */
    uint32_t lines_added, lines_removed; /* as git's --numstat                     */
} myth_diff_file;

typedef struct {
    myth_diff_file *file;
    uint32_t n_file, cap_file;
    myth_mem *mem;
} myth_diff;

/* *out is freed by myth_diff_free, also after a failure (then empty). An empty text is a diff without files. */
myth_status myth_diff_parse(myth_diff *out, myth_mem *mem, const char *text, size_t n, myth_error *err);
void myth_diff_free(myth_diff *d);

/* Whether lines first..last have a changed line, or stand where lines were removed. */
bool myth_diff_touches(const myth_diff_file *f, uint32_t first, uint32_t last);
/* Whether a hunk shows one of them. */
bool myth_diff_shows(const myth_diff_file *f, uint32_t first, uint32_t last);
/* Why a path cannot be below a root; NULL when it can. */
const char *myth_diff_path_refused(const char *path);
const char *myth_diff_kind_name(myth_diff_kind kind);

#ifdef __cplusplus
}
#endif
#endif
