/* ignore.h - patterns of ignore files as git reads them, and the ladder of files that decide about a path.
 *
 * Pattern  a line: '#' a comment, '!' takes back, a slash at its end means directories only, one elsewhere ties it to
 *          the file's directory; "*" and "?" within a name, "**" over names, [classes], '\' before what is meant as
 *          written; spaces at the end are dropped unless escaped, a '\r' before the end of the line too
 * Ladder   frames, one a directory, each with the files of that directory; a higher rung decides over a lower one,
 *          within a rung the deeper directory, within a file the last matching pattern
 * Cost     a match takes at most the square of the path's length times the pattern's: no pattern makes it exponential
 * Owner    a list keeps a copy of its text; frames and names are lent by the caller
 * Threads  lists are not changed after the parse: any number may ask
 * Source   gitignore(5), gitattributes(5); git's dir.c and wildmatch.c for what the pages leave open */
#ifndef MYTH_IGNORE_H
#define MYTH_IGNORE_H

#include "engine/base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MYTH_IGNORE_FILE_BYTES = 1 << 20,  /* a larger file of patterns is not read, and listed                       */
    MYTH_IGNORE_PATTERNS = 1 << 13,    /* nor one with which more patterns would be asked about a path            */
    MYTH_IGNORE_TREE_BYTES = 64 << 20, /* of all patterns of a scan, which are held until it ends                 */
};
#define MYTH_IGNORE_STEPS (2ull << 30) /* of matching in a scan, see myth_ignore_steps: 20 s of one processor */

typedef struct {
    const char *line;         /* as written, without what is dropped at its end; zero-terminated */
    const char *text;         /* to match: without '!', a slash at either end                  */
    uint32_t n_text, n_plain; /* bytes; those before the first special one                     */
    uint32_t line_no;         /* from 1                                                        */
    bool is_negative, is_dir_only, is_name, is_suffix, is_never;
    int8_t attribute; /* of .gitattributes: 1 set, -1 unset                            */
} myth_ignore_pattern;

typedef struct {
    const char *name; /* "src/.gitignore", for messages; lent */
    myth_ignore_pattern *pattern;
    uint32_t n_pattern;
    char *text;
    size_t n_bytes; /* of its patterns and their text */
    bool is_folded; /* letters A to Z match without regard to case: git's core.ignorecase */
} myth_ignore_list;

/* Rungs, the lowest first. */
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
    const struct myth_ignore_frame *parent;    /* of a directory above; NULL at the top                 */
    const myth_ignore_list *list[MYTH_RUNG_N]; /* NULL = no such file                                   */
    const myth_ignore_list *attributes;
    uint32_t n_base; /* bytes of a path before the part below this directory  */
} myth_ignore_frame;

typedef struct {
    const myth_ignore_list *list;
    const myth_ignore_pattern *pattern; /* NULL = no pattern says anything */
} myth_ignore_answer;

/* Reads the patterns of a text; the list is freed by myth_ignore_free. is_attributes: of a .gitattributes, the lines
 * that set or unset linguist-generated. MYTH_ELIMIT: more than MYTH_IGNORE_PATTERNS.
 * MYTH_ENOMEM. */
myth_status myth_ignore_parse(myth_ignore_list **out, myth_mem *mem, const char *name, const char *text, size_t n_text,
                              bool is_attributes, myth_error *err);
void myth_ignore_free(myth_ignore_list *list, myth_mem *mem); /* takes NULL */

/* The pattern that decides in one list; path relative to the list's directory. */
const myth_ignore_pattern *myth_ignore_find(const myth_ignore_list *list, const char *path, size_t n_path, bool is_dir);
/* The pattern that decides in all: path relative to the top frame's directory. Not asked: whether a directory above is
 * out. */
myth_ignore_answer myth_ignore_ask(const myth_ignore_frame *frame, const char *path, size_t n_path, bool is_dir);
/* Steps that this thread's questions have taken so far: a pattern looked at, a byte compared by a glob. */
uint64_t myth_ignore_steps(void);
/* 1 = linguist-generated is set, -1 = unset, 0 = nothing said. */
int myth_ignore_generated(const myth_ignore_frame *frame, const char *path, size_t n_path);

/* Whole text against one pattern without '!'. is_path: '*', '?' and classes do not match '/'. is_folded: as git's,
 * which folds letters of the text, of the pattern those that stand for themselves, and in classes ranges and [:upper:]
 * only: "\A" and "[A]" match nothing then. */
bool myth_glob_match(const char *pattern, size_t n_pattern, const char *text, size_t n_text, bool is_path,
                     bool is_folded);

#endif
