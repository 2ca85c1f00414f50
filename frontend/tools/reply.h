/* reply.h - the answer of a tool: one JSON document within a budget, which says what it left out.
 *
 * Form      {HEAD..., "ITEMS":[...], "left_out":N, "complete":BOOL, "notes":["..."]}   on one line
 *           a second list follows the first where the tool has one; the budget holds for both, the first comes first
 *           left_out counts the items that were found and are not shown. complete is false when items were left out or
 *           a note says that something was not looked at
 * Budget    counts the whole document, in bytes and, where a counter is given, in tokens. The longest list that fits is
 *           shown: one more item would exceed the budget. Collecting stops when no more can fit, the rest is counted
 * Skip      the first items are neither shown nor counted where the caller has them already; "skipped":N says so
 * Text      is written by json_out.h, so it is valid UTF-8 on one line, whatever the files hold
 * Owner     the caller closes an answer, and frees the finished text with free
 * Errors    MYTH_ELIMIT the budget is too small for an answer without items; MYTH_ENOMEM
 * Threads   one */
#ifndef MYTH_REPLY_H
#define MYTH_REPLY_H

#include "engine/base/mem.h"
#include "frontend/cli/json_out.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A note is cut to this many bytes, and notes past the last are dropped: they must fit into the least budget. */
enum { MYTH_REPLY_NOTES = 5, MYTH_REPLY_NOTE_BYTES = 256 };

typedef struct {
    uint64_t max_bytes;
    uint64_t max_tokens; /* 0 = not counted; else count is asked */
    myth_status (*count)(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err);
    void *arg;
} myth_budget;

typedef struct {
    myth_mem *mem;
    const char *items; /* key of the list; NULL = the answer has none */
    myth_budget budget;
    FILE *head_file, *item_file;
    char *head, *item; /* what the two files hold: an object a line */
    size_t n_head, n_item_text;
    size_t *end; /* of each item in `item`, behind its newline */
    uint32_t n_end, cap_end;
    const char *more; /* key of the second list; NULL = none */
    uint32_t n_first; /* items of the first one */
    myth_json_out j;
    uint64_t skip, n_skipped; /* the first items are not shown: how many are wanted so, and were */
    uint64_t left_out;        /* items that were only counted */
    uint32_t n_shown;         /* by finish */
    char note[MYTH_REPLY_NOTES][MYTH_REPLY_NOTE_BYTES];
    uint32_t n_note;
    bool is_partial, is_found, has_failed;
} myth_reply;

myth_status myth_reply_open(myth_reply *a, myth_mem *mem, const char *items, const myth_budget *budget,
                            myth_error *err);
void myth_reply_close(myth_reply *a); /* takes a zeroed one */

/* The object of HEAD: the caller writes keys and values to it. Call once, before the items. */
myth_json_out *myth_reply_head(myth_reply *a);
void myth_reply_head_end(myth_reply *a);
/* Begins an item, an object; false: it cannot fit any more, and is counted. */
bool myth_reply_begin(myth_reply *a);
void myth_reply_end(myth_reply *a);
/* The items that follow are a second list, also when there are none. They do not count as found. */
void myth_reply_more(myth_reply *a, const char *items);
/* Adds a note. is_partial: it says that something that was asked for was not looked at. */
void myth_reply_note(myth_reply *a, bool is_partial, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* The most bytes that one text of an item should have: a third of the budget without the notes, so that one large item
 * does not hide the others. */
size_t myth_budget_text(const myth_budget *b);
/* Whether a text of n bytes is within the budget. */
myth_status myth_budget_holds(bool *out, const myth_budget *b, const char *text, size_t n, myth_error *err);
/* The document. *is_found: at least one item was found, or is_found was set. */
myth_status myth_reply_finish(myth_reply *a, char **text, size_t *n, bool *is_found, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
