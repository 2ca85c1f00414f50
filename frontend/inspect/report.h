/* report.h - what an inspection came to, and its three forms: text for people, JSON, JSON lines.
 *
 * Keys     of the JSON forms and their order are fixed; new ones may be added behind
 * Text     everything from a file or a model goes through myth_term_safe: no control and no mark that turns text around reaches a terminal
 * Issue    a finding without one gets its rule's title
 * Owner    everything in a report is lent                                                                                             */
#ifndef MYTH_INSPECT_REPORT_H
#define MYTH_INSPECT_REPORT_H

#include "../term.h"
#include "verify.h"

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
} myth_report;

void myth_render_text(FILE *f, const myth_report *r, const myth_term *t);
void myth_render_json(FILE *f, const myth_report *r);
void myth_render_jsonl(FILE *f, const myth_report *r);

/* A finding reaches the level: HIGH is reached by HIGH alone, INFO by all. */
bool myth_report_reaches(const myth_report *r, myth_severity level);

#ifdef __cplusplus
}
#endif
#endif
