/* tools_impl.h - what a tool consists of, and what it is given to run.
 *
 * Run       reads its checked arguments with myth_tool_text and the like, adds to the answer, and returns. tools.c has
 *           made the answer with its budget and finishes it
 * Threads   one */
#ifndef MYTH_TOOLS_IMPL_H
#define MYTH_TOOLS_IMPL_H

#include "reply.h"
#include "frontend/cli/tempdir.h"
#include "frontend/common/open_index.h"
#include "tools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A SHARE is a number from 0 to 1. */
typedef enum { MYTH_TOOL_TEXT, MYTH_TOOL_NUMBER, MYTH_TOOL_BOOL, MYTH_TOOL_TEXTS, MYTH_TOOL_SHARE } myth_tool_kind;

/* Longest text of an argument in bytes, and most texts of a MYTH_TOOL_TEXTS. */
enum { MYTH_TOOL_TEXT_MAX = 4096, MYTH_TOOL_TEXTS_MAX = MYTH_OPT_LIST_MAX };

typedef struct {
    const char *name;
    myth_tool_kind kind;
    bool is_required;
    const char *words;     /* of a text: the words that it may be, "a|b"; NULL = any text */
    int64_t def, min, max; /* of a number */
    const char *help;
} myth_tool_arg;

typedef struct {
    const char *name, *title, *help, *items; /* items: the key of the answer's list */
    const myth_tool_arg *arg;
    size_t n_arg;
    bool may_last; /* it runs in a process of its own */
    myth_status (*run)(struct myth_tools *t, const json_t *args, myth_reply *a, myth_error *err);
} myth_tool;

struct myth_tools {
    myth_cli *cli;
    const char *dir;
    const myth_model_flags *model;
    const myth_tool *tool;          /* the one that runs */
    myth_index *index;              /* NULL until it is needed */
    bool is_empty;                  /* of this call: there is no file to index */
    char place[MYTH_TEMPDIR_BYTES]; /* of the index, where there is no folder of caches; "" = there is one */
    uint64_t n_missed; /* of this call: what was asked for and not looked at, for another reason than n_unread */
    myth_cli_tokenizer tokenizer;
    int32_t *ids;
    size_t cap_ids;
};

/* The value of an argument; what was not given is NULL, the default of its row, false, or a list of none. The texts of
 * a list are lent by the arguments. */
const char *myth_tool_text(const json_t *args, const char *name);
int64_t myth_tool_number(const myth_tools *t, const json_t *args, const char *name);
bool myth_tool_bool(const json_t *args, const char *name);
void myth_tool_texts(myth_opt_list *out, const json_t *args, const char *name);

/* The index, brought up to date. Without a file to index it is an error that the tool passes on: the answer is then an
 * empty one with a note. */
myth_status myth_tools_index(myth_index **out, myth_tools *t, myth_error *err);
/* Says in the answer how many files could not be read in this call. tools.c calls it after the tool. */
void myth_tools_note_unread(const myth_tools *t, myth_reply *a);

/* Writes the path of a file or folder as the scan spells it: without "./", "//" and a '/' at the end. "" is the root.
 * MYTH_EARG: it is absolute or has a "..", so that it may name something outside of the root. */
myth_status myth_tools_path(char *dst, size_t cap, const char *path, myth_error *err);
/* Whether a path, written so, is `under` or below it; "" is above all. */
bool myth_tools_is_under(const char *path, const char *under);

#ifdef __cplusplus
}
#endif
#endif
