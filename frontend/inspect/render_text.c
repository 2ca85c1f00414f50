/* render_text.c - findings for people. */
#include "report.h"

#include <string.h>

/* On one line, whatever the text holds: a line of its own could pass for a finding. */
static void put_str(FILE *f, myth_str v)
{
    for (size_t i = 0, n; i < v.len; i += n + 1) {
        const char *end = memchr(v.text + i, '\n', v.len - i);
        n = end ? (size_t)(end - v.text) - i : v.len - i;
        myth_term_safe(f, v.text + i, n);
        if (end)
            fputc(' ', f);
    }
}

static void put(FILE *f, const char *text) { put_str(f, (myth_str) { text, strlen(text) }); }

static void detail(FILE *f, const char *name, myth_str v)
{
    if (!v.len)
        return;
    fprintf(f, "    %-8s ", name);
    put_str(f, v);
    fputc('\n', f);
}

/* The line that holds the evidence, whole; of a long one the evidence alone. */
static myth_str shown(const myth_report *r, uint32_t i)
{
    enum { WHOLE_MAX = 120 };
    const myth_source *src = r->block[r->finding[i].block].src;
    uint32_t off, len;
    myth_line_trim(src, r->citation[i].line - 1, &off, &len);
    return len <= WHOLE_MAX ? (myth_str) { (const char *)src->bytes + off, len } : r->finding[i].evidence;
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
    fprintf(f, ": %s%s%s %s: ", myth_term_color(t, f, color[w->severity]), myth_severity_name(w->severity),
            myth_term_color(t, f, MYTH_COLOR_NONE), myth_finding_status_name(w->status));
    if (w->issue.len)
        put_str(f, w->issue);
    else
        put(f, rule->title);
    fprintf(f, " [%s", rule->id);
    if (rule->cwe)
        fprintf(f, ", CWE-%d", rule->cwe);
    fprintf(f, "]\n    %6u | ", r->citation[i].line);
    put_str(f, shown(r, i));
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
        put_str(f, r->context[i]);
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
