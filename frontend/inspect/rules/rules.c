/* rules.c - see rules.h. */
#include "rules.h"

#include <stdbool.h>
#include <string.h>

#define HIGH   MYTH_SEVERITY_HIGH
#define MEDIUM MYTH_SEVERITY_MEDIUM
#define LOW    MYTH_SEVERITY_LOW
#define INFO   MYTH_SEVERITY_INFO
const myth_rule myth_rules[] = {
#define RULE(id, cwe, severity, title, help)           {id, cwe, severity, title, help},
#define CHANGE_RULE(id, cwe, severity, title, help)    {id, cwe, severity, title, help},
#define CANDIDATE_RULE(id, cwe, severity, title, help) {id, cwe, severity, title, help},
#include "rules.def"
#undef CANDIDATE_RULE
#undef CHANGE_RULE
#undef RULE
};
#undef HIGH
#undef MEDIUM
#undef LOW
#undef INFO

_Static_assert(sizeof(myth_rules) / sizeof(myth_rules[0]) == MYTH_RULE_N, "the rows are counted as they are listed");
_Static_assert(MYTH_RULE_N <= 64, "sets of rules have a bit for each");

uint32_t myth_rule_count(void) { return MYTH_RULE_N; }

static bool is_word(const char *word, const char *text, size_t len)
{
    return strlen(word) == len && memcmp(word, text, len) == 0;
}

int myth_rule_find(const char *id, size_t len)
{
    for (uint32_t i = 0; i < myth_rule_count(); i++)
        if (is_word(myth_rules[i].id, id, len))
            return (int)i;
    return -1;
}

static const char *const severities[MYTH_SEVERITY_N] = {"HIGH", "MEDIUM", "LOW", "INFO"};
static const char *const statuses[MYTH_FINDING_STATUS_N] = {"confirmed", "likely", "speculative"};

const char *myth_severity_name(myth_severity s) { return severities[s]; }
const char *myth_finding_status_name(myth_finding_status s) { return statuses[s]; }

int myth_severity_find(const char *name, size_t len)
{
    for (int i = 0; i < MYTH_SEVERITY_N; i++)
        if (is_word(severities[i], name, len))
            return i;
    return -1;
}

int myth_finding_status_find(const char *name, size_t len)
{
    for (int i = 0; i < MYTH_FINDING_STATUS_N; i++)
        if (is_word(statuses[i], name, len))
            return i;
    return -1;
}
