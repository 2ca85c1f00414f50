/* report.h - what an inspection came to, and its forms.
 *
 *   text     people                     github   annotations of a workflow run          sarif    2.1.0, for code hosts
 *   json     one document               rdjsonl  a diagnostic a line, for reviewdog     html     one page that needs nothing else
 *   jsonl    a finding a line, a summary
 *
 * All      json, jsonl, sarif and html hold every finding, marked when a comment or the baseline answers it; text, github and rdjsonl show
 *          those that are left, and text counts the others. The exit code is the same for every form
 * Secrets  no form shows one: redact.h
 * Keys     of the JSON forms and their order are fixed; new ones may be added behind
 * Text     everything from a file or a model is escaped as its form asks for. Controls and marks that turn text around: text and JSON
 *          escape them (the value stays), the other forms show U+FFFD
 * Issue    a finding without one gets its rule's title
 * Owner    everything in a report is lent                                                                                             */
#ifndef MYTH_INSPECT_REPORT_H
#define MYTH_INSPECT_REPORT_H

#include "../term.h"
#include "fingerprint.h"
#include "redact.h"
#include "suppress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_REMEDY_MAX = 8 };

/* Why nothing was generated. */
typedef struct {
    char reason[256];
    uint64_t count, limit;                   /* tokens, or bytes for a plan that does not fit */
    const char *unit;                        /* "tokens", "bytes"                             */
    char remedy[MYTH_REMEDY_MAX][128];
    uint32_t n_remedy;
} myth_refusal;

/* What is known of a finding beside what the model said. */
typedef struct {
    myth_fingerprint fingerprint;
    bool is_known;                           /* in the baseline */
    uint32_t suppression;                    /* 1 + index of the comment that answers it; 0 = none */
} myth_mark;

typedef struct {
    const char *model, *path;
    uint32_t prompt_tokens, max_new_tokens, n_part;
    const char *finish_reason;
    bool complete;
    const myth_block *block;                 /* of all findings */
    const myth_finding *finding;
    const myth_citation *citation;
    uint32_t n_finding, n_dropped;
    const myth_str *context;
    uint32_t n_context;
    const myth_refusal *refusal;             /* NULL = none */
    const myth_redactor *redactor;           /* NULL = what the detectors find, no files */
    const myth_mark *mark;                   /* [n_finding]; NULL = none were made */
    const myth_suppression *suppression;
    uint32_t n_suppression;
    bool has_baseline;
} myth_report;

void myth_render_text(FILE *f, const myth_report *r, const myth_term *t);
void myth_render_json(FILE *f, const myth_report *r);
void myth_render_jsonl(FILE *f, const myth_report *r);
void myth_render_sarif(FILE *f, const myth_report *r);
void myth_render_github(FILE *f, const myth_report *r);
void myth_render_rdjsonl(FILE *f, const myth_report *r);
void myth_render_html(FILE *f, const myth_report *r);

/* What code hosts take of one run; further results are left out, the least severe first, and the run says how many. */
enum { MYTH_SARIF_RESULT_MAX = 25000 };
void myth_render_sarif_at_most(FILE *f, const myth_report *r, uint32_t max_result);

/* Neither a comment nor the baseline answers finding i. */
bool myth_report_is_active(const myth_report *r, uint32_t i);
uint32_t myth_report_n_suppressed(const myth_report *r);
uint32_t myth_report_n_known(const myth_report *r);      /* in the baseline and not suppressed */
/* An active finding reaches the level: HIGH is reached by HIGH alone, INFO by all. */
bool myth_report_reaches(const myth_report *r, myth_severity level);

#ifdef __cplusplus
}
#endif
#endif
