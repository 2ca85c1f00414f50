/* scan.h - which files of a directory are included, and why the others are not.
 *
 * Order     paths are sorted by bytes, with '/' first: the list is the same on every system and with any number of
 *           threads
 * Patterns  .gitignore files from the repository's root down to the file, .git/info/exclude and git's
 *           core.excludesFile come first; .ignore overrides them, .mythosignore overrides that, and globs of the
 *           options override all. Within a file the last matching pattern decides. As in git, a file below an
 *           ignored directory stays ignored. Directories of build products and caches are left out by name
 *           (myth_detect_products) unless a pattern includes them. git's core.ignorecase makes the patterns of
 *           files ignore case
 * Tracked   a file in git's index is in whatever git's own patterns say, as for git, and a directory with such a file
 *           is not left out by its name. When the index cannot be read, directories left out by name are lost
 * Borders   symbolic links are not followed. A directory with its own .git (a submodule, a nested repository) is
 *           not entered. Nor is one below the root with more names than a person keeps in one place, unless a
 *           pattern names it
 * Paths     bytes as the system has them, relative to the root, without "./"; not always UTF-8
 * Units     sizes in bytes, times in nanoseconds since 1970
 * Owner     the list owns its strings; myth_scan_close frees them
 * Threads   a scan starts its own; any number of scans may run
 * Errors    MYTH_ENOTFOUND the root is missing; MYTH_EARG it is a file, or a glob is not whole; MYTH_EIO it cannot be
 *           read; MYTH_ELIMIT too many files or patterns; MYTH_ECANCEL; MYTH_ENOMEM. What cannot be read below the root
 *           is listed with that reason
 * Source    gitignore(5); ripgrep's guide for the order of pattern files */
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
    MYTH_SCAN_SKIPPED_DIR, /* node_modules, build, ..., in which git tracks nothing */
    MYTH_SCAN_BINARY,      /* a NUL in its first 8 KiB and no UTF-16 mark, or media by signature */
    MYTH_SCAN_LARGE,       /* a file over MYTH_FILE_BYTES, a directory of more than MYTH_DIR_NAMES */
    MYTH_SCAN_MINIFIED,    /* *.min.js, *.map, or long dense lines */
    MYTH_SCAN_LINK,
    MYTH_SCAN_BORDER,  /* a directory with its own .git */
    MYTH_SCAN_SPECIAL, /* socket, device, pipe                                */
    MYTH_SCAN_UNREADABLE,
    MYTH_SCAN_POINTER, /* what Git LFS leaves in the place of a file that was not fetched */
    MYTH_SCAN_REASON_N
} myth_scan_reason;

typedef struct {
    const char *path; /* relative to the root; names a directory when all of it is out */
    uint64_t bytes;
    int64_t mtime_ns, ctime_ns;
    uint64_t inode;
    const char *language; /* a name of languages.def, "text" when unknown; NULL for files that are out */
    const char *why;      /* with `explain`: "pattern '*.o' in src/.gitignore:3"           */
    myth_scan_reason reason;
    bool is_generated; /* included at low priority: a mark in its head, a lock file, or .gitattributes */
    bool is_test;
    bool is_dir;
    bool is_lost; /* with `lost`: it is out although no rule excludes it */
    uint8_t
        /* with `names_only`: the file still needs myth_scan_look, 2 = with the test for minified files, 1 = without */
        unseen;
} myth_scan_file;

typedef struct {
    const char *root;
    /* As --glob, with braces (globs.h): "!..." excludes, others list what is included; NULL-terminated, or NULL. */
    const char *const *globs;
    bool no_ignore; /* -u: no ignore files                                                           */
    bool hidden;    /* include names with a dot in front, except .git */
    bool explain;   /* list excluded files too, with `why` for every file */
    bool
        /* list lost files too, with `why`: unreadable ones, text that is too large, and under a name of source what
         * is binary, a pointer of Git LFS or not a regular file */
        lost;
    bool
        /* open no file: bytes, times, inode and language stay unknown, and large, binary and minified files are
         * listed as included. Whoever reads a file then asks myth_scan_look (as myth_grep does) */
        names_only;
    uint32_t n_threads;    /* 0 = all cores                                                                 */
    uint64_t ignore_steps; /* 0 = MYTH_IGNORE_STEPS                                                            */
    uint32_t dir_names;    /* 0 = MYTH_DIR_NAMES                                                            */
    /* Called before a file is opened. Return true when `file` (path, bytes, times and inode are set) is unchanged
     * since an earlier scan, and fill in its reason, language, is_generated and is_test; the strings must live as
     * long as the list. Called from any thread. NULL = open every file. */
    bool (*known)(void *arg, myth_scan_file *file);
    void *known_arg;
    const myth_cancel *is_cancelled; /* NULL = never                                                                  */
} myth_scan_opts;

typedef struct {
    myth_scan_file *file;
    uint32_t n_file;
    uint64_t n_out[MYTH_SCAN_REASON_N]; /* files by reason, counted also without `explain` */
    uint64_t n_lost;                    /* how many of them are lost; counted with `lost` */
    uint64_t in_bytes;
    struct myth_scan_block *block; /* memory of the strings */
} myth_scan_list;

/* Close *out by myth_scan_close, also after a failure (it is empty then). */
myth_status myth_scan(myth_scan_list *out, myth_mem *mem, const myth_scan_opts *opts, myth_error *err);
void myth_scan_close(myth_scan_list *list, myth_mem *mem);
const char *myth_scan_reason_name(myth_scan_reason reason);

/* Opens a path of the list for reading, below the directory root_fd. Follows no symbolic link on the way and does
 * not wait for a pipe. -1 with errno. */
int myth_scan_open(int root_fd, const char *path, bool is_dir);

/* Decides what a scan with `names_only` left open, from the file's size and its first MYTH_SNIFF_BYTES (or all of
 * it): MYTH_SCAN_IN, or why the file is out. */
myth_scan_reason myth_scan_look(const myth_scan_file *f, uint64_t bytes, const unsigned char *head, uint64_t n_head);

/* The language of a file, by its name and its first bytes (NULL, 0 when unknown). */
const char *myth_detect_language(const char *path, const unsigned char *head, uint64_t n_head);
/* Whether `name` is a language of languages.def. */
bool myth_detect_is_language(const char *name);
/* The name of language number i, in the order of languages.def; NULL past the last. */
const char *myth_detect_language_name(uint32_t i);
bool myth_detect_binary(const unsigned char *head, uint64_t n_head);
/* Whether the bytes are a whole file of Git LFS that names the content which belongs here; MYTH_DETECT_POINTER says so
 * to a person. */
#define MYTH_DETECT_POINTER "a pointer of Git LFS, its content is not here; git lfs pull fetches it"
bool myth_detect_pointer(const unsigned char *bytes, uint64_t n);
bool myth_detect_test(const char *path);
/* Whether a name is that of a code file, so that leaving it out is a loss. */
bool myth_detect_code(const char *name);
/* Whether files of a language hold no statements of a program: documents, data, styles. */
bool myth_detect_no_code(const char *language);
/* Whether a directory has the name that tools give to what they make or download: build, node_modules, ... */
bool myth_detect_products(const char *name);
/* Whether a file is media, minified or generated: the evidence ("PNG image", "source map by its name", "'do not
 * edit' in line 2"), or NULL. The string is constant or written to `why`. language NULL: it is detected if it
 * matters. */
const char *myth_detect_media(const unsigned char *head, uint64_t n_head);
const char *myth_detect_minified(const char *path, const char *language, const unsigned char *head, uint64_t n_head);
const char *myth_detect_generated(const char *path, const unsigned char *head, uint64_t n_head, char why[64]);

#endif
