/* render_codequality.c - GitLab's Code Quality, which a merge request shows beside the lines: an array of
 *
 *   {"description": "...", "check_name": "double-free", "fingerprint": "...", "severity": "critical",
 *    "location": {"path": "src/a.c", "lines": {"begin": 3, "end": 4}}}
 *
 * Entries   first one that says why the report is not complete, then one for each row of `missed` and for each active
 *           finding
 * Severity  HIGH is critical, MEDIUM major, LOW minor; what was not inspected is major
 * Finger-   GitLab shows what the report of the target branch has not, and of equal ones the first: a finding has its
 *   print   own, the others a hash of what they say
 * Lines     an entry about a whole file has its first one, because the form knows no entry without
 * Source    GitLab, Code Quality report format */
#include "outputs.h"
#include "show.h"

#include "frontend/inspect/secrets/sha256.h"

#include <string.h>

/* What is the same of all entries. The caller has opened "description". */
typedef struct {
    const char *check, *severity, *path; /* path NULL: the title of the inspection */
    uint32_t first, last;
} entry;

static void begin(myth_json_out *j, const char *words)
{
    myth_jout_object(j);
    myth_jout_key(j, "description");
    myth_jout_text_begin(j);
    myth_jout_text_part(j, words, strlen(words));
}

static void end(myth_json_out *j, const myth_report *r, const entry *e, const char *fingerprint)
{
    myth_jout_text_end(j);
    myth_jout_key_str(j, "check_name", e->check);
    myth_jout_key_str(j, "fingerprint", fingerprint);
    myth_jout_key_str(j, "severity", e->severity);
    myth_jout_key(j, "location");
    myth_jout_object(j);
    myth_jout_key(j, "path");
    myth_jout_text_begin(j);
    if (e->path)
        myth_show_file(e->path, myth_show_in_json, j);
    else
        myth_show_title(r, myth_show_in_json, j);
    myth_jout_text_end(j);
    myth_jout_key(j, "lines");
    myth_jout_object(j);
    myth_jout_key_u64(j, "begin", e->first ? e->first : 1);
    myth_jout_key_u64(j, "end", e->last ? e->last : 1);
    for (int i = 0; i < 3; i++) /* lines, location, the entry */
        myth_jout_end(j);
}

/* A fingerprint of the entry, for those that have no other. */
static void hash(char dst[MYTH_FINGERPRINT_LEN + 1], const myth_report *r, const entry *e, const char *why)
{
    char lines[32];
    const char *text[] = {e->check, e->path ? e->path : r->path, lines, why};
    unsigned char digest[MYTH_SHA256_BYTES];
    myth_sha256 s;
    snprintf(lines, sizeof(lines), "%u-%u", e->first, e->last);
    myth_sha256_start(&s);
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        myth_sha256_add(&s, text[i], strlen(text[i]) + 1);
    myth_sha256_end(&s, digest);
    myth_sha256_hex(dst, digest, MYTH_FINGERPRINT_LEN);
}

/* What was not inspected, or, with m NULL, why the report is not complete. */
static void incomplete(myth_json_out *j, const myth_report *r, const myth_missed *m)
{
    const char *why = m ? m->why : myth_report_incomplete(r);
    const entry e = m ? (entry){"not-inspected", "major", m->path, m->first, m->last}
                      : (entry){.check = "incomplete", .severity = "major"};
    char fingerprint[MYTH_FINGERPRINT_LEN + 1];
    hash(fingerprint, r, &e, why);
    begin(j, m ? "Not inspected: " : "The inspection is incomplete: ");
    myth_show_cstr(r, why, myth_show_in_json, j);
    end(j, r, &e, fingerprint);
}

static void finding(myth_json_out *j, const myth_report *r, uint32_t i)
{
    static const char *const severity[MYTH_SEVERITY_N] = {"critical", "major", "minor", "info"};
    const myth_finding *f = &r->finding[i];
    const entry e = {myth_rules[f->rule].id, severity[f->severity], myth_show_path(r, i), f->first, f->last};
    char own[MYTH_FINGERPRINT_LEN + 1];
    hash(own, r, &e, "");
    begin(j, "");
    myth_show_issue(r, i, myth_show_in_json, j);
    if (f->why.len) {
        myth_jout_text_part(j, "\n", 1);
        myth_show_text(r, f->why, myth_show_in_json, j);
    }
    if (f->fix.len) {
        myth_jout_text_part(j, "\nFix: ", 6);
        myth_show_text(r, f->fix, myth_show_in_json, j);
    }
    end(j, r, &e, r->mark ? r->mark[i].fingerprint.text : own);
}

void myth_render_codequality(FILE *f, const myth_report *r, const myth_term *t)
{
    myth_json_out j;
    (void)t;
    myth_jout_start(&j, f);
    myth_jout_array(&j);
    if (!r->complete)
        incomplete(&j, r, NULL);
    for (uint32_t i = 0; i < r->n_missed; i++)
        incomplete(&j, r, &r->missed[i]);
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i))
            finding(&j, r, i);
    myth_jout_end(&j);
}
