/* report.h - the result of an inspection, and the forms it can be printed in.
 *
 *   text     for people                       sarif    SARIF 2.1.0, for code hosts
 *   json     one document                     github   annotations of a workflow run
 *   jsonl    one finding a line, a summary    rdjsonl  one diagnostic a line, for reviewdog
 *   html     one page without other files     checkstyle   the XML of Checkstyle, for importers of reports
 *   codequality   GitLab's Code Quality, for a merge request
 *   junit    test results, for build servers
 *
 * All      json, jsonl, sarif and html have every finding, with a mark when an ignore comment or the baseline excuses
 *          it; text, github, rdjsonl, checkstyle, codequality and junit show only the others, and text counts the
 *          excused ones. The exit code is the same for every form
 * Date     html says of which day it is. The others have nothing of the clock: the same inspection of the same commit
 *          gives the same bytes
 * Source   json, sarif and html name the commit, the first two also the repository's address, the program's version and
 *          the category of --category
 * Complete when `complete` is false, every form says so, with the reason and each row of `missed`: text and github in
 *          words, rdjsonl as diagnostics, checkstyle and codequality as remarks like those of findings, junit as
 *          errors, sarif as notifications
 * Language a report that lacks nothing but files whose language nothing here reads is incomplete, but nothing failed:
 *          json counts them (`unknown_languages`), and for sarif the execution was successful. Where the run allows it
 *          (exit 0), text ends with how many they are in place of the word, and junit has them as skipped
 * Left out what directories hold that was not asked for (missed.h): json counts it, sarif has a note, other forms
 *          have no place for it
 * Question text, json and html can show the answer to one, in place of findings
 * Summary  of a change: text, json, jsonl, sarif, github and html show it, above the findings where the form has an
 *          order. rdjsonl, checkstyle, codequality and junit are lists of remarks about lines and have no place
 *          for one
 * Caution  is in every form but these four, which have no place for a remark about the whole run
 * Secrets  no form shows what the detectors recognise as a secret (redact.h); paths are never redacted
 * Keys     of the JSON forms and their order are fixed; new keys may be added at the end
 * Evidence of the JSON forms: `evidence` is the quoted part, `evidence_source` the whole line it is from, and
 *          `evidence_columns` its first and last character there
 * Text     text from a file or a model is escaped as its form requires. Control characters and marks that change the
 *          direction of text are escaped in text and JSON, and shown as U+FFFD in the other forms
 * Issue    a finding without an issue text gets its rule's title
 * Given    of a finding that no answer has (given.h), `why` says its place and probability in every form; text and html
 *          show the facts too, json has `candidate` with rule, facts and probability, sarif has `rank`, the probability
 *          in percent, and the facts among the properties
 * Owner    a report owns nothing; its pointers belong to the inspection
 * Threads  one */
#ifndef MYTH_INSPECT_REPORT_H
#define MYTH_INSPECT_REPORT_H

#include "frontend/cli/json_out.h"
#include "frontend/cli/term.h"
#include "fingerprint.h"
#include "missed.h"
#include "frontend/inspect/answer/given.h"
#include "frontend/inspect/answer/sentences.h"
#include "frontend/inspect/secrets/redact.h"
#include "suppress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_REMEDY_MAX = 8 };

/* Why an inspection was refused before anything was generated. */
typedef struct {
    char reason[256];
    uint64_t count, limit; /* tokens, or bytes for a plan that does not fit */
    const char *unit;      /* "tokens", "bytes"                             */
    char remedy[MYTH_REMEDY_MAX][128];
    uint32_t n_remedy;
} myth_refusal;

/* Facts about a finding that the model did not generate. */
typedef struct {
    myth_fingerprint fingerprint;
    bool is_known;        /* in the baseline */
    uint32_t suppression; /* 1 + index of the ignore comment that excuses it; 0 = none */
} myth_mark;

/* A file that was shown, in the order of the prompt. */
typedef struct {
    const myth_source *src;
    bool is_subject; /* some of its lines are subject; else all are context  */
    bool is_whole;   /* every line is part of a subject                      */
} myth_report_file;

/* The token budget of a prompt: how many tokens each share has, and how many it may have. */
typedef struct {
    uint32_t limit; /* tokens of a prompt: the smallest of --max-prompt-tokens, context and training length */
    uint32_t rules, map, map_room, task, task_room;
    uint32_t code, code_most, code_room; /* in all parts together, in the largest part, allowed in a part */
    uint32_t code_lent;                  /* part of code_room that map and task did not use               */
    uint32_t n_context, n_left_out;      /* context pieces; those of them that no part had room for       */
    bool is_map_cut;
} myth_budget;

/* A request for context: a name that an answer listed in missing_context, and whether it could be found. */
typedef enum { MYTH_REQUEST_LEFT, MYTH_REQUEST_SERVED, MYTH_REQUEST_UNKNOWN, MYTH_REQUEST_N } myth_request_result;
const char *myth_request_name(myth_request_result r); /* "left", "served", "unknown" */
typedef struct {
    myth_str name;
    myth_request_result result;
    uint32_t part, round; /* part and round of the answer */
} myth_request;

/* A fix that is code and passed the tests of patch.h. */
typedef struct {
    uint32_t first, last; /* lines of the inspected file that are replaced                    */
    const char *text;     /* whole lines in their place, with newlines; NULL = there is none   */
    size_t n;
    const char *diff; /* the same for git apply                                            */
    size_t n_diff;
} myth_patch;

/* A finding that was not kept: because it failed the check (n_dropped), or because it was not wanted (n_unwanted). */
typedef struct {
    uint32_t part, block, first, last;
    int rule;
    const char *why;
} myth_drop;

/* The summary of a change, beside its findings. It is in the report's sentences; without one, `missing` or why_none
 * says why. */
typedef struct {
    bool is_asked;
    const char *why_none;     /* why the model was not asked; NULL = it was */
    uint32_t n_line, n_shown; /* changed and removed lines of the change; those of them that the model saw */
    uint32_t block0, n_block; /* the blocks that it saw; each line of them is in a block of a part, too */
    uint32_t prompt_tokens;
} myth_summary;

typedef struct {
    const char *model, *path; /* path: the file's path, or the title of the inspection */
    uint32_t prompt_tokens, max_new_tokens, n_part;
    const char *finish_reason;
    bool complete;             /* nothing is missed, every answer ended by itself, no finding was dropped */
    bool is_lack_allowed;      /* it is not complete, and what it lacks does not fail the run: languages alone */
    const myth_missed *missed; /* [n_missed] asked for and not inspected */
    uint32_t n_missed;
    const myth_left_out *left_out; /* not asked for; NULL = unknown */
    const myth_block *block;       /* the blocks that findings refer to */
    uint32_t n_block;
    const myth_report_file *file;
    uint32_t n_file;           /* 0 = unknown: only the file at path */
    const myth_budget *budget; /* NULL = unknown */
    const myth_finding *finding;
    const myth_citation *citation;
    uint32_t n_finding, n_dropped, n_unwanted;
    const myth_given *const *given; /* [n_given] where the first n_given findings are from: no answer has them */
    uint32_t n_given;
    const myth_drop *drop; /* [n_drop]; may be fewer than n_dropped + n_unwanted */
    uint32_t n_drop;
    const myth_str *context; /* names of missing context that was not added, each once */
    uint32_t n_context;
    const myth_request *request;               /* all requests for context, in order */
    uint32_t n_request, n_round, round_tokens; /* rounds of all parts together, and the tokens fed in them */
    const myth_refusal *refusal;               /* NULL = none */
    const myth_redactor *redactor;             /* NULL = redact what the detectors find, without knowing files */
    const myth_mark *mark;                     /* [n_finding]; NULL = none were made */
    const myth_suppression *suppression;
    uint32_t n_suppression;
    myth_rules_kept_out kept_out;
    bool has_baseline;
    const myth_patch *patch; /* [n_finding]; NULL = none were made */
    const char *since;       /* revision of --since: findings about unchanged lines were dropped; NULL = none */
    const char *commit;      /* hash of the commit that was inspected, or that the files are based on; NULL = none */
    const char *commit_date; /* "2026-11-25 23:17 UTC" */
    const char *origin;      /* where the repository was cloned from (edition.h); NULL = unknown */
    const char *category;    /* what reports of one commit are told apart by; NULL = nothing */
    const char *made;        /* when the report was made, in the same form; NULL = not said */
    /* The answer to a question in sentences; a report of findings has is_question false. It is answered when it has a
     * sentence, and missing then is empty. */
    bool is_question;
    const myth_sentence *sentence; /* [n_sentence] */
    const myth_quote *quote;       /* [n_quote] */
    const myth_citation *cited;    /* [n_quote] where each quote stands */
    uint32_t n_sentence, n_quote;
    myth_str missing; /* what would be needed, in the model's words */
    myth_summary summary;
    const char *caution; /* what limits the trust in the findings (caution.h); NULL = nothing */
    bool by_rules_alone; /* no model searched: a subject in a language without rules was not looked at */
} myth_report;

void myth_render_budget(myth_json_out *j, const myth_report *r); /* writes the value of "budget", which r must have */

/* The most results that code hosts accept in one run; the least severe results beyond are left out and counted. */
enum { MYTH_SARIF_RESULT_MAX = 25000 };
void myth_render_sarif_at_most(FILE *f, const myth_report *r, uint32_t max_result);

/* Why the report is not complete, in words; "" when it is. The first reason that applies: refused, cut off, missed,
 * dropped. */
const char *myth_report_incomplete(const myth_report *r);
/* How many of the missed have no other reason than their language; whether nothing but these keeps the report from
 * being complete, so that nothing went wrong. */
uint32_t myth_report_n_language(const myth_report *r);
bool myth_report_lacks_languages(const myth_report *r);
/* What was dropped, in words for n_dropped of them: "finding", "sentences", "findings or sentences". */
const char *myth_report_dropped(const myth_report *r);
/* Whether finding i is excused neither by an ignore comment nor by the baseline. */
bool myth_report_is_active(const myth_report *r, uint32_t i);
uint32_t myth_report_n_suppressed(const myth_report *r);
uint32_t myth_report_n_known(const myth_report *r); /* in the baseline and not suppressed */
/* Whether an ignore comment has no effect and the report may say so: it is malformed, or its line was fully inspected
 * for what it names and has no such finding, not even one that was not asked for. */
bool myth_report_is_idle(const myth_report *r, const myth_suppression *s);
/* What the rule that found the place of finding i knows about it; empty for a finding that an answer has. */
myth_str myth_report_facts(const myth_report *r, uint32_t i);
/* The path of the one file that was inspected; NULL when there are several. */
const char *myth_report_only_file(const myth_report *r);
/* Whether an active finding is at least as severe as level: only HIGH reaches HIGH, all reach INFO. */
bool myth_report_reaches(const myth_report *r, myth_severity level);

#ifdef __cplusplus
}
#endif
#endif
