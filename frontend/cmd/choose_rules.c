/* choose_rules.c - reads lists of rules. */
#include "choose_rules.h"

#include "frontend/cli/args.h"

static myth_status read_list(uint64_t *bits, const char *flag, const char *list, myth_error *err)
{
    const char *names[MYTH_ARGS_NAMES];
    for (uint32_t i = 0; i < myth_rule_count(); i++)
        names[i] = myth_rules[i].id;
    return myth_args_read_names(bits, flag, "rule", list, names, myth_rule_count(), err);
}

bool myth_rules_wants(void *choice, int rule, myth_severity severity) { return myth_rules_has(choice, rule, severity); }

static uint64_t first(uint32_t n) { return ((uint64_t)1 << n) - 1; }

/* The rules that find places are those of code and those of candidates, and those of a change where there is one;
 * `other` is what a model calls the rest. */
static uint64_t rules_of(const myth_rule_sources *from)
{
    const uint64_t of_change = first(MYTH_RULE_ANSWER_N) & ~first(MYTH_RULE_CODE_N),
                   of_places = (first(MYTH_RULE_N) & ~first(MYTH_RULE_ANSWER_N)) | first(MYTH_RULE_OTHER);
    return (from->has_places ? of_places | (from->is_change ? of_change : 0) : 0) |
           (from->has_answers ? first(from->is_change ? MYTH_RULE_ANSWER_N : MYTH_RULE_CODE_N) : 0);
}

/* Where the rules that were named would be reported, which this run cannot have. */
static const char *who_reports(const myth_rule_sources *from, uint64_t rules)
{
    if (!from->has_places && rules >> MYTH_RULE_ANSWER_N)
        return "only places that rules find have it; add --find candidates or both";
    return from->is_change || rules & first(MYTH_RULE_CODE_N)
             ? "only the model's own search reports it; add --find both"
             : "only mythos inspect-diff reports it";
}

myth_status myth_rules_choose(myth_rule_choice *out, const char *only, const char *skip, myth_severity least,
                              const myth_rule_sources *from, myth_error *err)
{
    const uint64_t can = rules_of(from);
    uint64_t without = 0;
    myth_status st;
    *out = (myth_rule_choice){.rules = UINT64_MAX, .least = least, .kept_out.by_finder = ~can};
    if (myth_rule_count() > MYTH_ARGS_NAMES)
        return myth_fail(err, MYTH_ELIMIT, "more than %d rules", (int)MYTH_ARGS_NAMES);
    if (only && (st = read_list(&out->rules, "--rules", only, err)) != MYTH_OK)
        return st;
    if (skip && (st = read_list(&without, "--skip-rules", skip, err)) != MYTH_OK)
        return st;
    if (!(out->rules & can))
        return myth_fail(err, MYTH_EARG, "--rules %.60s: %s", only, who_reports(from, out->rules));
    out->rules &= ~without;
    for (uint32_t i = 0; i < myth_rule_count(); i++)
        if (!myth_rules_has(out, (int)i, myth_rules[i].severity))
            out->kept_out.by_choice |= (uint64_t)1 << i & can;
    return out->rules & can ? MYTH_OK : myth_fail(err, MYTH_EARG, "--skip-rules leaves no rule of --rules");
}
