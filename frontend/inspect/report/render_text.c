/* render_text.c - writes the findings as plain text, for people to read. */
#include "outputs.h"
#include "show.h"

#include <string.h>

/* Writes a text without line breaks: after one, the rest of it could look like another finding. */
static void put_line(void *user, const char *text, size_t len, bool is_placeholder)
{
    FILE *f = user;
    (void)is_placeholder;
    for (size_t i = 0, n; i < len; i += n + 1) {
        const char *end = memchr(text + i, '\n', len - i);
        n = end ? (size_t)(end - text) - i : len - i;
        myth_term_safe(f, text + i, n);
        if (end)
            fputc(' ', f);
    }
}

/* A path begins a line. */
static void put_name(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    myth_term_line(user, text, len);
}

static void put_str(FILE *f, const myth_report *r, myth_str v) { myth_show_text(r, v, put_line, f); }
static void put_shown(FILE *f, const myth_report *r, const char *text) { myth_show_cstr(r, text, put_line, f); }

static void detail(FILE *f, const myth_report *r, const char *name, myth_str v)
{
    if (!v.len)
        return;
    fprintf(f, "    %-8s ", name);
    put_str(f, r, v);
    fputc('\n', f);
}

/* Writes the line that contains the evidence, or only the evidence when the line is long. */
static void put_code(FILE *f, const myth_report *r, uint32_t i)
{
    enum { WHOLE_MAX = 120 };
    const myth_source *src = r->block[r->finding[i].block].src;
    uint32_t off, len;
    myth_line_trim(src, r->citation[i].line - 1, &off, &len);
    if (len <= WHOLE_MAX)
        myth_redact_bytes(r->redactor, src, off, len, put_line, f);
    else
        myth_show_evidence(r, i, put_line, f);
}

/* Writes the hunks of a patch, without their headers, each line after a prefix of ours. */
static void put_patch(FILE *f, const myth_report *r, uint32_t i)
{
    const char *p = r->patch[i].diff, *end = p + r->patch[i].n_diff;
    bool is_head = true;
    fputs("    patch:\n", f);
    for (size_t n; p < end; p += n + 1) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        n = stop ? (size_t)(stop - p) : (size_t)(end - p);
        is_head = is_head && strncmp(p, "@@", 2) != 0;
        if (is_head || (*p != '+' && *p != '-' && *p != ' '))
            continue;
        fputs("    | ", f); /* so that no line of the diff begins ours: the blanks of one would not count */
        myth_show_text(r, (myth_str){p, n}, put_line, f);
        fputc('\n', f);
    }
}

/* Call before a path at the beginning of a line: code hosts run a line of a log as a command when it begins with these
 * signs, so such a path gets its folder in front. */
static void begin_line(FILE *f, const char *path)
{
    const char *p = path + strspn(path, " \t");
    if (!strncmp(p, "::", 2) || !strncmp(p, "##", 2))
        fputs("./", f);
}

static void finding(FILE *f, const myth_report *r, uint32_t i, const myth_term *t)
{
    static const myth_color color[MYTH_SEVERITY_N] = {MYTH_COLOR_RED, MYTH_COLOR_YELLOW, MYTH_COLOR_BLUE,
                                                      MYTH_COLOR_DIM};
    const myth_finding *w = &r->finding[i];
    const myth_rule *rule = &myth_rules[w->rule];
    begin_line(f, r->block[w->block].src->path);
    myth_show_file(r->block[w->block].src->path, put_name, f);
    fprintf(f, ":%u", w->first);
    if (w->last > w->first)
        fprintf(f, "-%u", w->last);
    fprintf(f, ": %s%s%s %s: ", myth_term_color(t, f, color[w->severity]), myth_severity_name(w->severity),
            myth_term_color(t, f, MYTH_COLOR_NONE), myth_finding_status_name(w->status));
    myth_show_issue(r, i, put_line, f);
    fprintf(f, " [%s", rule->id);
    if (rule->cwe)
        fprintf(f, ", CWE-%d", rule->cwe);
    fprintf(f, "]\n    %6u | ", r->citation[i].line);
    put_code(f, r, i);
    fputc('\n', f);
    detail(f, r, "why:", w->why);
    detail(f, r, "facts:", myth_report_facts(r, i));
    detail(f, r, "fix:", w->fix);
    detail(f, r, "missing:", w->missing);
    if (r->patch && r->patch[i].text)
        put_patch(f, r, i);
}

/* Sentences with their citations, each a line. */
static void sentences(FILE *f, const myth_report *r)
{
    for (uint32_t i = 0; i < r->n_sentence; i++) {
        const myth_sentence *s = &r->sentence[i];
        fputs("- ", f);
        put_str(f, r, s->text);
        fputc('\n', f);
        for (uint32_t k = s->quote; k < s->quote + s->n_quote; k++) {
            const myth_quote *q = &r->quote[k];
            fputs("    ", f);
            begin_line(f, r->block[q->block].src->path);
            myth_show_file(r->block[q->block].src->path, put_name, f);
            fprintf(f, q->last > q->first ? ":%u-%u: " : ":%u: ", q->first, q->last);
            myth_redact_bytes(r->redactor, r->block[q->block].src, r->cited[k].off, r->cited[k].len, put_line, f);
            fputc('\n', f);
        }
    }
}

static void answer(FILE *f, const myth_report *r)
{
    sentences(f, r);
    if (r->n_sentence || !r->missing.len)
        return;
    fputs("not answered by what was shown: ", f);
    put_str(f, r, r->missing);
    fputc('\n', f);
}

/* What the change does, or why nothing says so. */
static void summary(FILE *f, const myth_report *r)
{
    const myth_summary *s = &r->summary;
    if (!r->n_sentence) {
        fputs(s->why_none ? "no summary of the change: " : "no summary of the change", f);
        put_shown(f, r, s->why_none ? s->why_none : "");
        if (!s->why_none && r->missing.len) {
            fputs(", what was shown does not tell: ", f);
            put_str(f, r, r->missing);
        }
        fputc('\n', f);
        return;
    }
    fputs("the change:\n", f);
    sentences(f, r);
    if (s->n_shown < s->n_line)
        fprintf(f, "(from %u of %u changed lines: more had no room in the summary's prompt)\n", s->n_shown, s->n_line);
}

static void refusal(FILE *f, const myth_report *r)
{
    fputs("not inspected: ", f);
    put_shown(f, r, r->refusal->reason);
    fputc('\n', f);
    for (uint32_t i = 0; i < r->refusal->n_remedy; i++) {
        fputs("  - ", f);
        put_shown(f, r, r->refusal->remedy[i]);
        fputc('\n', f);
    }
}

static void idle_suppression(FILE *f, const myth_report *r, const myth_suppression *s)
{
    if (!myth_report_is_idle(r, s))
        return;
    begin_line(f, s->src->path);
    myth_show_file(s->src->path, put_name, f);
    fprintf(f, ":%u: ", s->line);
    if (s->wrong) {
        fprintf(f, "mythos:ignore is not followed: %s\n", s->wrong);
        return;
    }
    fputs("mythos:ignore[", f);
    put_str(f, r, s->rules);
    fputs("] answers no finding\n", f);
}

static void missed(FILE *f, const myth_report *r, const myth_missed *m)
{
    fputs("not inspected: ", f);
    myth_show_file(m->path, put_line, f);
    if (m->first)
        fprintf(f, ":%u-%u", m->first, m->last);
    fputs(": ", f);
    put_shown(f, r, m->why);
    fputc('\n', f);
}

/* What the model was shown. */
static void prompts(FILE *f, const myth_report *r)
{
    fprintf(f, "%u prompt tokens", r->prompt_tokens);
    if (r->n_part > 1)
        fprintf(f, " in %u parts", r->n_part);
    if (r->n_round)
        fprintf(f, ", %u more with context that was asked for", r->round_tokens);
    if (r->budget && r->budget->n_left_out)
        fprintf(f, ", %u of %u pieces of context left out", r->budget->n_left_out, r->budget->n_context);
    fputs(", ", f);
}

/* Of many findings, how many each rule has, the most first. */
static void by_rule(FILE *f, const myth_report *r, uint32_t n)
{
    enum { MANY = 20 };
    uint32_t count[MYTH_RULE_N] = {0};
    if (n <= MANY)
        return;
    for (uint32_t i = 0; i < r->n_finding; i++)
        count[r->finding[i].rule] += myth_report_is_active(r, i);
    for (uint32_t left = n, best = 0; left > 0; left -= count[best], count[best] = 0) {
        for (uint32_t k = 0; k < MYTH_RULE_N; k++)
            best = count[k] > count[best] ? k : best;
        fprintf(f, "%s%s %u", left == n ? "by rule: " : ", ", myth_rules[best].id, count[best]);
    }
    fputc('\n', f);
}

void myth_render_text(FILE *f, const myth_report *r, const myth_term *t)
{
    char files[32];
    uint32_t n = 0;
    if (r->summary.is_asked)
        summary(f, r);
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i)) {
            finding(f, r, i, t);
            n++;
        }
    if (r->is_question)
        answer(f, r);
    if (r->refusal)
        refusal(f, r);
    for (uint32_t i = 0; i < r->n_missed; i++)
        missed(f, r, &r->missed[i]);
    if (r->caution) {
        fputs("note: ", f);
        put_shown(f, r, r->caution);
        fputc('\n', f);
    }
    for (uint32_t i = 0; i < r->n_context; i++) {
        fputs(i ? ", " : "needs more context: ", f);
        put_str(f, r, r->context[i]);
    }
    if (r->n_context)
        fputc('\n', f);
    for (uint32_t i = 0; i < r->n_suppression; i++)
        idle_suppression(f, r, &r->suppression[i]);
    by_rule(f, r, n);
    begin_line(f, r->path);
    myth_show_title(r, put_line, f);
    if (!r->is_question)
        fprintf(f, ": %u finding%s, ", n, myth_s(n));
    else if (r->n_sentence)
        fprintf(f, ": answered in %u sentence%s, ", r->n_sentence, myth_s(r->n_sentence));
    else
        fputs(": not answered, ", f);
    snprintf(files, sizeof(files), "%u files", r->n_file);
    if (r->n_file > 1 && strcmp(r->path, files) != 0) /* the title of many files says it */
        fprintf(f, "%s, ", files);
    if (r->mark && myth_report_n_suppressed(r))
        fprintf(f, "%u suppressed, ", myth_report_n_suppressed(r));
    if (r->has_baseline)
        fprintf(f, "%u in the baseline, ", myth_report_n_known(r));
    if (r->prompt_tokens || r->n_part) /* else no model was asked for text */
        prompts(f, r);
    const bool is_stop = strcmp(r->finish_reason, "stop") == 0;
    fprintf(f, "%s%s%s", r->complete || r->is_lack_allowed ? "done" : "incomplete", is_stop ? "" : ": ",
            is_stop ? "" : r->finish_reason);
    if (r->is_lack_allowed)
        fprintf(f, ", %u file%s not inspected", r->n_missed, myth_s(r->n_missed));
    if (r->since) {
        fputs(", changes since ", f);
        put_shown(f, r, r->since);
        fputs(" alone", f);
    }
    if (r->n_unwanted)
        fprintf(f, ", %u about other lines", r->n_unwanted);
    if (r->n_dropped)
        fprintf(f, ", %u unfinished %s dropped", r->n_dropped, myth_report_dropped(r));
    fputc('\n', f);
}
