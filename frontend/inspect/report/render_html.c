/* render_html.c - one page that needs nothing else: overview, filter, findings with their code.
 *
 * Alone    no address outside the page; a content security policy allows the one style sheet and the one script by
 *          their hashes, so that nothing that comes from a file can run even if an escape were missing
 * Works    without the script too: everything is shown, nothing is filtered
 * Keys     / filter, j k next and previous, Enter code, Escape clear
 * Layout   html/head, header, overview (severities, files), filter, findings, footer */
#include "outputs.h"
#include "show.h"

#include "frontend/inspect/secrets/sha256.h"
#include "version.h"

#include <string.h>

enum { CONTEXT_LINES = 4, CODE_LINES = 80, FILE_ROWS = 256 };

static const char style[] =
    ":root{color-scheme:light "
    "dark;--bg:#fff;--fg:#1c1e21;--dim:#5d6470;--line:#d9dde3;--card:#f7f8fa;--code:#fff;--cited:#fff3c4;--mark:#"
    "ffe08a;"
    "--high:#b3261e;--medium:#8a5300;--low:#0b57d0;--info:#5d6470;--link:#0b57d0}"
    "@media "
    "(prefers-color-scheme:dark){:root{--bg:#14161a;--fg:#e6e8eb;--dim:#9aa3af;--line:#333941;--card:#1c1f25;--code:#"
    "14161a;--cited:#3a3115;"
    "--mark:#6b5300;--high:#ff8a80;--medium:#ffb74d;--low:#8ab4f8;--info:#9aa3af;--link:#8ab4f8}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 "
    "system-ui,sans-serif}"
    "h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:0;overflow-wrap:anywhere}"
    "a{color:var(--link)}p{margin:.3rem 0}.dim{color:var(--dim);font-size:.9rem;overflow-wrap:anywhere}"
    ".note{border-left:.25rem solid var(--medium);padding:.3rem .6rem;margin:.6rem "
    "0;background:var(--card);overflow-wrap:anywhere}"
    ".counts{display:flex;flex-wrap:wrap;gap:.5rem;margin:1rem 0}"
    "button{font:inherit;color:inherit;background:var(--card);border:1px solid "
    "var(--line);border-radius:.4rem;padding:.3rem .8rem;cursor:pointer}"
    "button[aria-pressed=true]{border-color:currentColor;box-shadow:inset 0 0 0 1px currentColor}"
    ".HIGH{color:var(--high)}.MEDIUM{color:var(--medium)}.LOW{color:var(--low)}.INFO{color:var(--info)}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid "
    "var(--line)}th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}"
    ".bar{position:sticky;top:0;display:flex;gap:.75rem;align-items:center;padding:.6rem "
    "0;background:var(--bg);z-index:1}"
    ".bar[hidden]{display:none}"
    "input{flex:1;min-width:0;font:inherit;color:inherit;background:var(--card);border:1px solid "
    "var(--line);border-radius:.4rem;padding:.45rem .7rem}"
    ".finding{border:1px solid var(--line);border-radius:.5rem;background:var(--card);padding:.8rem 1rem;margin:0 0 "
    ".8rem;scroll-margin-top:4rem}"
    ".finding[hidden]{display:none}.finding:focus,:focus-visible{outline:2px solid var(--link);outline-offset:1px}"
    ".severity{font-weight:700;font-size:.85rem;margin-right:.4rem}.answered h2{opacity:.7}"
    "details{margin:.5rem 0}summary{cursor:pointer;color:var(--dim);font-size:.9rem}"
    "pre{margin:.3rem 0 0;padding:.4rem 0;overflow-x:auto;background:var(--code);border:1px solid "
    "var(--line);border-radius:.4rem;"
    "font:.85rem/1.45 ui-monospace,monospace;tab-size:4}"
    "pre.patch{padding:.4rem .8rem}"
    "pre span{display:block;min-width:max-content;padding-right:.8rem}"
    "pre "
    "span::before{content:attr(data-n);display:inline-block;width:3.5rem;padding-right:.8rem;text-align:right;color:"
    "var(--dim);user-select:none}"
    "pre .cited{background:var(--cited)}pre "
    ".evidence{font-weight:700}mark{background:var(--mark);color:inherit;border-radius:.2rem}"
    "dl{margin:.4rem 0 0;display:grid;grid-template-columns:max-content 1fr;gap:.1rem "
    ".8rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}"
    "footer{margin-top:2rem;color:var(--dim);font-size:.85rem}kbd{border:1px solid "
    "var(--line);border-radius:.2rem;padding:0 .3rem}"
    "@media (max-width:40rem){body{padding:.6rem}.finding{padding:.6rem .7rem}dl{display:block}dd{margin:0 0 .3rem}"
    "pre span::before{width:2.6rem;padding-right:.5rem}.counts button{flex:1;padding:.3rem .2rem;white-space:nowrap}}"
    "@media print{.bar,footer{display:none}.finding{break-inside:avoid}}";

static const char script[] =
    "(function(){'use strict';"
    "function all(s){return Array.prototype.slice.call(document.querySelectorAll(s))}"
    "var "
    "box=document.getElementById('filter'),count=document.getElementById('shown'),none=document.getElementById('none');"
    "var cards=all('.finding'),toggles=all('button[data-severity]'),links=all('a[data-file]');"
    "var texts=cards.map(function(c){return c.textContent.toLowerCase()});"
    "function apply(){var words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);"
    "var on=toggles.filter(function(b){return b.getAttribute('aria-pressed')==='true'}).map(function(b){return "
    "b.dataset.severity});"
    "var n=0;cards.forEach(function(c,i){"
    "var ok=(!on.length||on.indexOf(c.dataset.severity)>=0)&&words.every(function(w){return texts[i].indexOf(w)>=0});"
    "c.hidden=!ok;if(ok)n++});"
    "count.textContent=n+' of '+cards.length;none.hidden=n>0||!cards.length}"
    "function move(step){var seen=cards.filter(function(c){return !c.hidden});if(!seen.length)return;"
    "var at=seen.indexOf(document.activeElement.closest('.finding'));"
    "at=at<0?(step>0?0:seen.length-1):Math.max(0,Math.min(seen.length-1,at+step));"
    "seen[at].focus();seen[at].scrollIntoView({block:'nearest'})}"
    "box.addEventListener('input',apply);"
    "toggles.forEach(function(b){b.addEventListener('click',function(){"
    "b.setAttribute('aria-pressed',b.getAttribute('aria-pressed')==='true'?'false':'true');apply()})});"
    "links.forEach(function(a){a.addEventListener('click',function(e){e.preventDefault();box.value=a.dataset.file;"
    "apply();box.focus()})});"
    "document.addEventListener('keydown',function(e){if(e.ctrlKey||e.metaKey||e.altKey)return;var "
    "typing=e.target===box;"
    "if(e.key==='Escape'){box.value='';toggles.forEach(function(b){b.setAttribute('aria-pressed','false')});apply();"
    "box.blur();return}"
    "if(e.key==='ArrowDown'&&typing){e.preventDefault();move(1);return}"
    "if(typing)return;"
    "if(e.key==='/'){e.preventDefault();box.focus();box.select()}"
    "else if(e.key==='j'||e.key==='n')move(1);"
    "else if(e.key==='k'||e.key==='p')move(-1);"
    "else if(e.key==='Enter'&&e.target.classList&&e.target.classList.contains('finding')){"
    "var d=e.target.querySelector('details');if(d)d.open=!d.open}});"
    "document.getElementById('bar').hidden=!cards.length;apply()})();";

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
static void put_hash(FILE *f, const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char d[MYTH_SHA256_BYTES + 1] = {0};
    myth_sha256 s;
    myth_sha256_start(&s);
    myth_sha256_add(&s, text, strlen(text));
    myth_sha256_end(&s, d);
    fputs("'sha256-", f);
    for (int i = 0; i < MYTH_SHA256_BYTES; i += 3) {
        uint32_t v = (uint32_t)d[i] << 16 | (uint32_t)d[i + 1] << 8 | (i + 2 < MYTH_SHA256_BYTES ? d[i + 2] : 0);
        for (int k = 0; k < (i + 2 < MYTH_SHA256_BYTES ? 4 : 3); k++)
            fputc(digit[v >> (18 - 6 * k) & 63], f);
    }
    fputs("='", f);
}

/* ---- head and overview ---- */

static void head(FILE *f, const myth_report *r)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
          "'none'; img-src data:; style-src ",
          f);
    put_hash(f, style);
    fputs("; script-src ", f);
    put_hash(f, script);
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>mythos: ", f);
    myth_show_title(r, put_html, f);
    fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>mythos: ", style);
    myth_show_title(r, put_body, f);
    fputs("</h1>\n<p class=\"dim\">", f);
    myth_show_cstr(r, r->model, put_body, f);
    fprintf(f, " &middot; %u prompt tokens", r->prompt_tokens);
    if (r->n_part > 1)
        fprintf(f, " in %u parts", r->n_part);
    if (r->n_round)
        fprintf(f, ", %u more with context that was asked for", r->round_tokens);
    fputs(" &middot; ", f);
    words(f, r->finish_reason);
    if (r->mark && myth_report_n_suppressed(r))
        fprintf(f, " &middot; %u suppressed", myth_report_n_suppressed(r));
    if (r->has_baseline)
        fprintf(f, " &middot; %u in the baseline", myth_report_n_known(r));
    fputs("</p>\n", f);
}

/* Lists what was not inspected, each entry with its reason. */
static void missed(FILE *f, const myth_report *r)
{
    if (!r->n_missed)
        return;
    fputs("<div class=\"note\"><p>Not inspected:</p>\n<ul>\n", f);
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
    fputs("</ul></div>\n", f);
}

static void notes(FILE *f, const myth_report *r)
{
    if (!r->complete) {
        fputs("<p class=\"note\" role=\"status\">The inspection is incomplete: ", f);
        myth_show_cstr(r, myth_report_incomplete(r), put_body, f);
        if (r->n_dropped)
            fprintf(f, "; %u unfinished finding%s dropped", r->n_dropped, myth_s(r->n_dropped));
        fputs("</p>\n", f);
    }
    missed(f, r);
    for (uint32_t i = 0; r->refusal && i < r->refusal->n_remedy; i++) {
        fputs("<p class=\"note\">", f);
        myth_show_cstr(r, r->refusal->remedy[i], put_body, f);
        fputs("</p>\n", f);
    }
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

static void file_row(FILE *f, const myth_report *r, const myth_source *src, bool is_context)
{
    uint32_t n[MYTH_SEVERITY_N];
    count(n, r, src);
    fputs("<tr><td><a href=\"#findings\" data-file=\"", f);
    myth_show_file(src->path, put_html, f);
    fputs("\">", f);
    myth_show_file(src->path, put_body, f);
    fprintf(f, "</a>%s</td>", is_context ? " <span class=\"dim\">context</span>" : "");
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        fprintf(f, "<td>%u</td>", n[v]);
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

static void overview(FILE *f, const myth_report *r)
{
    uint32_t n[MYTH_SEVERITY_N];
    count(n, r, NULL);
    fputs("</header>\n<section aria-label=\"Overview\">\n<div class=\"counts\">\n", f);
    for (int v = 0; v < MYTH_SEVERITY_N; v++) {
        const char *name = myth_severity_name((myth_severity)v);
        fprintf(
            f,
            "<button type=\"button\" class=\"%s\" data-severity=\"%s\" aria-pressed=\"false\"><b>%u</b> %s</button>\n",
            name, name, n[v], name);
    }
    fputs("</div>\n", f);
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

/* ---- findings ---- */

static void code(FILE *f, const myth_report *r, uint32_t i)
{
    const myth_finding *w = &r->finding[i];
    const myth_source *src = r->block[w->block].src;
    uint32_t first = w->first > CONTEXT_LINES ? w->first - CONTEXT_LINES : 1;
    uint32_t last =
        w->last < src->n_line - CONTEXT_LINES && src->n_line > CONTEXT_LINES ? w->last + CONTEXT_LINES : src->n_line;
    if (last - first >= CODE_LINES) { /* of a long range show the part around the evidence */
        uint32_t at = r->citation[i].line;
        first = at > first + CODE_LINES / 2 ? at - CODE_LINES / 2 : first;
        last = last - first >= CODE_LINES ? first + CODE_LINES - 1 : last;
    }
    fputs("<details open><summary>Code</summary>\n<pre tabindex=\"0\" aria-label=\"code\"><code>", f);
    for (uint32_t n = first; n <= last; n++) {
        bool is_cited = n >= w->first && n <= w->last, is_evidence = n == r->citation[i].line;
        fprintf(f, "<span data-n=\"%u\"%s>", n,
                is_evidence ? " class=\"cited evidence\""
                : is_cited  ? " class=\"cited\""
                            : "");
        myth_show_line(r, src, n, r->citation[i].off, put_body, f);
        fputs("</span>", f);
    }
    fputs("</code></pre></details>\n", f);
}

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
    fprintf(f,
            "<article class=\"finding%s\" id=\"f%u\" tabindex=\"-1\" data-severity=\"%s\">\n<h2><span class=\"severity "
            "%s\">%s</span>",
            myth_report_is_active(r, i) ? "" : " answered", i + 1, severity, severity, severity);
    myth_show_issue(r, i, put_body, f);
    fprintf(f, "</h2>\n<p class=\"dim\"><a href=\"#f%u\">", i + 1);
    myth_show_file(myth_show_path(r, i), put_body, f);
    fprintf(f, ":%u", w->first);
    if (w->last > w->first)
        fprintf(f, "-%u", w->last);
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
    code(f, r, i);
    if (w->why.len || w->fix.len || w->missing.len) {
        fputs("<dl>\n", f);
        detail(f, r, "Why", w->why);
        detail(f, r, "Fix", w->fix);
        detail(f, r, "Missing", w->missing);
        fputs("</dl>\n", f);
    }
    if (r->patch && r->patch[i].text)
        put_patch(f, r, i);
    fputs("</article>\n", f);
}

void myth_render_html(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    head(f, r);
    overview(f, r);
    fprintf(f,
            "<div class=\"bar\" id=\"bar\" role=\"search\"><input id=\"filter\" type=\"search\" placeholder=\"Filter "
            "findings\" "
            "aria-label=\"Filter findings\" autocomplete=\"off\" spellcheck=\"false\"><output id=\"shown\" "
            "for=\"filter\" aria-live=\"polite\">%u of %u"
            "</output></div>\n<main id=\"findings\">\n",
            r->n_finding, r->n_finding);
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        for (uint32_t i = 0; i < r->n_finding; i++)
            if (r->finding[i].severity == (myth_severity)v)
                finding(f, r, i);
    fprintf(f, "<p id=\"none\" class=\"dim\" hidden>Nothing matches.</p>\n%s</main>\n",
            r->n_finding ? "" : "<p>No findings.</p>\n");
    fprintf(f,
            "<footer><p><kbd>/</kbd> filter &middot; <kbd>j</kbd> <kbd>k</kbd> next, previous &middot; "
            "<kbd>Enter</kbd> code &middot; "
            "<kbd>Esc</kbd> clear</p><p>mythos %s</p></footer>\n<script>%s</script>\n</body>\n</html>\n",
            MYTHOS_VERSION, script);
}
