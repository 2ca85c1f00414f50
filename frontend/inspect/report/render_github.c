/* render_github.c - annotations of a workflow run:  ::error file=a.c,line=3,endLine=4,title=rule (CWE-1)::text
 *
 * Suggest  a patch is a block that can be pasted into a comment on the lines that it names, which then offers to apply
 *          it; its fence is longer than any in the code
 * Escapes  in the text % CR LF, in a property : and , as well, as %25 %0D %0A %3A %2C; a host decodes exactly these
 * Summary  of a change: one notice without a place, before the others
 * Order    by severity: a host shows the first ten of each level of a step, and a line behind them says when there were
 *          more
 * Source   GitHub, workflow commands for GitHub Actions */
#include "outputs.h"
#include "show.h"

#include <string.h>

enum { SHOWN_PER_LEVEL = 10 };

static void put_escaped(FILE *f, const char *text, size_t len, const char *set)
{
    const char *shown;
    size_t n;
    for (size_t i = 0; i < len;) {
        i += myth_show_one(&shown, &n, text + i, len - i);
        if (n == 1 && strchr(set, *shown))
            fprintf(f, "%%%02X", (unsigned)(unsigned char)*shown);
        else
            fwrite(shown, 1, n, f);
    }
}

static void put_data(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    put_escaped(user, text, len, "%\r\n");
}

static void put_property(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    put_escaped(user, text, len, "%\r\n:,");
}

/* Writes the fence of a suggestion: three backticks, or more than the text has in a row. */
static void put_fence(FILE *f, const myth_patch *p)
{
    size_t most = 2, n = 0;
    for (size_t i = 0; i < p->n; i++) {
        n = p->text[i] == '`' ? n + 1 : 0;
        most = n > most ? n : most;
    }
    for (size_t i = 0; i <= most; i++)
        fputc('`', f);
}

static void suggestion(FILE *f, const myth_finding *w, const myth_patch *p)
{
    const size_t n = myth_show_without_end(p->text, p->n);
    fputs("%0ASuggested change", f);
    if (p->first != w->first || p->last != w->last)
        fprintf(f, " of lines %u-%u", p->first, p->last);
    fputs(":%0A", f);
    put_fence(f, p);
    fputs("suggestion%0A", f);
    for (size_t at = 0; at < n;) {
        const char *line = p->text + at, *end = memchr(line, '\n', n - at);
        const size_t len = end ? (size_t)(end - line) : n - at;
        put_escaped(f, line, len && line[len - 1] == '\r' ? len - 1 : len, "%\r\n");
        fputs("%0A", f);
        at += len + 1;
    }
    put_fence(f, p);
}

static void annotation(FILE *f, const myth_report *r, uint32_t i)
{
    static const char *const level[MYTH_SEVERITY_N] = {"error", "warning", "notice", "notice"};
    const myth_finding *w = &r->finding[i];
    const myth_rule *rule = &myth_rules[w->rule];
    fprintf(f, "::%s file=", level[w->severity]);
    myth_show_file(myth_show_path(r, i), put_property, f);
    fprintf(f, ",line=%u,endLine=%u,title=%s %s", w->first, w->last, myth_severity_name(w->severity), rule->id);
    if (rule->cwe)
        fprintf(f, " (CWE-%d)", rule->cwe);
    fputs("::", f);
    myth_show_issue(r, i, put_data, f);
    if (w->why.len) {
        fputs("%0A", f);
        myth_show_text(r, w->why, put_data, f);
    }
    if (w->fix.len) {
        fputs("%0AFix: ", f);
        myth_show_text(r, w->fix, put_data, f);
    }
    if (r->patch && r->patch[i].text)
        suggestion(f, w, &r->patch[i]);
    fputc('\n', f);
}

/* What the change does, as one notice. */
static void summary(FILE *f, const myth_report *r)
{
    if (!r->n_sentence && !r->missing.len)
        return; /* why there is none stands in the warning of what is incomplete */
    fputs("::notice title=The change::", f);
    if (!r->n_sentence) {
        fputs("No summary, what was shown does not tell: ", f);
        myth_show_text(r, r->missing, put_data, f);
        fputc('\n', f);
        return;
    }
    for (uint32_t i = 0; i < r->n_sentence; i++) {
        const myth_sentence *s = &r->sentence[i];
        fputs(i ? "%0A- " : "- ", f);
        myth_show_text(r, s->text, put_data, f);
        for (uint32_t k = s->quote; k < s->quote + s->n_quote; k++) {
            const myth_quote *q = &r->quote[k];
            const myth_source *src = r->block[q->block].src;
            fputs("%0A    ", f);
            myth_show_file(src->path, put_data, f);
            fprintf(f, q->last > q->first ? ":%u-%u: " : ":%u: ", q->first, q->last);
            myth_redact_bytes(r->redactor, src, r->cited[k].off, r->cited[k].len, put_data, f);
        }
    }
    if (r->summary.n_shown < r->summary.n_line)
        fprintf(f, "%%0A(from %u of %u changed lines)", r->summary.n_shown, r->summary.n_line);
    fputc('\n', f);
}

/* Writes one warning for the whole list: a step shows only ten, and more of these would displace findings. */
static void incomplete(FILE *f, const myth_report *r)
{
    fputs("::warning title=mythos::The inspection is incomplete: ", f);
    myth_show_cstr(r, myth_report_incomplete(r), put_data, f);
    for (uint32_t i = 0; i < r->n_missed; i++) {
        const myth_missed *m = &r->missed[i];
        fputs("%0ANot inspected: ", f);
        myth_show_file(m->path, put_data, f);
        if (m->first)
            fprintf(f, ":%u-%u", m->first, m->last);
        fputs(": ", f);
        myth_show_cstr(r, m->why, put_data, f);
    }
    fputc('\n', f);
}

void myth_render_github(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    uint32_t n[MYTH_SEVERITY_N] = {0};
    if (r->summary.is_asked)
        summary(f, r);
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        for (uint32_t i = 0; i < r->n_finding; i++)
            if (r->finding[i].severity == (myth_severity)v && myth_report_is_active(r, i)) {
                annotation(f, r, i);
                n[v]++;
            }
    const uint32_t n_notice = n[MYTH_SEVERITY_LOW] + n[MYTH_SEVERITY_INFO];
    if (n[MYTH_SEVERITY_HIGH] > SHOWN_PER_LEVEL || n[MYTH_SEVERITY_MEDIUM] > SHOWN_PER_LEVEL ||
        n_notice > SHOWN_PER_LEVEL)
        fprintf(f, "mythos: %u errors, %u warnings, %u notices; a step shows %d of each, the rest stands above\n",
                n[MYTH_SEVERITY_HIGH], n[MYTH_SEVERITY_MEDIUM], n_notice, (int)SHOWN_PER_LEVEL);
    if (!r->complete)
        incomplete(f, r);
    if (r->caution) {
        fputs("::notice title=mythos::", f);
        myth_show_cstr(r, r->caution, put_data, f);
        fputc('\n', f);
    }
}
