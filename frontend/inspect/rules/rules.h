/* rules.h - the rules, severities and statuses that a finding can have, and their names in prompts, answers, reports
 * and logs.
 *
 * Adding   a new rule is a row in rules.def; a RULE or CHANGE_RULE changes the prompt's hash
 * Order    first the rules of code, of which `other` is the last, then those that are only for findings about a change,
 *          then those that no answer has: only judged places (given.h)
 * Owner    constant data */
#ifndef MYTH_INSPECT_RULES_H
#define MYTH_INSPECT_RULES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_SEVERITY_HIGH,
    MYTH_SEVERITY_MEDIUM,
    MYTH_SEVERITY_LOW,
    MYTH_SEVERITY_INFO,
    MYTH_SEVERITY_N
} myth_severity;
typedef enum { MYTH_CONFIRMED, MYTH_LIKELY, MYTH_SPECULATIVE, MYTH_FINDING_STATUS_N } myth_finding_status;

typedef struct {
    const char *id;
    int cwe;
    myth_severity severity;
    const char *title;
    const char *help; /* what mends it, for a reader of the report */
} myth_rule;

/* Rules that no finding of a run can have, a bit for each by its index. */
typedef struct {
    uint64_t by_choice; /* they were not asked for */
    uint64_t by_finder; /* nobody looks for them, whatever is asked for */
} myth_rules_kept_out;

enum {
#define RULE(id, cwe, severity, title, help) +1
#define CHANGE_RULE(id, cwe, severity, title, help)
#define CANDIDATE_RULE(id, cwe, severity, title, help)
    MYTH_RULE_CODE_N = 0 /* rules of code */
#include "rules.def"
#undef CHANGE_RULE
#define CHANGE_RULE(id, cwe, severity, title, help) +1
    ,
    MYTH_RULE_ANSWER_N = 0 /* and of a change: what an answer can have */
#include "rules.def"
#undef CANDIDATE_RULE
#define CANDIDATE_RULE(id, cwe, severity, title, help) +1
    ,
    MYTH_RULE_N = 0
#include "rules.def"
#undef CANDIDATE_RULE
#undef CHANGE_RULE
#undef RULE
};

enum { MYTH_RULE_OTHER = MYTH_RULE_CODE_N - 1 };

extern const myth_rule myth_rules[]; /* [MYTH_RULE_N] rules.def, in its order */
uint32_t myth_rule_count(void);
int myth_rule_find(const char *id, size_t len);  /* index, -1 when there is none */
const char *myth_severity_name(myth_severity s); /* "HIGH" */
const char *myth_finding_status_name(myth_finding_status s);
int myth_severity_find(const char *name, size_t len); /* a myth_severity, -1 when there is none */
int myth_finding_status_find(const char *name, size_t len);

#ifdef __cplusplus
}
#endif
#endif
