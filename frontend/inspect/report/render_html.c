/* render_html.c - one page that needs nothing else: overview, filters, findings with their code.
 *
 * Alone    no address outside the page; a content security policy allows the one style sheet and the one script by
 *          their hashes, so that nothing that comes from a file can run even if an escape were missing
 * Works    without the script too: everything is shown, nothing is filtered, and no filter is there
 * Clean    a run that is not complete says so in the title and in a banner at the top; it never reads as clean
 * Places   findings whose lines overlap share one piece of code
 * Keys     / filter, j k next and previous, Enter code, Escape clear
 * Layout   html/head, header, overview (severities, files), filters, places with their findings, footer */
#include "html_page.h"
#include "outputs.h"
#include "show.h"

#include "frontend/inspect/secrets/sha256.h"
#include "version.h"

#include <string.h>

enum { CONTEXT_LINES = 4, CODE_LINES = 80, FILE_ROWS = 256 };

/* ---- texts ---- */

static void put_html(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    myth_show_markup(user, text, len, false);
}

/* As put_html, for places where elements are allowed: the placeholders of secrets are highlighted. */
static void put_body(void *user, const char *text, size_t len, bool is_placeholder)
{
    if (is_placeholder)
        fputs("<mark>", user);
    put_html(user, text, len, is_placeholder);
    if (is_placeholder)
        fputs("</mark>", user);
}

static void words(FILE *f, const char *text) { put_html(f, text, strlen(text), false); }

/* 'sha256-...' of a policy: the digest in base64. */
static void put_hash(FILE *f, const char *const *part)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char d[MYTH_SHA256_BYTES + 1] = {0};
    myth_sha256 s;
    myth_sha256_start(&s);
    for (; *part; part++)
        myth_sha256_add(&s, *part, strlen(*part));
    myth_sha256_end(&s, d);
    fputs("'sha256-", f);
    for (int i = 0; i < MYTH_SHA256_BYTES; i += 3) {
        uint32_t v = (uint32_t)d[i] << 16 | (uint32_t)d[i + 1] << 8 | (i + 2 < MYTH_SHA256_BYTES ? d[i + 2] : 0);
        for (int k = 0; k < (i + 2 < MYTH_SHA256_BYTES ? 4 : 3); k++)
            fputc(digit[v >> (18 - 6 * k) & 63], f);
    }
    fputs("='", f);
}

static void put_parts(FILE *f, const char *const *part)
{
    for (; *part; part++)
        fputs(*part, f);
}

/* ---- head and overview ---- */

/* Lists what was not inspected, each entry with its reason. */
static void missed(FILE *f, const myth_report *r)
{
    if (!r->n_missed)
        return;
    fputs("<p>Not inspected:</p>\n<ul>\n", f);
    for (uint32_t i = 0; i < r->n_missed; i++) {
        const myth_missed *m = &r->missed[i];
        fputs("<li>", f);
        myth_show_file(m->path, put_body, f);
        if (m->first)
            fprintf(f, ":%u-%u", m->first, m->last);
        fputs(": ", f);
        myth_show_cstr(r, m->why, put_body, f);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

static void caution(FILE *f, const myth_report *r)
{
    if (!r->caution)
        return;
    fputs("<div class=\"banner\" role=\"note\">\n<p>", f);
    myth_show_cstr(r, r->caution, put_body, f);
    fputs(".</p>\n</div>\n", f);
}

/* What keeps the run from being complete, and what would help. */
static void banner(FILE *f, const myth_report *r)
{
    if (r->complete && !r->refusal)
        return;
    fprintf(f, "<div class=\"banner\" role=\"alert\">\n<p><b>%s</b></p>\n<p>The inspection is incomplete: ",
            r->refusal ? "Not inspected" : "Not complete");
    const char *why = myth_report_incomplete(r);
    myth_show_cstr(r, strcmp(why, "length") == 0 ? "an answer was cut off at its limit of tokens" : why, put_body, f);
    if (r->n_dropped)
        fprintf(f, "; %u unfinished %s dropped", r->n_dropped, myth_report_dropped(r));
    fputs("</p>\n", f);
    missed(f, r);
    for (uint32_t i = 0; r->refusal && i < r->refusal->n_remedy; i++) {
        fputs(i ? "<li>" : "<p>What would help:</p>\n<ul>\n<li>", f);
        myth_show_cstr(r, r->refusal->remedy[i], put_body, f);
        fputs("</li>\n", f);
    }
    fputs(r->refusal && r->refusal->n_remedy ? "</ul>\n</div>\n" : "</div>\n", f);
}

static void head(FILE *f, const myth_report *r)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
          "'none'; img-src data:; style-src ",
          f);
    put_hash(f, myth_html_style);
    fputs("; script-src ", f);
    put_hash(f, myth_html_script);
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>", f);
    words(f, r->refusal ? "not inspected - mythos: " : r->complete ? "mythos: " : "not complete - mythos: ");
    myth_show_title(r, put_html, f);
    fputs("</title>\n<style>", f);
    put_parts(f, myth_html_style);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>mythos: ", f);
    myth_show_title(r, put_body, f);
    fputs("</h1>\n<p class=\"dim\">", f);
    myth_show_cstr(r, r->model, put_body, f);
    fprintf(f, " &middot; %u prompt tokens", r->prompt_tokens);
    if (r->n_part > 1)
        fprintf(f, " in %u parts", r->n_part);
    if (r->n_round)
        fprintf(f, ", %u more with context that was asked for", r->round_tokens);
    if (r->mark && myth_report_n_suppressed(r))
        fprintf(f, " &middot; %u suppressed", myth_report_n_suppressed(r));
    if (r->has_baseline)
        fprintf(f, " &middot; %u in the baseline", myth_report_n_known(r));
    fputs("</p>\n", f);
    if (r->commit || r->made)
        fputs("<p class=\"dim\">", f);
    if (r->commit) {
        fprintf(f, "commit <code>%.12s</code> of ", r->commit);
        words(f, r->commit_date);
    }
    if (r->made) {
        fputs(r->commit ? " &middot; inspected on " : "inspected on ", f);
        words(f, r->made);
    }
    if (r->commit || r->made)
        fputs("</p>\n", f);
    banner(f, r);
    caution(f, r);
}

static void notes(FILE *f, const myth_report *r)
{
    for (uint32_t i = 0; i < r->n_context; i++) {
        fputs(i ? ", " : "<p class=\"note\">Needs more context: ", f);
        myth_show_text(r, r->context[i], put_body, f);
    }
    if (r->n_context)
        fputs("</p>\n", f);
    for (uint32_t i = 0; i < r->n_suppression; i++) {
        const myth_suppression *s = &r->suppression[i];
        if (!myth_report_is_idle(r, s))
            continue;
        fputs("<p class=\"note\">", f);
        myth_show_file(s->src->path, put_body, f);
        fprintf(f, ":%u: mythos:ignore[", s->line);
        myth_show_text(r, s->rules, put_body, f);
        fputs(s->wrong ? "] is not followed: " : "] answers no finding", f);
        words(f, s->wrong ? s->wrong : "");
        fputs("</p>\n", f);
    }
}

static bool is_of_file(const myth_report *r, uint32_t i, const myth_source *src)
{
    return !strcmp(myth_show_path(r, i), src->path);
}

/* Counts the findings of one file by severity; src NULL counts all files. */
static void count(uint32_t n[MYTH_SEVERITY_N], const myth_report *r, const myth_source *src)
{
    memset(n, 0, MYTH_SEVERITY_N * sizeof(n[0]));
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (!src || is_of_file(r, i, src))
            n[r->finding[i].severity]++;
}

/* Whether some of a file was asked for and not inspected. */
static bool is_missed(const myth_report *r, const char *path)
{
    for (uint32_t i = 0; i < r->n_missed; i++)
        if (!strcmp(r->missed[i].path, path))
            return true;
    return r->refusal != NULL;
}

static void file_row(FILE *f, const myth_report *r, const myth_source *src, bool is_context)
{
    uint32_t n[MYTH_SEVERITY_N];
    count(n, r, src);
    fputs("<tr><td><a href=\"#findings\" data-file=\"", f);
    myth_show_file(src->path, put_html, f);
    fputs("\">", f);
    myth_show_file(src->path, put_body, f);
    const bool is_open = is_missed(r, src->path); /* a zero of it would read as clean */
    fprintf(f, "</a>%s%s</td>", is_context ? " <span class=\"dim\">context</span>" : "",
            is_open ? " <span class=\"dim\">not complete</span>" : "");
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        fprintf(f, n[v] ? "<td>%u</td>" : is_open ? "<td class=\"none\">?</td>" : "<td class=\"none\">0</td>", n[v]);
    fputs("</tr>\n", f);
}

/* Returns the source of finding i; NULL when an earlier finding is about the same file. */
static const myth_source *new_file(const myth_report *r, uint32_t i)
{
    const myth_source *src = r->block[r->finding[i].block].src;
    for (uint32_t k = 0; k < i; k++)
        if (is_of_file(r, k, src))
            return NULL;
    return src;
}

/* Writes a row for each file that was shown, or, when the report does not list them, for each file with findings. */
static void file_rows(FILE *f, const myth_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_file && n < FILE_ROWS; i++, n++)
        file_row(f, r, r->file[i].src, !r->file[i].is_subject);
    for (uint32_t i = 0; !r->n_file && i < r->n_finding && n < FILE_ROWS; i++) {
        const myth_source *src = new_file(r, i);
        if (src)
            file_row(f, r, src, false);
        n += src != NULL;
    }
    if (r->n_file > FILE_ROWS)
        fprintf(f, "<tr><td class=\"dim\">and %u more</td><td></td><td></td><td></td><td></td></tr>\n",
                r->n_file - FILE_ROWS);
}

static void severities(FILE *f, const myth_report *r, const uint32_t n[MYTH_SEVERITY_N])
{
    fprintf(f, "<div class=\"counts\">\n%s", r->complete ? "" : "<span class=\"dim\">at least</span>\n");
    for (int v = 0; v < MYTH_SEVERITY_N; v++) {
        const char *name = myth_severity_name((myth_severity)v);
        fprintf(
            f,
            "<button type=\"button\" class=\"%s\" data-severity=\"%s\" aria-pressed=\"false\"><b>%u</b> %s</button>\n",
            name, name, n[v], name);
    }
    fputs("</div>\n", f);
}

static void overview(FILE *f, const myth_report *r)
{
    uint32_t n[MYTH_SEVERITY_N];
    count(n, r, NULL);
    fputs("</header>\n<section aria-label=\"Overview\">\n", f);
    if (r->n_finding || (r->complete && !r->refusal)) /* four zeros would read as clean */
        severities(f, r, n);
    notes(f, r);
    if (r->n_finding || r->n_file > 1) {
        fputs("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">File</th>", f);
        for (int v = 0; v < MYTH_SEVERITY_N; v++)
            fprintf(f, "<th scope=\"col\">%s</th>", myth_severity_name((myth_severity)v));
        fputs("</tr></thead>\n<tbody>\n", f);
        file_rows(f, r);
        fputs("</tbody>\n</table></div>\n", f);
    }
    fputs("</section>\n", f);
}

/* ---- places ---- */

/* Findings whose lines overlap, in one file: they share a piece of code. */
typedef struct {
    uint32_t leader; /* its first finding, in the order of the page */
    uint32_t first, last;
} place;

typedef struct {
    const myth_report *r;
    myth_mem *mem;
    uint32_t *place_of; /* [n_finding] */
    place *place;
    uint32_t n_place;
} places;

/* The place that finding i belongs to: one that it overlaps, unless both together would be too long to show whole. */
static uint32_t find_place(const places *p, uint32_t i)
{
    const myth_finding *w = &p->r->finding[i];
    for (uint32_t k = 0; k < p->n_place; k++) {
        const place *at = &p->place[k];
        const uint32_t first = w->first < at->first ? w->first : at->first,
                       last = w->last > at->last ? w->last : at->last;
        const bool is_same = w->first == at->first && w->last == at->last;
        if (p->r->block[w->block].src == p->r->block[p->r->finding[at->leader].block].src &&
            (is_same ||
             (w->first <= at->last && at->first <= w->last && last - first + 2 * CONTEXT_LINES < CODE_LINES)))
            return k;
    }
    return p->n_place;
}

static void put_into_place(places *p, uint32_t i)
{
    const myth_finding *w = &p->r->finding[i];
    const uint32_t k = find_place(p, i);
    if (k == p->n_place)
        p->place[p->n_place++] = (place){.leader = i, .first = w->first, .last = w->last};
    place *at = &p->place[k];
    at->first = w->first < at->first ? w->first : at->first;
    at->last = w->last > at->last ? w->last : at->last;
    p->place_of[i] = k;
}

/* Puts the findings into places in the order of the page: the most severe first, within a severity as in the report.
 * Without memory every finding has a place of its own. */
static void find_places(places *p, const myth_report *r)
{
    *p = (places){.r = r};
    if (myth_mem_open(&p->mem, 0, NULL) != MYTH_OK)
        return;
    p->place_of = myth_alloc_n(p->mem, MYTH_MEM_STAGING, "places", r->n_finding + 1, sizeof(*p->place_of));
    p->place = myth_alloc_n(p->mem, MYTH_MEM_STAGING, "places", r->n_finding + 1, sizeof(*p->place));
    if (!p->place_of || !p->place) {
        myth_free(p->mem, p->place);
        p->place = NULL;
        return;
    }
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        for (uint32_t i = 0; i < r->n_finding; i++)
            if (r->finding[i].severity == (myth_severity)v)
                put_into_place(p, i);
}

static void close_places(places *p)
{
    if (!p->mem)
        return;
    myth_free(p->mem, p->place);
    myth_free(p->mem, p->place_of);
    myth_mem_close(p->mem);
}

/* Whether finding i is of the place; p->place NULL: only its leader is. */
static bool is_of(const places *p, const place *at, uint32_t i)
{
    return p->place ? p->place_of[i] == (uint32_t)(at - p->place) : i == at->leader;
}

static void code_line(FILE *f, const places *p, const place *at, uint32_t n)
{
    const myth_report *r = p->r;
    const myth_source *src = r->block[r->finding[at->leader].block].src;
    uint32_t off = r->citation[at->leader].off;
    bool is_cited = false, is_evidence = false;
    for (uint32_t i = 0; i < r->n_finding; i++) {
        if (!is_of(p, at, i))
            continue;
        is_cited |= n >= r->finding[i].first && n <= r->finding[i].last;
        if (n == r->citation[i].line && !is_evidence) {
            is_evidence = true;
            off = r->citation[i].off;
        }
    }
    fprintf(f, "<span data-n=\"%u\"%s>", n,
            is_evidence ? " class=\"cited evidence\""
            : is_cited  ? " class=\"cited\""
                        : "");
    myth_show_line(r, src, n, off, put_body, f);
    fputs("</span>", f);
}

static void code(FILE *f, const places *p, const place *at)
{
    const myth_report *r = p->r;
    const myth_source *src = r->block[r->finding[at->leader].block].src;
    uint32_t first = at->first > CONTEXT_LINES ? at->first - CONTEXT_LINES : 1;
    uint32_t last =
        at->last < src->n_line - CONTEXT_LINES && src->n_line > CONTEXT_LINES ? at->last + CONTEXT_LINES : src->n_line;
    if (last - first >= CODE_LINES) { /* of a long range show the part around the evidence */
        const uint32_t line = r->citation[at->leader].line;
        first = line > first + CODE_LINES / 2 ? line - CODE_LINES / 2 : first;
        last = last - first >= CODE_LINES ? first + CODE_LINES - 1 : last;
    }
    fputs("<details class=\"code\" open><summary>Code</summary>\n<pre tabindex=\"0\" aria-label=\"code\"><code>", f);
    for (uint32_t n = first; n <= last; n++)
        code_line(f, p, at, n);
    fputs("</code></pre></details>\n", f);
}

/* ---- findings ---- */

static void detail(FILE *f, const myth_report *r, const char *name, myth_str v)
{
    if (!v.len)
        return;
    fprintf(f, "<dt>%s</dt><dd>", name);
    myth_show_text(r, v, put_body, f);
    fputs("</dd>\n", f);
}

/* Writes the diff of a patch from its first hunk on. */
static void put_patch(FILE *f, const myth_report *r, uint32_t i)
{
    const char *p = r->patch[i].diff, *hunk = strstr(p, "\n@@");
    size_t skip = hunk ? (size_t)(hunk + 1 - p) : 0;
    fputs("<details open><summary>Patch</summary>\n<pre class=\"patch\" tabindex=\"0\" aria-label=\"patch\"><code>", f);
    myth_show_text(r, (myth_str){p + skip, r->patch[i].n_diff - skip}, put_body, f);
    fputs("</code></pre></details>\n", f);
}

static void finding(FILE *f, const myth_report *r, uint32_t i)
{
    const myth_finding *w = &r->finding[i];
    const myth_rule *rule = &myth_rules[w->rule];
    const char *severity = myth_severity_name(w->severity);
    fprintf(
        f, "<article class=\"finding%s\" id=\"f%u\" tabindex=\"-1\" data-severity=\"%s\" data-rule=\"%s\" data-file=\"",
        myth_report_is_active(r, i) ? "" : " answered", i + 1, severity, rule->id);
    myth_show_file(myth_show_path(r, i), put_html, f);
    fprintf(f, "\">\n<h2><span class=\"severity %s\">%s</span>", severity, severity);
    myth_show_issue(r, i, put_body, f);
    fprintf(f, "</h2>\n<p class=\"dim\"><a href=\"#f%u\">line", i + 1);
    fprintf(f, w->last > w->first ? "s %u-%u" : " %u", w->first, w->last);
    fprintf(f, "</a> &middot; %s", rule->id);
    if (rule->cwe)
        fprintf(f, " &middot; CWE-%d", rule->cwe);
    fprintf(f, " &middot; %s", myth_finding_status_name(w->status));
    if (r->mark && r->mark[i].is_known)
        fputs(" &middot; in the baseline", f);
    if (r->mark && r->mark[i].suppression) {
        fputs(" &middot; suppressed: ", f);
        myth_show_text(r, r->suppression[r->mark[i].suppression - 1].reason, put_body, f);
    }
    fputs("</p>\n", f);
    if (w->why.len || w->fix.len || w->missing.len) {
        fputs("<dl>\n", f);
        detail(f, r, "Why", w->why);
        detail(f, r, "Facts", myth_report_facts(r, i));
        detail(f, r, "Fix", w->fix);
        detail(f, r, "Missing", w->missing);
        fputs("</dl>\n", f);
    }
    if (r->patch && r->patch[i].text)
        put_patch(f, r, i);
    fputs("</article>\n", f);
}

static void put_place(FILE *f, const places *p, const place *at)
{
    const myth_report *r = p->r;
    fputs("<section class=\"place\">\n<p class=\"where\">", f);
    myth_show_file(myth_show_path(r, at->leader), put_body, f);
    fprintf(f, at->last > at->first ? ":%u-%u</p>\n" : ":%u</p>\n", at->first, at->last);
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        for (uint32_t i = 0; i < r->n_finding; i++)
            if (r->finding[i].severity == (myth_severity)v && is_of(p, at, i))
                finding(f, r, i);
    code(f, p, at);
    fputs("</section>\n", f);
}

static void put_places(FILE *f, const myth_report *r)
{
    places p;
    find_places(&p, r);
    for (uint32_t k = 0; p.place && k < p.n_place; k++)
        put_place(f, &p, &p.place[k]);
    for (int v = 0; v < MYTH_SEVERITY_N && !p.place; v++)
        for (uint32_t i = 0; i < r->n_finding; i++)
            if (r->finding[i].severity == (myth_severity)v)
                put_place(f, &p, &(place){.leader = i, .first = r->finding[i].first, .last = r->finding[i].last});
    close_places(&p);
}

/* ---- filters ---- */

static void rule_choice(FILE *f, const myth_report *r)
{
    fputs("<select id=\"rule\" aria-label=\"Rule\"><option value=\"\">all rules</option>", f);
    for (uint32_t k = 0; k < myth_rule_count(); k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < r->n_finding; i++)
            n += r->finding[i].rule == (int)k;
        if (n)
            fprintf(f, "<option value=\"%s\">%s (%u)</option>", myth_rules[k].id, myth_rules[k].id, n);
    }
    fputs("</select>\n", f);
}

static void file_choice(FILE *f, const myth_report *r)
{
    uint32_t n_file = 0;
    fputs("<select id=\"file\" aria-label=\"File\"><option value=\"\">all files</option>", f);
    for (uint32_t i = 0; i < r->n_finding && n_file < FILE_ROWS; i++) {
        const myth_source *src = new_file(r, i);
        if (!src)
            continue;
        n_file++;
        fputs("<option value=\"", f);
        myth_show_file(src->path, put_html, f);
        fputs("\">", f);
        myth_show_file(src->path, put_html, f);
        fputs("</option>", f);
    }
    fputs("</select>\n", f);
}

/* The script shows it; without the script it could do nothing. */
static void filters(FILE *f, const myth_report *r)
{
    fputs("<div class=\"bar\" id=\"bar\" role=\"search\" hidden><input id=\"filter\" type=\"search\" "
          "placeholder=\"Filter findings\" aria-label=\"Filter findings\" autocomplete=\"off\" spellcheck=\"false\">\n",
          f);
    rule_choice(f, r);
    file_choice(f, r);
    fprintf(f, "<output id=\"shown\" for=\"filter\" aria-live=\"polite\">%u of %u</output></div>\n", r->n_finding,
            r->n_finding);
}

/* What stands in place of findings. */
static const char *nothing(const myth_report *r)
{
    if (r->n_finding)
        return "";
    if (r->refusal)
        return "<p>Nothing was inspected, so there are no findings to show. This is not a clean result.</p>\n";
    return r->complete ? "<p>No findings.</p>\n"
                       : "<p>No findings in what was inspected. This is not a clean result: see above.</p>\n";
}

/* ---- the answer to a question ---- */

static void citation(FILE *f, const myth_report *r, uint32_t i)
{
    const myth_quote *q = &r->quote[i];
    const myth_source *src = r->block[q->block].src;
    fputs("<li><span class=\"where\">", f);
    myth_show_file(src->path, put_body, f);
    fprintf(f, q->last > q->first ? ":%u-%u" : ":%u", q->first, q->last);
    fputs("</span> <code>", f);
    myth_redact_bytes(r->redactor, src, r->cited[i].off, r->cited[i].len, put_body, f);
    fputs("</code></li>\n", f);
}

static void sentences(FILE *f, const myth_report *r)
{
    for (uint32_t i = 0; i < r->n_sentence; i++) {
        const myth_sentence *s = &r->sentence[i];
        fputs("<section class=\"place\"><p>", f);
        myth_show_text(r, s->text, put_body, f);
        fputs("</p>\n<ul>\n", f);
        for (uint32_t k = s->quote; k < s->quote + s->n_quote; k++)
            citation(f, r, k);
        fputs("</ul></section>\n", f);
    }
}

static void answer(FILE *f, const myth_report *r)
{
    sentences(f, r);
    if (r->n_sentence || r->refusal)
        return;
    fputs("<p>Not answered by what was shown", f);
    if (r->missing.len) {
        fputs(": ", f);
        myth_show_text(r, r->missing, put_body, f);
    }
    fputs("</p>\n", f);
}

/* What the change does, or why nothing says so. */
static void summary(FILE *f, const myth_report *r)
{
    const myth_summary *s = &r->summary;
    fputs("<section aria-label=\"The change\"><h2>The change</h2>\n", f);
    sentences(f, r);
    if (!r->n_sentence) {
        fputs("<p class=\"note\">No summary", f);
        if (s->why_none || r->missing.len)
            fputs(s->why_none ? ": " : ", what was shown does not tell: ", f);
        myth_show_text(r, s->why_none ? (myth_str){s->why_none, strlen(s->why_none)} : r->missing, put_body, f);
        fputs("</p>\n", f);
    } else if (s->n_shown < s->n_line) {
        fprintf(f, "<p class=\"note\">From %u of %u changed lines: more had no room in the summary's prompt.</p>\n",
                s->n_shown, s->n_line);
    }
    fputs("</section>\n", f);
}

static void render_answer(FILE *f, const myth_report *r)
{
    head(f, r);
    fputs("</header>\n<main>\n", f);
    answer(f, r);
    notes(f, r);
    fprintf(f, "</main>\n<footer><p>mythos %s</p></footer>\n</body>\n</html>\n", MYTHOS_VERSION);
}

void myth_render_html(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    if (r->is_question) {
        render_answer(f, r);
        return;
    }
    head(f, r);
    overview(f, r);
    if (r->summary.is_asked)
        summary(f, r);
    filters(f, r);
    fputs("<main id=\"findings\">\n", f);
    put_places(f, r);
    fprintf(f, "<p id=\"none\" class=\"dim\" hidden>Nothing matches.</p>\n%s</main>\n", nothing(r));
    fprintf(f,
            "<footer><p class=\"keys\" id=\"keys\" hidden><kbd>/</kbd> filter &middot; <kbd>j</kbd> <kbd>k</kbd> "
            "next, previous &middot; <kbd>Enter</kbd> code &middot; "
            "<kbd>Esc</kbd> clear</p><p>mythos %s</p></footer>\n<script>",
            MYTHOS_VERSION);
    put_parts(f, myth_html_script);
    fputs("</script>\n</body>\n</html>\n", f);
}
