/* suppress.c - finds mythos:ignore in comments, and decides which findings each one suppresses. */
#include "suppress.h"

#include <string.h>

static const char mark[] = "mythos:ignore";

enum { FOLLOW_MAX = 16 }; /* comments of this kind one after another, for the same line */

/* Returns the place of the mark in line idx; NULL when the line does not have it. */
static const char *find_mark(const myth_source *src, uint32_t idx)
{
    const char *p = (const char *)src->bytes + src->line[idx].off, *end = p + src->line[idx].len;
    while ((size_t)(end - p) >= sizeof(mark) - 1 && (p = memchr(p, mark[0], (size_t)(end - p))) != NULL) {
        if ((size_t)(end - p) >= sizeof(mark) - 1 && !memcmp(p, mark, sizeof(mark) - 1))
            return p;
        p++;
    }
    return NULL;
}

static myth_str trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == ','))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == ','))
        end--;
    return (myth_str){p, (size_t)(end - p)};
}

/* Returns the beginning of the comment that contains `at`; NULL when there is no comment, or when its sign is inside a
 * string. */
static const char *comment_start(const char *line, const char *at, const char *end)
{
    static const char *const open[] = {"//", "/*", "#", "--", "<!--", ";", "%", "*"};
    char quote = 0;
    for (const char *p = line; p < at; p++) {
        if (*p == '\\' && quote) {
            p++;
            continue;
        }
        if (quote || ((*p == '"' || *p == '\'') &&
                      memchr(p + 1, *p, (size_t)(end - p) - 1))) { /* a lone 'a is a lifetime in Rust */
            quote = quote == *p ? 0 : quote ? quote : *p;
            continue;
        }
        for (size_t k = 0; k < sizeof(open) / sizeof(open[0]); k++) {
            bool is_weak =
                strlen(open[k]) == 1 &&
                open[k][0] != '#'; /* these occur in code, too, so they count only at the front of the line */
            if (strlen(open[k]) <= (size_t)(at - p) && !memcmp(p, open[k], strlen(open[k])) &&
                !(is_weak && trimmed(line, p).len))
                return p;
        }
    }
    return NULL;
}

/* Reads the next name of a list like "a, b"; false at the end. */
static bool next_rule(myth_str *out, myth_str *rest)
{
    while (rest->len) {
        const char *comma = memchr(rest->text, ',', rest->len), *end = rest->text + rest->len;
        *out = trimmed(rest->text, comma ? comma : end);
        *rest = comma ? (myth_str){comma + 1, (size_t)(end - comma - 1)} : (myth_str){end, 0};
        if (out->len)
            return true;
    }
    return false;
}

static bool is_star(myth_str s) { return s.len == 1 && s.text[0] == '*'; }

static void read_one(myth_suppression *s, const char *p, const char *end)
{
    const char *close = p < end && *p == '[' ? memchr(p, ']', (size_t)(end - p)) : NULL;
    if (!close) {
        s->wrong = "expected mythos:ignore[rule] reason";
        s->reason = trimmed(p, end);
        return;
    }
    s->rules = trimmed(p + 1, close);
    s->reason = trimmed(close + 1, end);
    static const char *const tail[] = {"*/", "-->"};
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(tail[k]);
        if (s->reason.len >= n && !memcmp(s->reason.text + s->reason.len - n, tail[k], n))
            s->reason = trimmed(s->reason.text, s->reason.text + s->reason.len - n);
    }
    myth_str rest = s->rules, rule;
    if (!s->rules.len)
        s->wrong = "no rule in the brackets";
    while (next_rule(&rule, &rest))
        if (!is_star(rule) && myth_rule_find(rule.text, rule.len) < 0)
            s->wrong = "a rule that is not known";
    if (!s->wrong && !s->reason.len)
        s->wrong = "no reason is given";
}

/* Returns the comment of line idx if it contains the mark; *at is the place of the mark. */
static const char *comment_of(const char **at, const myth_source *src, uint32_t idx)
{
    const char *line = (const char *)src->bytes + src->line[idx].off;
    *at = find_mark(src, idx);
    return *at ? comment_start(line, *at, line + src->line[idx].len) : NULL;
}

static bool is_alone(const myth_source *src, uint32_t idx, const char *comment)
{
    return trimmed((const char *)src->bytes + src->line[idx].off, comment).len == 0;
}

static uint32_t next_solid(const myth_source *src, uint32_t idx)
{
    return idx + 1 < src->n_line ? src->line[idx + 1].next : src->n_line;
}

uint32_t myth_suppressions_find(myth_suppression *out, uint32_t cap, const myth_source *src)
{
    uint32_t n = 0;
    const char *at, *comment, *unused;
    for (uint32_t i = 0; i < src->n_line; i++) {
        if (!(comment = comment_of(&at, src, i)))
            continue;
        if (n < cap) {
            uint32_t target = i;
            for (int k = 0; k < FOLLOW_MAX && target < src->n_line && comment && is_alone(src, target, comment); k++) {
                target = next_solid(src, target);
                comment = target < src->n_line ? comment_of(&unused, src, target) : NULL;
            }
            out[n] = (myth_suppression){.src = src, .line = i + 1, .target = target < src->n_line ? target + 1 : 0};
            read_one(&out[n], at + sizeof(mark) - 1, (const char *)src->bytes + src->line[i].off + src->line[i].len);
        }
        n++;
    }
    return n;
}

bool myth_suppression_names(const myth_suppression *s, uint64_t rules)
{
    myth_str rest = s->rules, rule;
    while (!s->wrong && next_rule(&rule, &rest))
        if (!is_star(rule) && rules >> myth_rule_find(rule.text, rule.len) & 1)
            return true;
    return false;
}

bool myth_suppression_is_all(const myth_suppression *s)
{
    myth_str rest = s->rules, rule;
    while (!s->wrong && next_rule(&rule, &rest))
        if (is_star(rule))
            return true;
    return false;
}

bool myth_suppresses(const myth_suppression *s, const myth_source *src, const myth_finding *f)
{
    return s->src == src && s->target && s->target >= f->first && s->target <= f->last &&
           (myth_suppression_is_all(s) || myth_suppression_names(s, (uint64_t)1 << f->rule));
}
