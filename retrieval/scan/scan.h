/* scan.h - which files of a directory are in, and why the others are not.
 *
 * Order     paths by bytes, '/' first: the same list on every system and with any number of threads
 * Ladder    .gitignore (of the repository's root down to the file), .git/info/exclude, git's core.excludesFile  <
 *           .ignore  <  .mythosignore
 *           <  option globs: a later rung decides over an earlier one, within a file the last matching pattern; as git,
 *              a file below an
 *           ignored directory stays ignored. Directories of build products and caches are out by name (`skip_dirs` of
 *           scan.c) unless a rung says otherwise. With git's core.ignorecase letters of a file's patterns match without
 *           regard to case
 * Borders   symbolic links are not followed; a directory with a .git of its own (submodule, nested repository) is not
 *           entered; nor is one below the root with more names than a person keeps in one place, unless a pattern names
 *           it
 * Paths     bytes as the system has them, relative to the root, without "./"; not always UTF-8
 * Owner     the list owns its strings; myth_scan_close frees them
 * Errors    MYTH_ENOTFOUND the root is missing; MYTH_EARG it is a file; MYTH_EIO it cannot be read. What is unreadable
 *           below is listed so
 * Source    gitignore(5); ripgrep's guide for the ladder */
#ifndef MYTH_SCAN_H
#define MYTH_SCAN_H

#include "engine/base/cancel.h"
#include "engine/base/mem.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    MYTH_SCAN_IN = 0,
    MYTH_SCAN_IGNORED,     /* a pattern of an ignore file or an option           */
    MYTH_SCAN_HIDDEN,      /* a name with a dot in front, without `hidden`       */
    MYTH_SCAN_SKIPPED_DIR, /* node_modules, build, ...: never source             */
    MYTH_SCAN_BINARY,      /* a NUL in its first 8 KiB and no UTF-16 mark, or media by signature */
    MYTH_SCAN_LARGE,       /* a file over MYTH_FILE_BYTES, a directory of more than MYTH_DIR_NAMES */
    MYTH_SCAN_MINIFIED,    /* *.min.js, *.map, or shaped so                       */
    MYTH_SCAN_LINK,
    MYTH_SCAN_BORDER,  /* a repository of its own                             */
    MYTH_SCAN_SPECIAL, /* socket, device, pipe                                */
    MYTH_SCAN_UNREADABLE,
    MYTH_SCAN_REASON_N
} myth_scan_reason;

typedef struct {
    const char *path; /* relative to the root; of a directory when a whole one is out */
    uint64_t bytes;
    int64_t mtime_ns;
    uint64_t inode;
    const char *language; /* name of languages.def, "text" when none; NULL for what is out */
    const char *why;      /* with `explain`: "pattern '*.o' in src/.gitignore:3"           */
    myth_scan_reason reason;
    bool is_generated; /* in, at low priority: a header mark, a lock file, attributes   */
    bool is_test;
    bool is_dir;
    bool is_lost; /* with `lost`: not in, and no rule says that it should be out       */
    uint8_t
        unseen; /* with `names_only`: what myth_scan_look has still to say, 2 = with regard to minified, 1 = without */
} myth_scan_file;

typedef struct {
    const char *root;
    const char *const *globs; /* as --glob: "!" excludes, else the list of what is in; NULL-terminated or NULL */
    bool no_ignore;           /* -u: no ignore files                                                           */
    bool hidden;              /* dot files too; .git never                                                     */
    bool explain;             /* keep what is out as well; `why` for all                                       */
    bool
        /* keep what is lost as well, with `why`: what could not be read, what is too large unless it is binary, and
         * what is binary or no regular file under a name of source */
        lost;
    bool
        /* no file is opened: bytes, mtime, inode, language are not known, and what is large, binary or minified is
         * listed as in; who reads it asks myth_scan_look (myth_grep does) */
        names_only;
    uint32_t n_threads;    /* 0 = all cores                                                                 */
    uint64_t ignore_steps; /* 0 = MYTH_IGNORE_STEPS                                                            */
    uint32_t dir_names;    /* 0 = MYTH_DIR_NAMES                                                            */
    /* Asked before a file is opened: true when `file` (path, bytes, mtime_ns, inode set) is as it was, with reason,
     * language, is_generated and is_test filled in from then; the strings must live as long as the list. From any
     * thread. NULL = look into every file. */
    bool (*known)(void *arg, myth_scan_file *file);
    void *known_arg;
    const myth_cancel *is_cancelled; /* NULL = never                                                                  */
} myth_scan_opts;

typedef struct {
    myth_scan_file *file;
    uint32_t n_file;
    uint64_t n_out[MYTH_SCAN_REASON_N]; /* of every reason, also without `explain` */
    uint64_t n_lost;                    /* of them, with `lost`                    */
    uint64_t in_bytes;
    struct myth_scan_block *block; /* what the strings stand in */
} myth_scan_list;

/* *out is closed by myth_scan_close, also after a failure (then empty). */
myth_status myth_scan(myth_scan_list *out, myth_mem *mem, const myth_scan_opts *opts, myth_error *err);
void myth_scan_close(myth_scan_list *list, myth_mem *mem);
const char *myth_scan_reason_name(myth_scan_reason reason);

/* Opens a path of a list for reading, below the directory root_fd: no link is followed on the way, no pipe waited for.
 * -1 with errno. */
int myth_scan_open(int root_fd, const char *path, bool is_dir);

/* What a scan with `names_only` left open, from the size and the first MYTH_SNIFF_BYTES (or all) of the file:
 * MYTH_SCAN_IN, else why not. */
myth_scan_reason myth_scan_look(const myth_scan_file *f, uint64_t bytes, const unsigned char *head, uint64_t n_head);

/* What a file is, from its name and its first bytes (may be NULL, 0). */
const char *myth_detect_language(const char *path, const unsigned char *head, uint64_t n_head);
/* Whether `name` is a language of languages.def. */
bool myth_detect_is_language(const char *name);
bool myth_detect_binary(const unsigned char *head, uint64_t n_head);
bool myth_detect_test(const char *path);
/* What says so, or NULL: "PNG image", "source map by its name", "'do not edit' in line 2". Strings are constant or
 * written to `why`. language NULL: found out as far as it matters. */
const char *myth_detect_media(const unsigned char *head, uint64_t n_head);
const char *myth_detect_minified(const char *path, const char *language, const unsigned char *head, uint64_t n_head);
const char *myth_detect_generated(const char *path, const unsigned char *head, uint64_t n_head, char why[64]);

#endif
