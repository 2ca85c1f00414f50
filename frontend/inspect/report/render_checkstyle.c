/* render_checkstyle.c - the XML of Checkstyle, which the importers of many code hosts and build servers read.
 *
 *   <file name="src/a.c"><error line="3" column="5" severity="error" message="..." source="mythos.double-free"/></file>
 *
 * Entries  first one that says why the report is not complete, then one for each row of `missed` and for each active
 *          finding. Those about one path share a file element; the elements are in the order of their first entries
 * Line     a finding's first one. 0 is Checkstyle's word for the whole file
 * Column   in characters from 1: where the evidence begins, if that is on the entry's line
 * Source   of the form: Checkstyle, XMLLogger. Readers take what follows the last dot of `source` as the kind of error
 * Escapes  every value is an attribute. myth_show_markup writes references, and replaces what XML 1.0 forbids */
#include "outputs.h"
#include "show.h"

#include <string.h>

/* Some readers refuse a document without a version; this one is what other tools that write the form claim. */
#define FORM_VERSION "4.3"

/* The column of finding i's evidence; 0 = it does not begin on the finding's first line. */
static uint32_t evidence_column(const myth_report *r, uint32_t i)
{
    const myth_citation *c = &r->citation[i];
    const myth_source *src = r->block[r->finding[i].block].src;
    if (!c->len || c->line != r->finding[i].first)
        return 0;
    return myth_show_column(src, c->line, (uint32_t)(c->off - src->line[c->line - 1].off));
}

static void finding(FILE *f, const myth_report *r, uint32_t i)
{
    static const char *const level[MYTH_SEVERITY_N] = {"error", "warning", "info", "info"};
    const myth_finding *w = &r->finding[i];
    const uint32_t column = evidence_column(r, i);
    fprintf(f, "<error line=\"%u\"", w->first);
    if (column)
        fprintf(f, " column=\"%u\"", column);
    fprintf(f, " severity=\"%s\" message=\"", level[w->severity]);
    myth_show_issue(r, i, myth_show_attribute, f);
    if (w->why.len) {
        myth_show_attribute(f, "\n", 1, false);
        myth_show_text(r, w->why, myth_show_attribute, f);
    }
    if (w->fix.len) {
        myth_show_attribute(f, "\nFix: ", 6, false);
        myth_show_text(r, w->fix, myth_show_attribute, f);
    }
    fprintf(f, "\" source=\"mythos.%s\"/>\n", myth_rules[w->rule].id);
}

static void not_inspected(FILE *f, const myth_report *r, const myth_missed *m)
{
    fprintf(f, "<error line=\"%u\" severity=\"warning\" message=\"Not inspected: ", m->first);
    myth_show_cstr(r, m->why, myth_show_attribute, f);
    fputs("\" source=\"mythos.not-inspected\"/>\n", f);
}

static void incomplete(FILE *f, const myth_report *r)
{
    fputs("<error line=\"0\" severity=\"warning\" message=\"The inspection is incomplete: ", f);
    myth_show_cstr(r, myth_report_incomplete(r), myth_show_attribute, f);
    fputs("\" source=\"mythos.incomplete\"/>\n", f);
}

/* Entries are counted through: 0 is about the report, then come the rows of `missed`, then the findings. */
static uint32_t n_entry(const myth_report *r) { return 1 + r->n_missed + r->n_finding; }

/* The path that entry e is about; NULL = the entry is not shown. */
static const char *entry_path(const myth_report *r, uint32_t e)
{
    if (e == 0)
        return r->complete ? NULL : r->path;
    if (e <= r->n_missed)
        return r->missed[e - 1].path;
    e -= 1 + r->n_missed;
    return myth_report_is_active(r, e) ? myth_show_path(r, e) : NULL;
}

static bool is_in_file(const myth_report *r, uint32_t e, const char *path)
{
    const char *own = entry_path(r, e);
    return own && (own == path || !strcmp(own, path));
}

static bool is_first_of_file(const myth_report *r, uint32_t e)
{
    const char *path = entry_path(r, e);
    for (uint32_t before = 0; path && before < e; before++)
        if (is_in_file(r, before, path))
            return false;
    return path != NULL;
}

static void file_element(FILE *f, const myth_report *r, uint32_t first)
{
    const char *path = entry_path(r, first);
    fputs("<file name=\"", f);
    if (first == 0)
        myth_show_title(r, myth_show_attribute, f);
    else
        myth_show_file(path, myth_show_attribute, f);
    fputs("\">\n", f);
    for (uint32_t e = first; e < n_entry(r); e++) {
        if (!is_in_file(r, e, path))
            continue;
        if (e == 0)
            incomplete(f, r);
        else if (e <= r->n_missed)
            not_inspected(f, r, &r->missed[e - 1]);
        else
            finding(f, r, e - 1 - r->n_missed);
    }
    fputs("</file>\n", f);
}

void myth_render_checkstyle(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"" FORM_VERSION "\">\n", f);
    for (uint32_t e = 0; e < n_entry(r); e++)
        if (is_first_of_file(r, e))
            file_element(f, r, e);
    fputs("</checkstyle>\n", f);
}
