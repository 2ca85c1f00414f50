/* ignore.h - patterns of ignore files as git reads them, and which pattern decides about a path.
 *
 * Pattern  one line. '#' begins a comment; '!' includes again; a slash at the end matches directories only, a slash
 *          elsewhere ties the pattern to the file's directory. "*" and "?" match within a name, "**" across names,
 *          [classes] one byte; '\' makes the next byte literal, and braces are (globs.h has others). Unescaped
 *          spaces at the end are dropped, and so is a '\r'
 * Order    each directory with pattern files has a frame, and a frame has one list for each rung (myth_rung). A
 *          later rung decides over an earlier one; within a rung the deeper directory decides; within a file the
 *          last matching pattern
 * Cost     a match takes at most (path length * pattern length)^2 steps, so no pattern makes it exponential
 * Owner    a list copies its text; the caller lends frames and names
 * Threads  a parsed list does not change: any number of threads may ask
 * Errors   MYTH_ELIMIT too many patterns; MYTH_ENOMEM
 * Source   gitignore(5), gitattributes(5); git's dir.c and wildmatch.c where the pages are silent */
#ifndef MYTH_IGNORE_H
#define MYTH_IGNORE_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MYTH_IGNORE_FILE_BYTES = 1 << 20,  /* a larger file of patterns is not read but listed */
    MYTH_IGNORE_PATTERNS = 1 << 13,    /* nor is one with which a path would be compared with more patterns */
    MYTH_IGNORE_TREE_BYTES = 64 << 20, /* all patterns of a scan, which are kept until it ends */
};
#define MYTH_IGNORE_STEPS (2ull << 30) /* steps of matching in one scan (myth_ignore_steps): 20 s of one CPU core */

typedef struct {
    const char *line;         /* as written, without the dropped end; zero-terminated */
    const char *text;         /* what is matched: without '!' and a slash at either end */
    uint32_t n_text, n_plain; /* its bytes, and how many come before the first special one */
    uint32_t line_no;         /* from 1                                                        */
    bool is_negative, is_dir_only, is_name, is_suffix, is_never;
    int8_t attribute; /* for .gitattributes: 1 = set, -1 = unset */
} myth_ignore_pattern;

typedef struct {
    const char *name; /* "src/.gitignore", for messages; lent */
    myth_ignore_pattern *pattern;
    uint32_t n_pattern;
    char *text;
    size_t n_bytes; /* memory of its patterns and their text */
    bool is_folded; /* A to Z match without regard to case, as with git's core.ignorecase */
} myth_ignore_list;

/* Where patterns come from; a later rung decides over an earlier one. */
typedef enum {
    MYTH_RUNG_GLOBAL,  /* git's core.excludesFile */
    MYTH_RUNG_EXCLUDE, /* .git/info/exclude       */
    MYTH_RUNG_GIT,     /* .gitignore              */
    MYTH_RUNG_IGNORE,  /* .ignore                 */
    MYTH_RUNG_MYTHOS,  /* .mythosignore           */
    MYTH_RUNG_OPTION,  /* globs of the caller     */
    MYTH_RUNG_N
} myth_rung;

typedef struct myth_ignore_frame {
    const struct myth_ignore_frame *parent;    /* frame of a directory above; NULL at the top */
    const myth_ignore_list *list[MYTH_RUNG_N]; /* NULL = the directory has no such file */
    const myth_ignore_list *attributes;
    uint32_t n_base; /* length of the part of a path before this directory */
} myth_ignore_frame;

typedef struct {
    const myth_ignore_list *list;
    const myth_ignore_pattern *pattern; /* NULL = no pattern matches */
    myth_rung rung;                     /* where the list comes from */
} myth_ignore_answer;

/* Parses patterns; free the list by myth_ignore_free. is_attributes: the text is a .gitattributes, of which the
 * lines that set or unset linguist-generated are kept. MYTH_ELIMIT: more than MYTH_IGNORE_PATTERNS. */
myth_status myth_ignore_parse(myth_ignore_list **out, myth_mem *mem, const char *name, const char *text, size_t n_text,
                              bool is_attributes, myth_error *err);
void myth_ignore_free(myth_ignore_list *list, myth_mem *mem); /* takes NULL */

/* The pattern of one list that decides; path is relative to the list's directory. */
const myth_ignore_pattern *myth_ignore_find(const myth_ignore_list *list, const char *path, size_t n_path, bool is_dir);
/* The pattern that decides among all frames; path is relative to the top frame's directory. It does not check
 * whether a directory above is excluded. */
myth_ignore_answer myth_ignore_ask(const myth_ignore_frame *frame, const char *path, size_t n_path, bool is_dir);
/* Steps that matching has taken in this thread so far: one for each pattern that was tried, and for each byte that a
 * glob compared. */
uint64_t myth_ignore_steps(void);
/* 1 = linguist-generated is set, -1 = unset, 0 = nothing said. */
int myth_ignore_generated(const myth_ignore_frame *frame, const char *path, size_t n_path);

/* Matches a whole text with one pattern without '!'. is_path: '*', '?' and classes do not match '/'. is_folded:
 * ignores case as git does. git folds the letters of the text, and of the pattern only literal letters, ranges in
 * classes and [:upper:], so "\A" and "[A]" then match nothing. */
bool myth_glob_match(const char *pattern, size_t n_pattern, const char *text, size_t n_text, bool is_path,
                     bool is_folded);

#endif
