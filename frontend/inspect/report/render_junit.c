/* render_junit.c - the XML of JUnit, which build servers and GitLab show as test results.
 *
 *   <testsuites name="mythos" tests="2" failures="1" errors="0">
 *   <testsuite name="src" tests="2" failures="1" errors="0">
 *   <testcase classname="mythos.double-free" name="src/a.c: issue (1a2b3c4d)" file="src/a.c" line="3">
 *   <failure type="double-free" message="issue">src/a.c:3-4: high
 *   ...</failure>
 *   </testcase>
 *   <testcase classname="mythos.inspected" name="src/b.c" file="src/b.c"/>
 *   ...
 *
 * Entries  an error that says why the report is not complete, an error for each row of `missed`, a failure for each
 *          active finding, and a case that passes for each inspected file without any of these: a report without
 *          findings has results, too, which build servers want. A document that a change touches is no case where rules
 *          alone look, as they pass it by
 * Skipped  where what is missing does not fail the run, its rows are skipped and no errors: then the file and the exit
 *          code say the same
 * Name     readers compare two runs by class and name, and of equal ones some show the first: a finding's has the begin
 *          of its fingerprint, so that it stays when lines move; without fingerprints its line
 * Class    readers take what stands in front of the last dot as a package, so it is not the path
 * Time     none: the same inspection gives the same bytes
 * Source   Jenkins' junit-10.xsd and GitLab's page on unit test reports; there is no other standard */
#include "outputs.h"
#include "retrieval/retrieval.h"
#include "show.h"

#include <string.h>

enum { PRINT_CHARS = 8 }; /* of the fingerprint */

static void put_text(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    myth_show_markup(user, text, len, false);
}

/* path NULL: the title of the inspection. The name's quotes stay open. */
static void begin(FILE *f, const myth_report *r, const char *class, const char *path)
{
    fprintf(f, "<testcase classname=\"mythos.%s\" name=\"", class);
    if (path)
        myth_show_file(path, myth_show_attribute, f);
    else
        myth_show_title(r, myth_show_attribute, f);
}

/* Closes the name's quotes, and says where it is. */
static void place(FILE *f, const char *path, uint32_t line)
{
    fputc('"', f);
    if (path) {
        fputs(" file=\"", f);
        myth_show_file(path, myth_show_attribute, f);
        fputc('"', f);
    }
    if (line)
        fprintf(f, " line=\"%u\"", line);
}

static void finding(FILE *f, const myth_report *r, uint32_t i)
{
    const myth_finding *w = &r->finding[i];
    const char *id = myth_rules[w->rule].id, *path = myth_show_path(r, i);
    begin(f, r, id, path);
    fputs(": ", f);
    myth_show_issue(r, i, myth_show_attribute, f);
    if (r->mark)
        fprintf(f, " (%.*s)", (int)PRINT_CHARS, r->mark[i].fingerprint.text);
    else
        fprintf(f, " (line %u)", w->first);
    place(f, path, w->first);
    fprintf(f, ">\n<failure type=\"%s\" message=\"", id);
    myth_show_issue(r, i, myth_show_attribute, f);
    fputs("\">", f);
    myth_show_file(path, put_text, f);
    fprintf(f, ":%u-%u: %s\n", w->first, w->last, myth_severity_name(w->severity));
    myth_show_evidence(r, i, put_text, f);
    if (w->why.len) {
        fputc('\n', f);
        myth_show_text(r, w->why, put_text, f);
    }
    if (w->fix.len) {
        fputs("\nFix: ", f);
        myth_show_text(r, w->fix, put_text, f);
    }
    fputs("</failure>\n</testcase>\n", f);
}

/* What was not inspected, or, with m NULL, why the report is not complete. */
static void incomplete(FILE *f, const myth_report *r, const myth_missed *m)
{
    const char *type = m ? "not-inspected" : "incomplete";
    begin(f, r, type, m ? m->path : NULL);
    if (m && m->first)
        fprintf(f, " lines %u-%u", m->first, m->last);
    place(f, m ? m->path : NULL, m ? m->first : 0);
    if (r->is_lack_allowed)
        fputs(">\n<skipped message=\"", f);
    else
        fprintf(f, ">\n<error type=\"%s\" message=\"", type);
    myth_show_cstr(r, m ? m->why : myth_report_incomplete(r), myth_show_attribute, f);
    fputs("\"/>\n</testcase>\n", f);
}

/* Whether a subject was looked at: rules pass by documents, and all else that is in no language of theirs. */
static bool was_read(const myth_report *r, const myth_source *src)
{
    return !r->by_rules_alone || myth_candidates_has(myth_detect_language(src->path, src->bytes, src->len));
}

/* Whether nothing is said about a file that was inspected. */
static bool passes(const myth_report *r, const char *path)
{
    for (uint32_t i = 0; i < r->n_missed; i++)
        if (!strcmp(r->missed[i].path, path))
            return false;
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i) && !strcmp(myth_show_path(r, i), path))
            return false;
    return true;
}

/* Prints the cases that pass, or with f NULL only counts them. */
static uint32_t put_passing(FILE *f, const myth_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_file; i++) {
        const char *path = r->file[i].src->path;
        if (!r->file[i].is_subject || !was_read(r, r->file[i].src) || !passes(r, path))
            continue;
        n++;
        if (!f)
            continue;
        begin(f, r, "inspected", path);
        place(f, path, 0);
        fputs("/>\n", f);
    }
    return n;
}

void myth_render_junit(FILE *f, const myth_report *r, const myth_term *t)
{
    uint32_t n_failure = 0;
    const uint32_t n_skipped = r->is_lack_allowed ? r->n_missed : 0,
                   n_error = r->is_lack_allowed ? 0 : r->n_missed + !r->complete, n_file = put_passing(NULL, r);
    (void)t;
    for (uint32_t i = 0; i < r->n_finding; i++)
        n_failure += myth_report_is_active(r, i);
    const bool is_empty = n_failure + n_error + n_skipped + n_file == 0; /* the inspection as a whole passes */
    const uint32_t n = n_failure + n_error + n_skipped + n_file + is_empty;
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mythos\" tests=\"%u\" failures=\"%u\" "
            "errors=\"%u\">\n<testsuite name=\"",
            n, n_failure, n_error);
    myth_show_title(r, myth_show_attribute, f);
    fprintf(f, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\"", n, n_failure, n_error);
    if (n_skipped)
        fprintf(f, " skipped=\"%u\"", n_skipped);
    fputs(">\n", f);
    if (!r->complete && !r->is_lack_allowed)
        incomplete(f, r, NULL);
    for (uint32_t i = 0; i < r->n_missed; i++)
        incomplete(f, r, &r->missed[i]);
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i))
            finding(f, r, i);
    put_passing(f, r);
    if (is_empty) {
        begin(f, r, "inspected", NULL);
        fputs("\"/>\n", f);
    }
    fputs("</testsuite>\n</testsuites>\n", f);
}
