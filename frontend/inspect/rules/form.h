/* form.h - what the prompt and the answer's parser must agree on: the styles of prompt, the fixed JSON pieces of an
 * answer, and the limits of its fields. All of it is part of the prompt's hash.
 *
 * Owner    constant data */
#ifndef MYTH_INSPECT_FORM_H
#define MYTH_INSPECT_FORM_H

#include "rules.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_FINDING_MAX = 16, MYTH_CONTEXT_MAX = 8, MYTH_BLOCK_MAX = 64 };

/* Full and compact ask for findings; question is the full style's form for a question, whose answer is in sentences;
 * change is its form for a change, with the rules of a change; summary asks what a change does, in sentences. */
typedef enum {
    MYTH_PROMPT_FULL,
    MYTH_PROMPT_COMPACT,
    MYTH_PROMPT_QUESTION,
    MYTH_PROMPT_CHANGE,
    MYTH_PROMPT_SUMMARY
} myth_prompt_style;
/* Whether a prompt can have a map, a task, removed lines and several blocks. */
static inline bool myth_prompt_is_full(myth_prompt_style style) { return style != MYTH_PROMPT_COMPACT; }

typedef struct {
    int n_finding;                          /* <= MYTH_FINDING_MAX                         */
    int span;                               /* most lines of one finding                        */
    int evidence, issue, why, fix, missing; /* most bytes of JSON; 0 = always ""                */
    int n_context, context;                 /* most entries of missing_context; bytes of each   */
    int n_rule;                             /* findings have the first n_rule rules only; at most 32 */
} myth_findings_limits;

/* compact: 8 findings, evidence 120, the four texts always empty, no missing_context. full: 16 findings and short
 * texts. question, summary: n_finding is the most sentences, issue the most bytes of one, evidence those of a quote. */
const myth_findings_limits *myth_findings_limits_of(myth_prompt_style style);

/* The fixed pieces of an answer in the order they are written; each comes before the value that it is named after. */
typedef enum {
    MYTH_PIECE_LIST,
    MYTH_PIECE_PATH,
    MYTH_PIECE_FIRST,
    MYTH_PIECE_LAST,
    MYTH_PIECE_EVIDENCE,
    MYTH_PIECE_RULE_ID,
    MYTH_PIECE_ISSUE,
    MYTH_PIECE_WHY,
    MYTH_PIECE_SEVERITY,
    MYTH_PIECE_STATUS,
    MYTH_PIECE_FIX,
    MYTH_PIECE_MISSING,
    MYTH_PIECE_MORE, /* the end of a finding */
    MYTH_PIECE_CONTEXT,
    MYTH_PIECE_NAME,
    MYTH_PIECE_NEXT, /* the end of a name */
    MYTH_PIECE_END,
    MYTH_PIECE_N
} myth_form_piece;

extern const char *const myth_form_literal[MYTH_PIECE_N];

#ifdef __cplusplus
}
#endif
#endif
