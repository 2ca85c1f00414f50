/* render_github.c - annotations of a workflow run:  ::error file=a.c,line=3,endLine=4,title=rule (CWE-1)::text
 *
 * Escapes  in the text % CR LF, in a property : and , as well, as %25 %0D %0A %3A %2C; a host decodes exactly these
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
    if (r->caution && r->caution[0]) {
        fputs("::notice title=mythos::", f);
        myth_show_cstr(r, r->caution, put_data, f);
        fputc('\n', f);
    }
}
