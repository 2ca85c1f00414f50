/* ladder.h - collects the patterns that apply in a scan: from git's settings, from the repository around the
 * directory, and from the files of each directory. Knows which files git tracks, for which its patterns do not count.
 *
 * Repository  the nearest directory with a .git, at or above the root; patterns of the directories between count
 *             too. Without one only the files from the root downwards count
 * Trust       of the repository's settings only core.excludesFile and core.ignorecase are read, and no program is
 *             run. A pattern file is not read when it is a symbolic link, a pipe, or larger than
 *             MYTH_IGNORE_FILE_BYTES. A repository is refused (MYTH_EIO) whose config, with what it includes,
 *             commondir or info/exclude is a pipe or a device; the rest of .git is not read here, and looking at all
 *             of it would take longer than many a scan
 * Tracked     git's index is read when it is first asked for, which many a scan never does
 * Owner       the ladder owns its frames
 * Threads     any may enter directories and ask what is tracked; open and close are called by one */
#ifndef MYTH_LADDER_H
#define MYTH_LADDER_H

#include "ignore.h"
#include "retrieval/git/tracked.h"

#include <limits.h>
#include <pthread.h>

typedef struct myth_ladder_part myth_ladder_part; /* a frame and the memory it owns */

typedef struct {
    myth_mem *mem;
    char top[PATH_MAX];    /* the repository's top folder, or else the root; links resolved */
    char prefix[PATH_MAX]; /* from top to the root: "src/", or ""              */
    size_t n_prefix;
    bool no_ignore, is_repository;
    bool ignore_case;               /* git's core.ignorecase; holds for every pattern file */
    bool has_include;               /* a glob lists what is included */
    const myth_ignore_frame *frame; /* patterns from above the root */
    const myth_ignore_list *option;
    myth_ladder_part *part;
    uint64_t n_bytes; /* memory of all patterns; guarded by the lock, as all after it */
    bool was_asked;   /* the index was read, or could not be */
    myth_tracked *tracked;
    myth_error untold; /* why it is not known what git tracks */
    pthread_mutex_t lock;
} myth_ladder;

/* Bits for the pattern files that a directory has, for myth_ladder_enter. */
enum { MYTH_HAS_GITIGNORE = 1, MYTH_HAS_IGNORE = 2, MYTH_HAS_MYTHOSIGNORE = 4, MYTH_HAS_GITATTRIBUTES = 8 };
int myth_ladder_file(const char *name); /* its bit, 0 for any other name */

/* Zero *l first, and call myth_ladder_close also after a failure. MYTH_ENOTFOUND: the root is missing; MYTH_EARG: it
 * is not a directory; MYTH_EIO; MYTH_ENOMEM. */
myth_status myth_ladder_open(myth_ladder *l, myth_mem *mem, const char *root, const char *const *globs, bool no_ignore,
                             myth_error *err);
void myth_ladder_close(myth_ladder *l);
/* Makes the frame for the directory open at fd, below `frame`; returns `frame` itself when the directory has no
 * patterns. path: from the top, "" or with a slash at its end. *not_read: bits of pattern files that are too large,
 * pipes or devices. */
myth_status myth_ladder_enter(const myth_ignore_frame **out, myth_ladder *l, const myth_ignore_frame *frame, int fd,
                              const char *path, int has, int *not_read, myth_error *err);
/* Whether the directory open at fd is a repository: its .git has a HEAD, or is a file that names one. */
bool myth_ladder_is_repository(int fd);
/* Finds the nearest repository at or above the folder `real`, which has no links in it, and copies its top folder.
 * False: there is none, or the folder is its .git or below it, where no file is one of its work tree. */
bool myth_ladder_top(char top[PATH_MAX], const char *real);
/* Whether git tracks the file, or a file below the directory; path: from the top. Without a repository it tracks
 * nothing. MYTH_ENOMEM; any other failure: the index cannot be read, so nobody knows. */
myth_status myth_ladder_tracks(bool *is_tracked, myth_ladder *l, const char *path, bool is_dir, myth_error *err);
/* Whether a glob's literal text names something below the directory `path` (from the top). */
bool myth_ladder_is_named(const myth_ladder *l, const char *path);

#endif
