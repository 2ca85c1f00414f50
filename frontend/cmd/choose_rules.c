/* choose_rules.c - reads lists of rules. */
#include "choose_rules.h"

#include "frontend/cli/args.h"

#include <stdio.h>
#include <string.h>

enum { RULES_MAX = 64 };

static myth_status unknown(const char *flag, const char *id, size_t len, myth_error *err)
{
    const char *names[RULES_MAX];
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)(len < 48 ? len : 48), id);
    for (uint32_t i = 0; i < myth_rule_count(); i++)
        names[i] = myth_rules[i].id;
    const char *near = myth_args_nearest(word, names, myth_rule_count());
    if (near)
        return myth_fail(err, MYTH_EARG, "%s: no rule '%s'; did you mean %s?", flag, word, near);
    return myth_fail(err, MYTH_EARG, "%s: no rule '%s'; rules have names such as %s and %s", flag, word,
                     myth_rules[0].id, myth_rules[1].id);
}

static myth_status read_list(uint64_t *bits, const char *flag, const char *list, myth_error *err)
{
    *bits = 0;
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, ", ");
        const int rule = n ? myth_rule_find(p, n) : -1;
        if (n && rule < 0)
            return unknown(flag, p, n, err);
        *bits |= n ? (uint64_t)1 << rule : 0;
        p += n + (p[n] != '\0');
    }
    return *bits ? MYTH_OK : myth_fail(err, MYTH_EARG, "%s: the list names no rule", flag);
}

myth_status myth_rules_choose(myth_rule_choice *out, const char *only, const char *skip, myth_severity least,
                              uint32_t n_rule, myth_error *err)
{
    const uint64_t can = ((uint64_t)1 << n_rule) - 1;
    uint64_t without = 0;
    myth_status st;
    *out = (myth_rule_choice){.rules = UINT64_MAX, .least = least};
    if (myth_rule_count() > RULES_MAX)
        return myth_fail(err, MYTH_ELIMIT, "more than %d rules", (int)RULES_MAX);
    if (only && (st = read_list(&out->rules, "--rules", only, err)) != MYTH_OK)
        return st;
    if (skip && (st = read_list(&without, "--skip-rules", skip, err)) != MYTH_OK)
        return st;
    if (!(out->rules & can))
        return myth_fail(err, MYTH_EARG, "--rules %.60s: only mythos inspect-diff reports it", only);
    out->rules &= ~without;
    return out->rules & can ? MYTH_OK : myth_fail(err, MYTH_EARG, "--skip-rules leaves no rule of --rules");
}
