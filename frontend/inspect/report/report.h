/* report.h - what an inspection came to, and its forms.
 *
 *   text     people                     github   annotations of a workflow run          sarif    2.1.0, for code hosts
 *   json     one document  rdjsonl  a diagnostic a line, for reviewdog  html  one page that needs nothing else
 *   jsonl    a finding a line, a summary
 *
 * All      json, jsonl, sarif and html hold every finding, marked when a comment or the baseline answers it; text,
 *          github and rdjsonl show those that are left, and text counts the others. The exit code is the same for every
 *          form
 * Complete every form says when `complete` is false, why, and each row of `missed`; text and github in words of their
 *          own, rdjsonl as diagnostics, sarif as notifications
 * Secrets  no form shows what the detectors take for one (redact.h); paths are shown as they are
 * Keys     of the JSON forms and their order are fixed; new ones may be added behind
 * Text     everything from a file or a model is escaped as its form asks for. Controls and marks that turn text around:
 *          text and JSON escape them (the value stays), the other forms show U+FFFD
 * Issue    a finding without one gets its rule's title
 * Owner    everything in a report is lent */
#ifndef MYTH_INSPECT_REPORT_H
#define MYTH_INSPECT_REPORT_H

#include "frontend/cli/json_out.h"
#include "frontend/cli/term.h"
#include "fingerprint.h"
#include "missed.h"
#include "frontend/inspect/secrets/redact.h"
#include "suppress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_REMEDY_MAX = 8 };

/* Why nothing was generated. */
typedef struct {
    char reason[256];
    uint64_t count, limit; /* tokens, or bytes for a plan that does not fit */
    const char *unit;      /* "tokens", "bytes"                             */
    char remedy[MYTH_REMEDY_MAX][128];
    uint32_t n_remedy;
} myth_refusal;

/* What is known of a finding beside what the model said. */
typedef struct {
    myth_fingerprint fingerprint;
    bool is_known;        /* in the baseline */
    uint32_t suppression; /* 1 + index of the comment that answers it; 0 = none */
} myth_mark;

/* A file that was shown, in the order of the prompt. */
typedef struct {
    const myth_source *src;
    bool is_subject; /* some of it; else context alone                       */
    bool is_whole;   /* every line stands in a subject                       */
} myth_report_file;

/* Y-39, in tokens: what each share of a prompt holds, and may hold. */
typedef struct {
    uint32_t limit; /* of a prompt: the least of --max-prompt-tokens, context and training */
    uint32_t rules, map, map_room, task, task_room;
    uint32_t code, code_most, code_room; /* of all parts together, of the largest, what one may hold */
    uint32_t code_lent;                  /* of code_room: what the others left                       */
    uint32_t n_context, n_left_out;      /* context pieces; those that no part had room for          */
    bool is_map_cut;
} myth_budget;

/* What an answer named as missing. */
typedef enum { MYTH_REQUEST_LEFT, MYTH_REQUEST_SERVED, MYTH_REQUEST_UNKNOWN, MYTH_REQUEST_N } myth_request_result;
const char *myth_request_name(myth_request_result r); /* "left", "served", "unknown" */
typedef struct {
    myth_str name;
    myth_request_result result;
    uint32_t part, round; /* of the answer that named it */
} myth_request;

/* A fix that is code and was tried: patch.h. */
typedef struct {
    uint32_t first, last; /* lines of the inspected file that go                              */
    const char *text;     /* whole lines in their place, with their ends; NULL = there is none */
    size_t n;
    const char *diff; /* the same for git apply                                            */
    size_t n_diff;
} myth_patch;

/* A finding that was not kept: n_dropped of them for what they are, n_unwanted because they were not asked for. */
typedef struct {
    uint32_t part, block, first, last;
    int rule;
    const char *why;
} myth_drop;

typedef struct {
    const char *model, *path; /* path: of the file, or what was inspected in words */
    uint32_t prompt_tokens, max_new_tokens, n_part;
    const char *finish_reason;
    bool complete;             /* nothing is missed, every answer ended by itself, no finding was dropped */
    const myth_missed *missed; /* [n_missed] asked for and not inspected */
    uint32_t n_missed;
    const myth_block *block; /* of all findings */
    uint32_t n_block;
    const myth_report_file *file;
    uint32_t n_file;           /* 0 = not said: the one that path names */
    const myth_budget *budget; /* NULL = not said */
    const myth_finding *finding;
    const myth_citation *citation;
    uint32_t n_finding, n_dropped, n_unwanted;
    const myth_drop *drop; /* [n_drop], may be fewer than were dropped */
    uint32_t n_drop;
    const myth_str *context; /* named as missing and not brought, each once */
    uint32_t n_context;
    const myth_request *request;               /* all that was named, in order */
    uint32_t n_request, n_round, round_tokens; /* rounds of all parts together; the tokens they were fed */
    const myth_refusal *refusal;               /* NULL = none */
    const myth_redactor *redactor;             /* NULL = what the detectors find, no files */
    const myth_mark *mark;                     /* [n_finding]; NULL = none were made */
    const myth_suppression *suppression;
    uint32_t n_suppression;
    bool has_baseline;
    const myth_patch *patch; /* [n_finding]; NULL = none were made */
    const char *since;       /* a revision: findings about lines it has as they are were not kept; NULL = none */
} myth_report;

void myth_render_budget(myth_json_out *j, const myth_report *r); /* the object behind "budget"; the report has one */

/* What code hosts take of one run; further results are left out, the least severe first, and the run says how many. */
enum { MYTH_SARIF_RESULT_MAX = 25000 };
void myth_render_sarif_at_most(FILE *f, const myth_report *r, uint32_t max_result);

/* Why the report is not complete, in words; "" when it is. Of several reasons the first: refused, cut off, missed,
 * dropped. */
const char *myth_report_incomplete(const myth_report *r);
/* Neither a comment nor the baseline answers finding i. */
bool myth_report_is_active(const myth_report *r, uint32_t i);
uint32_t myth_report_n_suppressed(const myth_report *r);
uint32_t myth_report_n_known(const myth_report *r); /* in the baseline and not suppressed */
/* A comment that answers nothing and can be said to: it is wrong in itself, or the code it speaks of was inspected to
 * the end. */
bool myth_report_is_idle(const myth_report *r, const myth_suppression *s);
/* The path of the one file that was inspected; NULL when there are several. */
const char *myth_report_only_file(const myth_report *r);
/* An active finding reaches the level: HIGH is reached by HIGH alone, INFO by all. */
bool myth_report_reaches(const myth_report *r, myth_severity level);

#ifdef __cplusplus
}
#endif
#endif
