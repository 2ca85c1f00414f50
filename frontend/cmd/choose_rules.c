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

myth_status myth_rules_choose(myth_rule_choice *out, const char *only, const char *skip, myth_severity least,
                              uint32_t n_rule, myth_error *err)
{
    const uint64_t can = ((uint64_t)1 << n_rule) - 1;
    uint64_t without = 0;
    myth_status st;
    *out = (myth_rule_choice){.rules = UINT64_MAX, .least = least};
    if (myth_rule_count() > MYTH_ARGS_NAMES)
        return myth_fail(err, MYTH_ELIMIT, "more than %d rules", (int)MYTH_ARGS_NAMES);
    if (only && (st = read_list(&out->rules, "--rules", only, err)) != MYTH_OK)
        return st;
    if (skip && (st = read_list(&without, "--skip-rules", skip, err)) != MYTH_OK)
        return st;
    if (!(out->rules & can))
        return myth_fail(err, MYTH_EARG, "--rules %.60s: only mythos inspect-diff reports it", only);
    out->rules &= ~without;
    return out->rules & can ? MYTH_OK : myth_fail(err, MYTH_EARG, "--skip-rules leaves no rule of --rules");
}
