/* choose_rules.h - which findings a run reports, by rule and severity: --rules, --skip-rules and --min-severity of the
 * inspect commands. The model is asked the same question whatever is chosen, so answers that were kept serve any choice
 * and no finding is forced into a rule that it does not belong to.
 *
 * Owner    plain data
 * Errors   MYTH_EARG: no such rule; the message has the most similar one
 * Threads  any */
#ifndef MYTH_CHOOSE_RULES_H
#define MYTH_CHOOSE_RULES_H

#include "engine/base/status.h"
#include "frontend/inspect/rules/rules.h"

#include <stdbool.h>

typedef struct {
    uint64_t rules; /* a bit per rule, by its index */
    myth_severity least;
    myth_rules_kept_out kept_out; /* with those of a lower severity, which a model may give a higher one */
} myth_rule_choice;

/* Where a run has its findings from, which decides the rules that they can have. */
typedef struct {
    bool is_change;   /* it inspects a change */
    bool has_answers; /* a model searches */
    bool has_places;  /* places that rules find are judged */
} myth_rule_sources;

/* only, skip: ids of rules with commas between them; NULL = all, none. Rules that no finding of the run can have may be
 * named, but not alone. */
myth_status myth_rules_choose(myth_rule_choice *out, const char *only, const char *skip, myth_severity least,
                              const myth_rule_sources *from, myth_error *err);
static inline bool myth_rules_has(const myth_rule_choice *c, int rule, myth_severity severity)
{
    return severity <= c->least && (rule < 0 || c->rules >> rule & 1);
}
bool myth_rules_wants(void *choice, int rule, myth_severity severity); /* the same, for a callback */

#endif
