/* revision.h - two states of a directory, old and new: the difference between them, and the files of the new one.
 *
 * Sides     spec           old side                                    new side
 *           NULL           HEAD                                        the working tree
 *           "REV"          that commit                                 the working tree
 *           "A..B"         commit A                                    commit B
 *           "A...B"        the last common ancestor of A and B         commit B (in a shallow clone: of what is there)
 *           "REV^!"        its first parent, or nothing                that commit (mark.h)
 *           "REV^-N"       its parent number N                         that commit
 *           is_staged      HEAD, or the commit that spec names         git's index
 *           is_patch       none: no repository is opened, the caller brings the difference; the new side is the
 *                          working tree
 * Root      a directory in the work tree, at its top or below. Only files below it are compared, and paths are
 *           relative to it
 * Safety    libgit2 reads objects, the index and files. It runs no hook, filter program or textconv, and writes
 *           nothing. A repository that belongs to another user is refused, and so is one where git would have to
 *           open a pipe or a device (git_files.h). Files of the working tree are opened without following symbolic
 *           links
 * Text      every file is compared as text, whatever .gitattributes says. Three kinds of file appear as the line
 *           "Binary files differ" in place of hunks: files whose new side holds zero bytes (myth_detect_binary),
 *           files that are larger than MYTH_REVISION_TEXT_BYTES on one side, and files of the working tree that
 *           cannot be read. No setting of the repository changes this
 * Untracked files are not part of a difference, as with git diff, unless is_untracked is set: then those of the
 *           working tree that git does not ignore are new in it. myth_revision_diff_file shows one that is named as new
 * Renames   are found by content, whatever the settings of the user are; with is_untracked also those to an untracked
 *           file
 * Owner     the caller closes *out; texts and bytes that are returned are the caller's, freed by myth_free
 * Errors    MYTH_ENOTFOUND no repository, or no such file on the new side; MYTH_EARG no such revision; MYTH_ELIMIT
 *           a file or a difference that is too large; MYTH_EUNSUPPORTED a symbolic link or a submodule; MYTH_EIO a
 *           file that exists and cannot be read, or a failure that libgit2 describes; MYTH_ENOMEM
 * Threads   one at a time per myth_revision */
#ifndef MYTH_REVISION_H
#define MYTH_REVISION_H

#include "engine/base/mem.h"

typedef struct myth_revision myth_revision;

typedef struct {
    const char *root;
    const char *spec; /* NULL = HEAD */
    bool is_staged, is_patch, is_untracked;
} myth_revision_opts;

enum { MYTH_REVISION_DIFF_BYTES = 64 << 20, MYTH_REVISION_TEXT_BYTES = 4 << 20 };

myth_status myth_revision_open(myth_revision **out, myth_mem *mem, const myth_revision_opts *opts, myth_error *err);
void myth_revision_close(myth_revision *r); /* takes NULL */

/* The difference with three lines of context and renames detected. *text is zero-terminated; free it by myth_free.
 * Paths in it are relative to the top of the repository, so each begins with myth_revision_prefix. */
myth_status myth_revision_diff(myth_revision *r, char **text, size_t *n, myth_error *err);
/* How many untracked files of the working tree the last difference left out; *names = the first few of them as a list
 * such as "a.c, b.c", valid until close. Files that git ignores are not counted. */
uint32_t myth_revision_untracked(const myth_revision *r, const char **names);
const char *myth_revision_prefix(const myth_revision *r); /* "" or "src/lib/" */
/* Reads a file of the new side; `path` is relative to the root. MYTH_ELIMIT when it has more than max_bytes. Free
 * *bytes by myth_free. */
myth_status myth_revision_read(myth_revision *r, unsigned char **bytes, size_t *n, const char *path, size_t max_bytes,
                               myth_error *err);
/* The difference between the old side and one file of the new side, as a diff without context; "" when they are
 * equal. bytes: the file's content, which the caller has read. path: relative to the top of the repository, so with
 * the prefix. A file that was renamed is compared with its old name, anywhere in the repository. A file that the old
 * side lacks is shown as new from the first line to the last, also when git does not track it. *text is
 * zero-terminated; free it by myth_free. */
myth_status myth_revision_diff_file(myth_revision *r, char **text, size_t *n, const char *path, const void *bytes,
                                    size_t n_bytes, myth_error *err);
/* Converts a path relative to the current folder into one relative to the top of the repository, following links.
 * MYTH_EARG: the file is outside of the work tree. */
myth_status myth_revision_locate(const myth_revision *r, char *dst, size_t cap, const char *path, myth_error *err);
/* The hash of the old side's tree, 40 hex digits; "" when there is no commit on that side. */
enum { MYTH_REVISION_ID = 41 };
void myth_revision_old_id(const myth_revision *r, char dst[MYTH_REVISION_ID]);
/* The commit of the new side, or, where that is the working tree or the index, HEAD; *time_s = seconds since 1970.
 * False: there is none. */
bool myth_revision_commit(const myth_revision *r, char dst[MYTH_REVISION_ID], int64_t *time_s);

/* Where the repository was cloned from, as its settings say: the address of its remote "origin". False: there is none,
 * or it is longer. */
bool myth_revision_origin(const myth_revision *r, char *dst, size_t cap);

/* ---- the commits that led here ---- */

typedef struct {
    const char *path; /* relative to the root */
    char change;      /* 'A' added, 'M' changed, 'D' deleted, 'T' of another type; 'U' in conflict, '?' not tracked */
} myth_commit_file;
typedef struct {
    char id[MYTH_REVISION_ID];
    int64_t time_s; /* since 1970 */
    const char *subject;
    const myth_commit_file *file; /* those below the root, or below `under` */
    uint32_t n_file;
} myth_commit;

/* Calls on_commit for commits that HEAD leads to, the newest first, until it returns false. under: a file or a folder
 * relative to the root; "" = the root. Merges and commits that touch nothing there are left out. At most
 * MYTH_REVISION_WALK commits are looked at; *end says why there are no more. Without a commit there is none. What a
 * call gets is valid during it. */
enum { MYTH_REVISION_WALK = 2000 };
typedef enum {
    MYTH_COMMITS_WHOLE, /* these are all, or on_commit returned false */
    MYTH_COMMITS_LIMIT,
    MYTH_COMMITS_SHALLOW /* the clone is shallow: what came before is not there, nor what its last commits changed */
} myth_commits_end;
myth_status myth_revision_commits(myth_revision *r, const char *under,
                                  bool (*on_commit)(void *arg, const myth_commit *c), void *arg, myth_commits_end *end,
                                  myth_error *err);
/* Calls on_file for every file of the working tree that differs from the newest commit: the tracked ones first, then
 * those that git neither tracks nor ignores. A file that was renamed is one deleted and one added. A submodule is
 * changed when its folder or the index has another commit of it. The revision must be that of HEAD and the working
 * tree; under: as above. Files that cannot be read make it fail, but for those that myth_revision_diff met before. */
myth_status myth_revision_changes(myth_revision *r, const char *under,
                                  void (*on_file)(void *arg, const myth_commit_file *f), void *arg, myth_error *err);
/* Whether the new side is the working tree. */
bool myth_revision_is_worktree(const myth_revision *r);
/* Whether the caller brings the difference. */
bool myth_revision_is_patch(const myth_revision *r);

#endif
