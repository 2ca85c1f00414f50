/* render_text.c - findings for people. */
#include "report.h"

#include <string.h>

static void put(FILE *f, const char *text) { myth_term_safe(f, text, strlen(text)); }

static void detail(FILE *f, const char *name, myth_str v)
{
    if (!v.len)
        return;
    fprintf(f, "    %-9s ", name);
    myth_term_safe(f, v.text, v.len);
    fputc('\n', f);
}

static void finding(FILE *f, const myth_report *r, uint32_t i, const myth_term *t)
{
    static const myth_color color[MYTH_SEVERITY_N] = { MYTH_COLOR_RED, MYTH_COLOR_YELLOW, MYTH_COLOR_BLUE, MYTH_COLOR_DIM };
    const myth_finding *w = &r->finding[i];
    const myth_rule *rule = &myth_rules[w->rule];
    put(f, r->block[w->block].src->path);
    fprintf(f, ":%u", w->first);
    if (w->last > w->first)
        fprintf(f, "-%u", w->last);
    fprintf(f, ": %s%s%s %s: ", myth_term_color(t, f, color[w->severity]), myth_severity_name(w->severity), myth_term_color(t, f, MYTH_COLOR_NONE),
            myth_finding_status_name(w->status));
    if (w->issue.len)
        myth_term_safe(f, w->issue.text, w->issue.len);
    else
        put(f, rule->title);
    fprintf(f, " [%s", rule->id);
    if (rule->cwe)
        fprintf(f, ", CWE-%d", rule->cwe);
    fprintf(f, "]\n    %6u | ", r->citation[i].line);
    myth_term_safe(f, w->evidence.text, w->evidence.len);
    fputc('\n', f);
    detail(f, "why:", w->why);
    detail(f, "fix:", w->fix);
    detail(f, "missing:", w->missing);
}

static void refusal(FILE *f, const myth_refusal *w)
{
    fputs("not inspected: ", f);
    put(f, w->reason);
    fputc('\n', f);
    for (uint32_t i = 0; i < w->n_remedy; i++) {
        fputs("  - ", f);
        put(f, w->remedy[i]);
        fputc('\n', f);
    }
}

void myth_render_text(FILE *f, const myth_report *r, const myth_term *t)
{
    for (uint32_t i = 0; i < r->n_finding; i++)
        finding(f, r, i, t);
    if (r->refusal)
        refusal(f, r->refusal);
    for (uint32_t i = 0; i < r->n_context; i++) {
        fputs(i ? ", " : "needs more context: ", f);
        myth_term_safe(f, r->context[i].text, r->context[i].len);
    }
    if (r->n_context)
        fputc('\n', f);
    put(f, r->path);
    fprintf(f, ": %u finding%s, %u prompt tokens", r->n_finding, r->n_finding == 1 ? "" : "s", r->prompt_tokens);
    if (r->n_part > 1)
        fprintf(f, " in %u parts", r->n_part);
    fprintf(f, ", %s%s", r->finish_reason, r->complete ? "" : ", incomplete");
    if (r->n_dropped)
        fprintf(f, ", %u unfinished finding%s dropped", r->n_dropped, r->n_dropped == 1 ? "" : "s");
    fputc('\n', f);
}

bool myth_report_reaches(const myth_report *r, myth_severity level)
{
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (r->finding[i].severity <= level)
            return true;
    return false;
}
