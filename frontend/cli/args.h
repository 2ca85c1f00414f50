/* args.h - option tables: one table drives parsing, the environment, --help, the man page and completion.
 *
 * Values   flag > environment > configuration file (rcfile.h) > default. Every long flag has an environment variable:
 *          --max-new-tokens, MYTHOS_MAX_NEW_TOKENS. A flag that several commands read differently, or that writes over
 *          something, has its command's name in the variable: MYTHOS_SCAN_HIDDEN, MYTHOS_INSPECT_DIFF_UPDATE_BASELINE
 * Forms    --name value, --name=value, -x value; --no-name turns a boolean off; `--` ends the options; `-` is an
 *          argument. A command that prints JSON with --json takes --format text|json too, one that has --format with
 *          json among its forms takes --json too
 * Sizes    1048576, 512M, 2GiB, 1.5g: powers of 1024
 * Owner    texts are lent from argv and the environment
 * Errors   MYTH_EARG with one line that names the flag, what it takes, and the nearest known flag */
#ifndef MYTH_ARGS_H
#define MYTH_ARGS_H

#include "engine/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_OPT_FLAG,   /* bool          */
    MYTH_OPT_U32,    /* uint32_t      */
    MYTH_OPT_U64,    /* uint64_t      */
    MYTH_OPT_SIZE,   /* uint64_t, with unit */
    MYTH_OPT_F32,    /* float         */
    MYTH_OPT_TEXT,   /* const char *  */
    MYTH_OPT_CHOICE, /* int: index into `value`, "text|json|jsonl" */
    MYTH_OPT_LIST    /* myth_opt_list: may be given several times; the environment gives one */
} myth_opt_kind;

enum { MYTH_OPT_LIST_MAX = 16 };

typedef struct {
    const char *item[MYTH_OPT_LIST_MAX];
    int n;
} myth_opt_list;

typedef struct {
    const char *name; /* without dashes */
    const char *also; /* other spellings, with dashes: "-ub, --prefill-chunk"; NULL = none */
    myth_opt_kind kind;
    const char *value; /* what to call the value in the help ("N", "FILE"); the choices of a CHOICE */
    size_t off;        /* of the field in the group's struct */
    const char *def;   /* default as text, parsed like a value; NULL = zero; "(words)" is only shown */
    double min, max;   /* of a number; both 0 = any */
    const char *help;  /* one line */
} myth_option;

/* A table for one struct; `off` is the place of that struct in the command's. */
typedef struct {
    const char *title;
    const myth_option *opt;
    size_t n_opt, off;
} myth_option_group;

enum { MYTH_ARGS_MAX = 96 }; /* options of a command, all groups */

typedef enum { MYTH_FROM_DEFAULT, MYTH_FROM_FILE, MYTH_FROM_ENV, MYTH_FROM_FLAG, MYTH_FROM_N } myth_opt_source;
extern const char *const myth_opt_source_name[MYTH_FROM_N]; /* "default", "file", "environment", "flag" */

typedef struct {
    const myth_option *opt;
    void *field;
    myth_opt_source source;
    const char *text; /* the value as it was given; NULL for defaults and flags */
} myth_opt_slot;

typedef struct {
    myth_opt_slot slot[MYTH_ARGS_MAX];
    int n_slot;
    int n_arg;           /* positional arguments, moved to the front of argv */
    bool wants_help;     /* -h or --help was seen: nothing after it was read */
    const char *command; /* whose options these are, for the names of variables; NULL = no command's */
} myth_parsed;

/* Adds a group whose struct is at `base`; sets the fields to their defaults. */
void myth_args_add(myth_parsed *p, const myth_option_group *g, void *base);
/* A value that a file has at `where`, before parse. p has the name; text is lent. MYTH_EFORMAT: it is none. */
myth_status myth_args_set(myth_parsed *p, const char *name, const char *text, const char *where, myth_error *err);
/* Reads the environment, then argv[0..argc): argv is reordered, the n_arg positional arguments first. */
myth_status myth_args_parse(myth_parsed *p, int argc, char **argv, myth_error *err);
/* The slot of a long name; NULL when there is none. */
const myth_opt_slot *myth_args_find(const myth_parsed *p, const char *name);
bool myth_args_is_given(const myth_parsed *p, const char *name); /* by flag or environment */

/* Value as text ("4096", "on", "json"), for --show-config. */
void myth_args_text(const myth_opt_slot *s, char *dst, size_t cap);
/* "MYTHOS_MAX_NEW_TOKENS"; with the command where the flag wants it. */
void myth_args_env_name(const myth_option *o, const char *command, char *dst, size_t cap);
/* Whether the flag's variable carries the name of its command. */
bool myth_args_is_own(const char *name);
/* The word of `list` nearest to `word`, when it is near enough to be meant; else NULL. */
const char *myth_args_nearest(const char *word, const char *const *list, size_t n);
/* "2GiB" to bytes. */
bool myth_size_parse(uint64_t *out, const char *text);
/* Bytes for people: "1.2 GiB". */
const char *myth_size_text(char dst[24], uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
