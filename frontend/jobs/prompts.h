/* prompts.h - the prompts of a job: a file of JSON lines, read one after the other, each turned into token ids.
 *
 * A line   an object with one of
 *            "text"      a text: <bos>, then its tokens; with opts.is_chat the text is a user's turn
 *            "ids"       token ids, taken as they are
 *            "messages"  a chat (conversation.h), with "tools" if it has any; written by the model's template
 *          and optionally "id" (a string or a number, written back with the result), where the job has labels "label"
 *          (a string; a number, true or false is the label that it spells), and what the job reads by itself
 *          (prompt->object). A JSON string is a text. Blank lines are skipped
 * Several  where the options allow it, a line with "n": K is K items with the same prompt and numbers of their own
 * Faults   a line that cannot be a prompt (not JSON, not UTF-8, no text, more ids than fit) is an item like the others:
 *          it has no ids, and `fault` says why. It never ends the job
 * Members  that nobody reads are no fault: a line may have notes of its own
 * Passes   look reads everything once, so that a plan can be exact; rewind begins again. What is read from standard
 *          input is first copied to an unnamed file, because a pipe cannot be read twice
 * Changes  a file that is written to after it was opened is an error, and not another prompt (lines.h). No item behind
 *          look is larger than the survey says; what else a job has measured it must compare by itself
 * Memory   room for the longest line and its ids, whatever the number of lines. Class STAGING; a later pass takes no
 *          more than look did
 * Owner    a prompt and all that it points to are valid until the next one is read. Path and options are lent until
 *          close
 * Errors   MYTH_ENOTFOUND, MYTH_EIO; MYTH_ELIMIT: the file changed; MYTH_ECANCEL: interrupted while standard input was
 *          copied
 * Threads  one */
#ifndef MYTH_JOB_PROMPTS_H
#define MYTH_JOB_PROMPTS_H

#include "engine/text/json_tree.h"
#include "frontend/common/lines.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_PROMPT_FAULT_BYTES = 200 };

typedef struct {
    bool is_chat;           /* a "text" is a user's turn of a chat */
    bool thinks;            /* chats tell the model to think first */
    bool is_special;        /* the names of control tokens in a "text" are control tokens */
    const char *system;     /* put before every chat that begins with another role; NULL = none */
    uint32_t n_most;        /* a prompt of more ids is a fault; 0 = any number */
    uint32_t n_answer_most; /* "n" of a line at most; more, or none, is a fault; 0 = it is not read */
    uint32_t label_most;    /* a label of more bytes, of none, or with a 0 among them is a fault; 0 = it is not read */
    /* Items for which this is true are counted and passed over; NULL = none. */
    bool (*is_done)(void *user, uint64_t index);
    void *user;
    /* What the job reads of a line beside the prompt, its id and its label, NULL behind the last: look notes once which
     * other members there are and in how many lines. NULL = it does not. */
    const char *const *keys;
} myth_prompts_opts;

typedef struct {
    uint64_t index, line; /* of the item, from 0; of its line in the file, from 1 */
    uint64_t prompt;      /* of its line among the prompts, from 0: the index where no line is several items */
    uint32_t n_answer;    /* "n" of the line; 0 = it has none */
    uint32_t answer;      /* which of them the item is, from 0 */
    const int32_t *ids;   /* [n_ids]; NULL when there is a fault */
    uint32_t n_ids;
    const char *id; /* the JSON value as it is written in the line, [n_id]; NULL = none */
    size_t n_id;
    myth_str label;                      /* text NULL = none */
    bool is_talk;                        /* the line has "messages" */
    myth_str tools;                      /* JSON list of those that the messages come with; text NULL = none */
    const myth_json_tree *tree;          /* of the line; NULL when it is no JSON */
    const myth_json_node *object;        /* its root; NULL when the line is a string or no JSON */
    char fault[MYTH_PROMPT_FAULT_BYTES]; /* "" = none */
} myth_job_prompt;

typedef struct {
    uint64_t n_item, n_fault, n_token; /* n_token: of a line that is several items, its prompt and one for each more */
    uint32_t longest;                  /* ids of the longest prompt */
    size_t longest_id;                 /* bytes of the longest "id" */
    unsigned char hash[16];            /* XXH3 of the file's bytes */
} myth_prompts_survey;

typedef struct myth_prompts myth_prompts;

/* The most ids that a prompt may have under an engine's options; 0 = any number. */
static inline uint32_t myth_prompts_most(const myth_model *m, const myth_engine_opts *eo)
{
    return eo->n_ctx ? eo->n_ctx : m->config.n_ctx_train;
}

/* path "-" = standard input. The model must have a tokenizer unless every line has "ids"; a line that needs one and has
 * none is a fault. */
myth_status myth_prompts_open(myth_prompts **out, myth_cli *cli, const myth_model *model, const char *path,
                              const myth_prompts_opts *opts, myth_error *err);
void myth_prompts_close(myth_prompts *p); /* takes NULL */
/* The whole number that a value of a line is; false: it is something else. */
bool myth_prompts_number(const myth_json_node *n, uint64_t *out);
/* Reads all items, whether or not they are done, and calls visit for each (NULL = not); ends at the beginning again.
 * MYTH_EFORMAT: there are none. MYTH_EARG: the options say something of chats, and no line is one. */
myth_status myth_prompts_look(myth_prompts *p, myth_prompts_survey *out,
                              myth_status (*visit)(void *user, const myth_job_prompt *it, myth_error *err), void *user,
                              myth_error *err);
/* The next item that is not done; *has is false after the last. */
myth_status myth_prompts_next(myth_prompts *p, myth_job_prompt *out, bool *has, myth_error *err);
myth_status myth_prompts_rewind(myth_prompts *p, myth_error *err);
/* The file, for myth_lines_check and myth_lines_changed. Lent until close. */
myth_lines *myth_prompts_lines(myth_prompts *p);

#ifdef __cplusplus
}
#endif
#endif
