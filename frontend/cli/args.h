/* args.h - option tables: parsing, environment variables, --help, the man page and completion all read the same table.
 *
 * Values   flag > environment > configuration file (rcfile.h) > default. Every long flag has an environment variable:
 *          --max-new-tokens, MYTHOS_MAX_NEW_TOKENS. Where a flag means different things in different commands, or
 *          overwrites a file, the variable contains the command's name, so that setting it for one command cannot
 *          change another: MYTHOS_SCAN_HIDDEN, MYTHOS_INSPECT_DIFF_UPDATE_BASELINE
 * Forms    --name value, --name=value, -x value; --no-name turns a boolean off; `--` ends the options; `-` is an
 *          argument. A command with --json also takes --format text|json; a command whose --format includes json also
 *          takes --json
 * Sizes    1048576, 512M, 2GiB, 1.5g: powers of 1024
 * Owner    text values point into argv and the environment; nothing is copied
 * Threads  one
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
    MYTH_OPT_OUT,    /* const char *: the path of a file that the command writes (hints.h keeps it from its inputs) */
    MYTH_OPT_CHOICE, /* int: index of the word in `value`, such as "text|json|jsonl" */
    MYTH_OPT_LIST    /* myth_opt_list: the flag may be repeated; the environment can give one item only */
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
    /* name of the value in the help ("N", "FILE"); for a CHOICE its words; "N|all": a U32 that takes the word all as
     * its largest number */
    const char *value;
    size_t off;       /* offset of the field in the group's struct */
    const char *def;  /* default as text, parsed like a value; NULL = zero; a text in parentheses is only shown */
    double min, max;  /* allowed range of a number; both 0 = any */
    const char *help; /* one line */
} myth_option;

/* The options that fill one struct; `off` is that struct's offset in the command's options. */
typedef struct {
    const char *title;
    const myth_option *opt;
    size_t n_opt, off;
} myth_option_group;

enum { MYTH_ARGS_MAX = 96 }; /* most options of one command, all groups together */

typedef enum { MYTH_FROM_DEFAULT, MYTH_FROM_FILE, MYTH_FROM_ENV, MYTH_FROM_FLAG, MYTH_FROM_N } myth_opt_source;
extern const char *const myth_opt_source_name[MYTH_FROM_N]; /* "default", "file", "environment", "flag" */

typedef struct {
    const myth_option *opt;
    void *field;
    myth_opt_source source;
    const char *text; /* the value as written in the environment or the file; NULL for defaults and flags */
} myth_opt_slot;

typedef struct {
    myth_opt_slot slot[MYTH_ARGS_MAX];
    int n_slot;
    int n_arg;           /* positional arguments, moved to the front of argv */
    bool wants_help;     /* -h or --help was seen: nothing after it was read */
    const char *command; /* name used in environment variables that belong to one command; NULL = none */
    /* The command that has a flag which this one lacks; NULL = none, or no function. For messages. */
    const char *(*command_of)(const char *word, size_t len);
    /* Set by parse: the last option whose variable is set without the command's name, and so was not read. */
    const myth_option *unread_env;
} myth_parsed;

/* Adds a group whose struct is at `base`; sets the fields to their defaults. */
void myth_args_add(myth_parsed *p, const myth_option_group *g, void *base);
/* Sets an option from a configuration file, after parse, unless that found a value. p must have an option of that name,
 * and text must live as long as p. MYTH_EFORMAT: text is not a value of the option; the message begins with `where`. */
myth_status myth_args_set(myth_parsed *p, const char *name, const char *text, const char *where, myth_error *err);
/* Reads the environment, then argv[0..argc): argv is reordered, the n_arg positional arguments first. */
myth_status myth_args_parse(myth_parsed *p, int argc, char **argv, myth_error *err);
/* The slot of a long name; NULL when there is none. */
const myth_opt_slot *myth_args_find(const myth_parsed *p, const char *name);
bool myth_args_is_given(const myth_parsed *p, const char *name); /* by flag, environment or file */
/* Whether it was written on this command line. A variable or a file speaks to all commands: what it says and this run
 * has no use for is passed over; only a flag without an effect is refused. */
bool myth_args_is_flag(const myth_parsed *p, const char *name);

/* Writes the value as text ("4096", "on", "json"), for --show-config. */
void myth_args_text(const myth_opt_slot *s, char *dst, size_t cap);
/* Writes the name of the option's variable: "MYTHOS_MAX_NEW_TOKENS", with the command's name where is_own says so. */
void myth_args_env_name(const myth_option *o, const char *command, char *dst, size_t cap);
/* Whether the name of the flag's variable contains the name of the command. */
bool myth_args_is_own(const char *name);
/* Whether the word of len bytes, "--top" or "-k", is a spelling of the option. */
bool myth_args_spells(const myth_option *o, const char *word, size_t len);
/* Whether the value is one text, const char *. */
bool myth_args_is_text(const myth_option *o);
/* Whether the flag prints JSON, so that --format json is another spelling of it. */
bool myth_args_is_json(const myth_option *o);
/* The word of `list` that `word` is probably a misspelling of; NULL when none is similar enough. */
const char *myth_args_nearest(const char *word, const char *const *list, size_t n);
enum { MYTH_ARGS_NAMES = 64 };
/* Reads a list of names with commas between them: a bit of *bits for each of names[n], n at most MYTH_ARGS_NAMES. what:
 * "rule", for the message of MYTH_EARG, which names the flag and the most similar name. */
myth_status myth_args_read_names(uint64_t *bits, const char *flag, const char *what, const char *list,
                                 const char *const *names, size_t n, myth_error *err);
/* Parses "2GiB" to bytes; false when text is not a size. */
bool myth_size_parse(uint64_t *out, const char *text);
/* Writes bytes for people, "1.2 GiB", and returns dst. */
const char *myth_size_text(char dst[24], uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
