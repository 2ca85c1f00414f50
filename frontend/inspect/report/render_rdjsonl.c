/* render_rdjsonl.c - reviewdog's Diagnostic, one a line.   Source: reviewdog, proto/rdf/reviewdog.proto and its JSON
 * form. */
#include "outputs.h"
#include "show.h"

#include "frontend/cli/json_out.h"

#include <string.h>

static void line_object(myth_json_out *j, const char *key, uint32_t line)
{
    myth_jout_key(j, key);
    myth_jout_object(j);
    myth_jout_key_u64(j, "line", line);
    myth_jout_end(j);
}

/* Whole lines, so without columns; the last one's end stays. */
static void suggestion(myth_json_out *j, const myth_patch *p)
{
    myth_jout_key(j, "suggestions");
    myth_jout_array(j);
    myth_jout_object(j);
    myth_jout_key(j, "range");
    myth_jout_object(j);
    line_object(j, "start", p->first);
    line_object(j, "end", p->last);
    myth_jout_end(j);
    myth_jout_key(j, "text");
    myth_jout_text_begin(j);
    myth_jout_text_part(j, p->text, myth_show_without_end(p->text, p->n));
    myth_jout_text_end(j);
    myth_jout_end(j);
    myth_jout_end(j);
}

/* {"source":{"name":"mythos"},"code":{"value":...}} of a diagnostic. */
static void source_and_code(myth_json_out *j, const char *code)
{
    myth_jout_key(j, "source");
    myth_jout_object(j);
    myth_jout_key_str(j, "name", "mythos");
    myth_jout_end(j);
    myth_jout_key(j, "code");
    myth_jout_object(j);
    myth_jout_key_str(j, "value", code);
    myth_jout_end(j);
}

static void diagnostic(FILE *f, const myth_report *r, uint32_t i)
{
    static const char *const level[MYTH_SEVERITY_N] = {"ERROR", "WARNING", "INFO", "INFO"};
    const myth_finding *w = &r->finding[i];
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key(&j, "message");
    myth_jout_text_begin(&j);
    myth_show_issue(r, i, myth_show_in_json, &j);
    if (w->why.len) {
        myth_jout_text_part(&j, "\n", 1);
        myth_show_text(r, w->why, myth_show_in_json, &j);
    }
    if (w->fix.len) {
        myth_jout_text_part(&j, "\nFix: ", 6);
        myth_show_text(r, w->fix, myth_show_in_json, &j);
    }
    myth_jout_text_end(&j);
    myth_jout_key(&j, "location");
    myth_jout_object(&j);
    myth_jout_key(&j, "path");
    myth_jout_text_begin(&j);
    myth_show_file(myth_show_path(r, i), myth_show_in_json, &j);
    myth_jout_text_end(&j);
    myth_jout_key(&j, "range");
    myth_jout_object(&j);
    line_object(&j, "start", w->first);
    line_object(&j, "end", w->last);
    myth_jout_end(&j);
    myth_jout_end(&j);
    myth_jout_key_str(&j, "severity", level[w->severity]);
    source_and_code(&j, myth_rules[w->rule].id);
    if (r->patch && r->patch[i].text)
        suggestion(&j, &r->patch[i]);
    myth_jout_end(&j);
}

/* A diagnostic about the run: what was not inspected, or, with m NULL, why the report is not complete. */
static void incomplete(FILE *f, const myth_report *r, const myth_missed *m)
{
    const char *head = m ? "Not inspected: " : "The inspection is incomplete: ";
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key(&j, "message");
    myth_jout_text_begin(&j);
    myth_jout_text_part(&j, head, strlen(head));
    myth_show_cstr(r, m ? m->why : myth_report_incomplete(r), myth_show_in_json, &j);
    myth_jout_text_end(&j);
    myth_jout_key(&j, "location");
    myth_jout_object(&j);
    myth_jout_key(&j, "path");
    myth_jout_text_begin(&j);
    if (m)
        myth_show_file(m->path, myth_show_in_json, &j);
    else
        myth_show_title(r, myth_show_in_json, &j);
    myth_jout_text_end(&j);
    if (m && m->first) {
        myth_jout_key(&j, "range");
        myth_jout_object(&j);
        line_object(&j, "start", m->first);
        line_object(&j, "end", m->last);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_jout_key_str(&j, "severity", "WARNING");
    source_and_code(&j, m ? "not-inspected" : "incomplete");
    myth_jout_end(&j);
}

void myth_render_rdjsonl(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    if (!r->complete)
        incomplete(f, r, NULL);
    for (uint32_t i = 0; i < r->n_missed; i++)
        incomplete(f, r, &r->missed[i]);
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i))
            diagnostic(f, r, i);
}
