/* render_sarif.c - SARIF 2.1.0: one run, the whole rule table with its CWE taxa, every finding as a result.
 *
 * Levels   HIGH is error, MEDIUM warning, LOW and INFO note. Code hosts sort by the number in security-severity
 * Rules    with what mends their findings, as help, and the page of their CWE
 * Paths    percent-encoded bytes of the path as given: relative ones stay relative, absolute ones are file:// URIs
 * Columns  in code points. The region of a finding of one line is the part that the evidence is, with the line as
 *          contextRegion; others are whole lines
 * Fixes    only those that are patches (patch.h): the region of the lines that change, without the last one's line end,
 *          and the text to put there
 * Missed   one notification for each reason, with all places
 * Failed   the execution was not successful when the report is incomplete for another reason than unknown languages
 * Summary  of a change: a property of the run, as in the JSON form
 * Limits   code hosts take at most MYTH_SARIF_RESULT_MAX results of one run: the most severe are written, and a
 *          notification says how many are left out. There is one run and no code flow
 * Source   OASIS SARIF 2.1.0, sections 3.14 (run), 3.20 (invocation), 3.27 (result), 3.35 (suppression) */
#include "outputs.h"
#include "show.h"

#include "frontend/cli/json_out.h"
#include "version.h"

#include <string.h>

/* TOKEN_MAX: how many placeholders are listed at most. SNIPPET_LINES: how many lines of a finding are quoted. */
enum { TOKEN_MAX = 512, SNIPPET_LINES = 20 };

typedef struct {
    myth_json_out j;
    const myth_report *r;
    char token[TOKEN_MAX][MYTH_PLACEHOLDER_CAP]; /* the placeholders written so far, each once, for redactionTokens */
    uint32_t n_token;
    uint32_t left[MYTH_SEVERITY_N]; /* results of a severity that may still be written */
} sarif;

/* ---- texts ---- */

static void keep_token(sarif *s, const char *name, size_t len)
{
    for (uint32_t i = 0; i < s->n_token; i++)
        if (strlen(s->token[i]) == len && !memcmp(s->token[i], name, len))
            return;
    if (s->n_token < TOKEN_MAX) {
        memcpy(s->token[s->n_token], name, len);
        s->token[s->n_token++][len] = '\0';
    }
}

/* Writes a piece of a text into the JSON string that is open; `user` is the sarif. */
static void put_part(void *user, const char *text, size_t len, bool is_placeholder)
{
    sarif *s = user;
    if (is_placeholder)
        keep_token(s, text, len);
    const char *shown;
    size_t n;
    for (size_t i = 0; i < len;) {
        i += myth_show_one(&shown, &n, text + i, len - i);
        myth_jout_text_part(&s->j, shown, n);
    }
}

static void key_text(sarif *s, const char *key, myth_str v)
{
    myth_jout_key(&s->j, key);
    myth_jout_text_begin(&s->j);
    myth_show_text(s->r, v, put_part, s);
    myth_jout_text_end(&s->j);
}

static void key_object(sarif *s, const char *key)
{
    myth_jout_key(&s->j, key);
    myth_jout_object(&s->j);
}

static void key_array(sarif *s, const char *key)
{
    myth_jout_key(&s->j, key);
    myth_jout_array(&s->j);
}

/* Writes "key": {"text": ...} with words of this program, which hold no secret and need not be redacted. */
static void key_message(sarif *s, const char *key, const char *text)
{
    key_object(s, key);
    myth_jout_key_str(&s->j, "text", text);
    myth_jout_end(&s->j);
}

static void put_uri(void *user, const char *text, size_t len, bool is_placeholder)
{
    sarif *s = user;
    if (is_placeholder)
        keep_token(s, text, len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        char hex[4] = {'%', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15], 0};
        bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
        myth_jout_text_part(&s->j, is_plain ? text + i : hex, is_plain ? 1 : 3);
    }
}

/* Finds the file's index in run.artifacts; false when it is not listed there. */
static bool artifact_index(const sarif *s, const myth_source *src, uint32_t *index)
{
    for (*index = 0; *index < s->r->n_file; ++*index)
        if (s->r->file[*index].src == src)
            return true;
    return false;
}

static void uri(sarif *s, const char *path)
{
    myth_jout_key(&s->j, "uri");
    myth_jout_text_begin(&s->j);
    if (path[0] == '/')
        myth_jout_text_part(&s->j, "file://", 7);
    myth_show_file(path, put_uri, s);
    myth_jout_text_end(&s->j);
}

static void artifact_location(sarif *s, const char *key, const myth_source *src)
{
    uint32_t index;
    key_object(s, key);
    uri(s, src->path);
    if (artifact_index(s, src, &index))
        myth_jout_key_u64(&s->j, "index", index);
    myth_jout_end(&s->j);
}

/* Opens {"physicalLocation":{"artifactLocation":..,"region":{"startLine":..; the region stays open, so that the caller
 * can add to it before place_end. */
static void place_begin(sarif *s, const myth_source *src, uint32_t line)
{
    key_object(s, "physicalLocation");
    artifact_location(s, "artifactLocation", src);
    key_object(s, "region");
    myth_jout_key_u64(&s->j, "startLine", line);
}

static void place_end(sarif *s)
{
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* Lists every file that the model was shown. Those that it was asked to inspect have the role analysisTarget. */
static void artifacts(sarif *s)
{
    if (!s->r->n_file)
        return;
    key_array(s, "artifacts");
    for (uint32_t i = 0; i < s->r->n_file; i++) {
        const myth_report_file *w = &s->r->file[i];
        myth_jout_object(&s->j);
        artifact_location(s, "location", w->src);
        myth_jout_key_u64(&s->j, "length", w->src->len);
        if (w->is_subject) {
            key_array(s, "roles");
            myth_jout_str(&s->j, "analysisTarget");
            myth_jout_end(&s->j);
        }
        myth_jout_end(&s->j);
    }
    myth_jout_end(&s->j);
}

/* ---- tool ---- */

static const char *level_of(myth_severity v)
{
    static const char *const name[MYTH_SEVERITY_N] = {"error", "warning", "note", "note"};
    return name[v];
}

/* Scores within the ranges that code hosts call high (from 7.0), medium (from 4.0) and low. */
static const char *score_of(myth_severity v)
{
    static const char *const score[MYTH_SEVERITY_N] = {"8.0", "5.5", "2.5", "0.5"};
    return score[v];
}

static void cwe_id(char dst[16], const myth_rule *rule) { snprintf(dst, 16, "CWE-%d", rule->cwe); }

/* What mends a finding of the rule, and how it is excused. */
static void help(sarif *s, const myth_rule *rule)
{
    char text[400], page[64];
    snprintf(text, sizeof(text),
             "%s\nTo excuse a finding, write a comment in its line or above it: mythos:ignore[%s] REASON", rule->help,
             rule->id);
    key_message(s, "help", text);
    snprintf(page, sizeof(page), "https://cwe.mitre.org/data/definitions/%d.html", rule->cwe);
    if (rule->cwe)
        myth_jout_key_str(&s->j, "helpUri", page);
}

static void rule_object(sarif *s, const myth_rule *rule)
{
    char id[16], tag[40];
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "id", rule->id);
    myth_jout_key_str(&s->j, "name", rule->id);
    key_message(s, "shortDescription", rule->title);
    key_message(s, "fullDescription", rule->title);
    help(s, rule);
    key_object(s, "defaultConfiguration");
    myth_jout_key_str(&s->j, "level", level_of(rule->severity));
    myth_jout_end(&s->j);
    cwe_id(id, rule);
    if (rule->cwe) {
        key_array(s, "relationships");
        myth_jout_object(&s->j);
        key_object(s, "target");
        myth_jout_key_str(&s->j, "id", id);
        key_object(s, "toolComponent");
        myth_jout_key_str(&s->j, "name", "CWE");
        myth_jout_key_u64(&s->j, "index", 0);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
        key_array(s, "kinds");
        myth_jout_str(&s->j, "superset");
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
    }
    key_object(s, "properties");
    key_array(s, "tags");
    myth_jout_str(&s->j, "security");
    if (rule->cwe) {
        snprintf(tag, sizeof(tag), "external/cwe/cwe-%03d", rule->cwe);
        myth_jout_str(&s->j, tag);
    }
    myth_jout_end(&s->j);
    myth_jout_key_str(&s->j, "security-severity", score_of(rule->severity));
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

static void tool(sarif *s)
{
    key_object(s, "tool");
    key_object(s, "driver");
    myth_jout_key_str(&s->j, "name", "mythos");
    myth_jout_key_str(&s->j, "version", MYTHOS_VERSION);
    myth_jout_key_str(&s->j, "semanticVersion", MYTHOS_VERSION);
    key_array(s, "rules");
    for (uint32_t i = 0; i < myth_rule_count(); i++)
        rule_object(s, &myth_rules[i]);
    myth_jout_end(&s->j);
    key_array(s, "supportedTaxonomies");
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "name", "CWE");
    myth_jout_key_u64(&s->j, "index", 0);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

static void taxonomies(sarif *s)
{
    char id[16];
    key_array(s, "taxonomies");
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "name", "CWE");
    myth_jout_key_str(&s->j, "organization", "MITRE");
    key_message(s, "shortDescription", "Common Weakness Enumeration");
    myth_jout_key_bool(&s->j, "isComprehensive", false);
    key_array(s, "taxa");
    for (uint32_t i = 0; i < myth_rule_count(); i++) {
        if (!myth_rules[i].cwe)
            continue;
        cwe_id(id, &myth_rules[i]);
        myth_jout_object(&s->j);
        myth_jout_key_str(&s->j, "id", id);
        key_message(s, "shortDescription", myth_rules[i].title);
        myth_jout_end(&s->j);
    }
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* ---- invocation ---- */

static void notification_begin(sarif *s, const char *level)
{
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "level", level);
    key_object(s, "message");
    myth_jout_key(&s->j, "text");
    myth_jout_text_begin(&s->j);
}

static void put_words(sarif *s, const char *words) { put_part(s, words, strlen(words), false); }

static void notification_end(sarif *s)
{
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

static void missed_location(sarif *s, const myth_missed *m)
{
    myth_jout_object(&s->j);
    key_object(s, "physicalLocation");
    key_object(s, "artifactLocation");
    uri(s, m->path);
    myth_jout_end(&s->j);
    if (m->first) {
        key_object(s, "region");
        myth_jout_key_u64(&s->j, "startLine", m->first);
        myth_jout_key_u64(&s->j, "endLine", m->last);
        myth_jout_end(&s->j);
    }
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* Writes one notification for all code that was not inspected for the reason of row i, which is the first that has it.
 * The places go after the message, into the same object. */
static void missed(sarif *s, uint32_t i)
{
    const myth_missed *m = &s->r->missed[i];
    char count[32];
    uint32_t n = 0;
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(s->r->missed[k].why, m->why))
            return;
    for (uint32_t k = i; k < s->r->n_missed; k++)
        n += !strcmp(s->r->missed[k].why, m->why);
    notification_begin(s, myth_missed_is_language(m) ? "note" : "error");
    put_words(s, "Not inspected: ");
    snprintf(count, sizeof(count), "%u places", n);
    if (n > 1)
        put_words(s, count);
    else
        myth_show_file(m->path, put_part, s);
    put_words(s, ": ");
    myth_show_cstr(s->r, m->why, put_part, s);
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
    key_array(s, "locations");
    for (uint32_t k = i; k < s->r->n_missed; k++)
        if (!strcmp(s->r->missed[k].why, m->why))
            missed_location(s, &s->r->missed[k]);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* Warns of a mythos:ignore comment that is wrong or that no finding needs. */
static void idle_suppression(sarif *s, const myth_suppression *w)
{
    char line[32];
    if (!myth_report_is_idle(s->r, w))
        return;
    notification_begin(s, "warning");
    myth_show_file(w->src->path, put_part, s);
    snprintf(line, sizeof(line), ":%u: mythos:ignore", w->line);
    put_words(s, line);
    if (w->wrong) {
        put_words(s, " is not followed: ");
        put_words(s, w->wrong);
    } else {
        put_words(s, "[");
        myth_show_text(s->r, w->rules, put_part, s);
        put_words(s, "] answers no finding");
    }
    notification_end(s);
}

static void invocation(sarif *s, uint32_t n_cut)
{
    const myth_report *r = s->r;
    char line[160], left[MYTH_LEFT_OUT_CAP];
    key_array(s, "invocations");
    myth_jout_object(&s->j);
    const bool has_failed = !r->complete && !myth_report_lacks_languages(r);
    myth_jout_key_bool(&s->j, "executionSuccessful", !has_failed);
    key_array(s, "toolExecutionNotifications");
    if (!r->complete) {
        notification_begin(s, has_failed ? "error" : "note");
        put_words(s, "The inspection is incomplete: ");
        myth_show_cstr(r, myth_report_incomplete(r), put_part, s);
        notification_end(s);
    }
    for (uint32_t i = 0; i < r->n_missed; i++)
        missed(s, i);
    if (r->caution) {
        notification_begin(s, "warning");
        myth_show_cstr(r, r->caution, put_part, s);
        notification_end(s);
    }
    if (r->n_dropped) {
        snprintf(line, sizeof(line), "%u %.30s dropped: unfinished, or the citation did not hold.", r->n_dropped,
                 myth_report_dropped(r));
        notification_begin(s, "warning");
        put_words(s, line);
        notification_end(s);
    }
    if (n_cut) {
        snprintf(line, sizeof(line),
                 "%u of %u results were left out, the least severe ones: a code host takes no more of one run.", n_cut,
                 r->n_finding);
        notification_begin(s, "warning");
        put_words(s, line);
        notification_end(s);
    }
    if (r->left_out && myth_left_out_any(r->left_out)) {
        myth_left_out_text(r->left_out, left);
        notification_begin(s, "note");
        put_words(s, left);
        notification_end(s);
    }
    for (uint32_t i = 0; i < r->n_context; i++) {
        notification_begin(s, "note");
        put_words(s, "More context is needed: ");
        myth_show_text(r, r->context[i], put_part, s);
        notification_end(s);
    }
    for (uint32_t i = 0; i < r->n_suppression; i++)
        idle_suppression(s, &r->suppression[i]);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* ---- results ---- */

/* Writes the lines of a finding as the last members of a region. */
static void lines(sarif *s, const myth_finding *f, const myth_source *src, uint32_t keep)
{
    const uint32_t last = f->last < f->first + SNIPPET_LINES ? f->last : f->first + SNIPPET_LINES - 1;
    myth_jout_key_u64(&s->j, "endLine", f->last);
    key_object(s, "snippet");
    myth_jout_key(&s->j, "text");
    myth_jout_text_begin(&s->j);
    for (uint32_t n = f->first; n <= last; n++) {
        if (n > f->first)
            put_words(s, "\n");
        myth_show_line(s->r, src, n, keep, put_part, s);
    }
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
}

/* Where a finding of one line cites a part of it, the region is that part, with the line around it. */
static void location(sarif *s, uint32_t i)
{
    const myth_finding *f = &s->r->finding[i];
    const myth_citation *c = &s->r->citation[i];
    const myth_source *src = s->r->block[f->block].src;
    uint32_t first = 0, behind = 0;
    const bool is_part = f->first == f->last && c->line == f->first && c->len < src->line[c->line - 1].len &&
                         myth_show_columns(s->r, i, &first, &behind);
    key_array(s, "locations");
    myth_jout_object(&s->j);
    place_begin(s, src, f->first);
    if (is_part) {
        myth_jout_key_u64(&s->j, "startColumn", first);
        myth_jout_key_u64(&s->j, "endLine", f->last);
        myth_jout_key_u64(&s->j, "endColumn", behind);
        key_object(s, "snippet");
        myth_jout_key(&s->j, "text");
        myth_jout_text_begin(&s->j);
        myth_show_evidence(s->r, i, put_part, s);
        myth_jout_text_end(&s->j);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
        key_object(s, "contextRegion");
        myth_jout_key_u64(&s->j, "startLine", f->first);
    }
    lines(s, f, src, c->off);
    place_end(s);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

static void marks(sarif *s, uint32_t i)
{
    const myth_mark *m = &s->r->mark[i];
    key_object(s, "partialFingerprints");
    myth_jout_key_str(&s->j, "mythos/v1", m->fingerprint.text);
    myth_jout_key_str(&s->j, "mythos/v2", m->fingerprint.second);
    myth_jout_key_str(&s->j, "primaryLocationLineHash", m->fingerprint.line_hash);
    myth_jout_end(&s->j);
    if (s->r->has_baseline)
        myth_jout_key_str(&s->j, "baselineState", m->is_known ? "unchanged" : "new");
    key_array(s, "suppressions");
    if (m->suppression) {
        const myth_suppression *w = &s->r->suppression[m->suppression - 1];
        myth_jout_object(&s->j);
        myth_jout_key_str(&s->j, "kind", "inSource");
        key_text(s, "justification", w->reason);
        key_object(s, "location");
        place_begin(s, w->src, w->line);
        place_end(s);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
    }
    myth_jout_end(&s->j);
}

static void fix(sarif *s, uint32_t i)
{
    const myth_patch *p = &s->r->patch[i];
    const myth_source *src = s->r->block[s->r->finding[i].block].src;
    key_array(s, "fixes");
    myth_jout_object(&s->j);
    key_object(s, "description");
    key_text(s, "text", s->r->finding[i].fix);
    myth_jout_end(&s->j);
    key_array(s, "artifactChanges");
    myth_jout_object(&s->j);
    artifact_location(s, "artifactLocation", src);
    key_array(s, "replacements");
    myth_jout_object(&s->j);
    key_object(s, "deletedRegion");
    myth_jout_key_u64(&s->j, "startLine", p->first);
    myth_jout_key_u64(&s->j, "startColumn", 1);
    myth_jout_key_u64(&s->j, "endLine", p->last);
    myth_jout_key_u64(&s->j, "endColumn", myth_show_column(src, p->last, src->line[p->last - 1].len));
    myth_jout_end(&s->j);
    key_object(s, "insertedContent");
    myth_jout_key(&s->j, "text");
    myth_jout_text_begin(&s->j);
    myth_jout_text_part(&s->j, p->text, myth_show_without_end(p->text, p->n));
    myth_jout_text_end(&s->j);
    for (int k = 0; k < 7; k++) /* insertedContent, replacement, replacements, change, artifactChanges, fix, fixes */
        myth_jout_end(&s->j);
}

static void result(sarif *s, uint32_t i)
{
    const myth_finding *f = &s->r->finding[i];
    const myth_rule *rule = &myth_rules[f->rule];
    char id[16];
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "ruleId", rule->id);
    myth_jout_key_u64(&s->j, "ruleIndex", (uint64_t)f->rule);
    myth_jout_key_str(&s->j, "level", level_of(f->severity));
    if (i < s->r->n_given) {
        myth_jout_key(&s->j, "rank");
        myth_jout_f64(&s->j, 100 * s->r->given[i]->probability);
    }
    key_object(s, "message");
    myth_jout_key(&s->j, "text");
    myth_jout_text_begin(&s->j);
    myth_show_issue(s->r, i, put_part, s);
    if (f->why.len) {
        put_words(s, "\n");
        myth_show_text(s->r, f->why, put_part, s);
    }
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
    location(s, i);
    if (rule->cwe) {
        cwe_id(id, rule);
        key_array(s, "taxa");
        myth_jout_object(&s->j);
        myth_jout_key_str(&s->j, "id", id);
        key_object(s, "toolComponent");
        myth_jout_key_str(&s->j, "name", "CWE");
        myth_jout_key_u64(&s->j, "index", 0);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
    }
    if (s->r->mark)
        marks(s, i);
    if (s->r->patch && s->r->patch[i].text)
        fix(s, i);
    key_object(s, "properties");
    myth_jout_key_str(&s->j, "severity", myth_severity_name(f->severity));
    myth_jout_key_str(&s->j, "security-severity", score_of(f->severity));
    myth_jout_key_str(&s->j, "status", myth_finding_status_name(f->status));
    myth_jout_key(&s->j, "evidence");
    myth_jout_text_begin(&s->j);
    myth_show_evidence(s->r, i, put_part, s);
    myth_jout_text_end(&s->j);
    myth_jout_key_u64(&s->j, "evidence_line", s->r->citation[i].line);
    key_text(s, "fix", f->fix);
    key_text(s, "missing", f->missing);
    if (i < s->r->n_given)
        key_text(s, "facts", myth_report_facts(s->r, i));
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

/* Gives the room for max_result results to the severities, the highest first: s->left is how many of each are written.
 * Returns how many findings are left out. */
static uint32_t share_out(sarif *s, uint32_t max_result)
{
    uint32_t n[MYTH_SEVERITY_N] = {0}, left = max_result;
    for (uint32_t i = 0; i < s->r->n_finding; i++)
        n[s->r->finding[i].severity]++;
    for (int v = 0; v < MYTH_SEVERITY_N; v++) {
        s->left[v] = n[v] < left ? n[v] : left;
        left -= s->left[v];
    }
    return s->r->n_finding - (max_result - left);
}

/* ---- the summary of a change ---- */

static void note_token(void *user, const char *text, size_t len, bool is_placeholder)
{
    if (is_placeholder)
        keep_token(user, text, len);
}

/* Lists the placeholders of the summary, which is written behind their list. */
static void note_tokens(sarif *s)
{
    const myth_report *r = s->r;
    for (uint32_t i = 0; i < r->n_sentence; i++)
        myth_show_text(r, r->sentence[i].text, note_token, s);
    for (uint32_t i = 0; i < r->n_quote; i++)
        myth_redact_bytes(r->redactor, r->block[r->quote[i].block].src, r->cited[i].off, r->cited[i].len, note_token,
                          s);
    myth_show_text(r, r->missing.len ? r->missing : (myth_str){"", 0}, note_token, s);
}

static void citation(sarif *s, uint32_t i)
{
    const myth_quote *q = &s->r->quote[i];
    const myth_source *src = s->r->block[q->block].src;
    myth_jout_object(&s->j);
    myth_jout_key(&s->j, "file");
    myth_jout_text_begin(&s->j);
    myth_show_file(src->path, put_part, s);
    myth_jout_text_end(&s->j);
    myth_jout_key_lines(&s->j, q->first, q->last);
    myth_jout_key(&s->j, "quote");
    myth_jout_text_begin(&s->j);
    myth_redact_bytes(s->r->redactor, src, s->r->cited[i].off, s->r->cited[i].len, put_part, s);
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
}

static void summary(sarif *s)
{
    const myth_report *r = s->r;
    key_object(s, "change_summary");
    key_array(s, "sentences");
    for (uint32_t i = 0; i < r->n_sentence; i++) {
        const myth_sentence *of = &r->sentence[i];
        myth_jout_object(&s->j);
        key_text(s, "text", of->text);
        key_array(s, "citations");
        for (uint32_t k = of->quote; k < of->quote + of->n_quote; k++)
            citation(s, k);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
    }
    myth_jout_end(&s->j);
    if (!r->n_sentence)
        key_text(s, "missing", r->missing.len ? r->missing : (myth_str){"", 0});
    if (r->summary.why_none)
        myth_jout_key_str(&s->j, "why_none", r->summary.why_none);
    myth_jout_key_u64(&s->j, "changed_lines", r->summary.n_line);
    myth_jout_key_u64(&s->j, "shown_lines", r->summary.n_shown);
    myth_jout_end(&s->j);
}

/* Where the code is from, and what uploads of one tool are told apart by: a code host takes all before the last
 * slash. */
static void source(sarif *s)
{
    const myth_report *r = s->r;
    if (r->origin) {
        key_array(s, "versionControlProvenance");
        myth_jout_object(&s->j);
        key_text(s, "repositoryUri", (myth_str){r->origin, strlen(r->origin)});
        if (r->commit)
            myth_jout_key_str(&s->j, "revisionId", r->commit);
        myth_jout_end(&s->j);
        myth_jout_end(&s->j);
    }
    if (!r->category)
        return;
    key_object(s, "automationDetails");
    myth_jout_key(&s->j, "id");
    myth_jout_text_begin(&s->j);
    myth_show_cstr(r, r->category, put_part, s);
    myth_jout_text_part(&s->j, "/", 1);
    myth_jout_text_end(&s->j);
    myth_jout_end(&s->j);
}

void myth_render_sarif_at_most(FILE *f, const myth_report *r, uint32_t max_result)
{
    sarif s;
    s.r = r;
    s.n_token = 0;
    uint32_t n_cut = share_out(&s, max_result);
    myth_jout_start(&s.j, f);
    myth_jout_object(&s.j);
    myth_jout_key_str(&s.j, "$schema",
                      "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
    myth_jout_key_str(&s.j, "version", "2.1.0");
    key_array(&s, "runs");
    myth_jout_object(&s.j);
    tool(&s);
    taxonomies(&s);
    invocation(&s, n_cut);
    artifacts(&s);
    source(&s);
    myth_jout_key_str(&s.j, "columnKind", "unicodeCodePoints");
    key_array(&s, "results");
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (s.left[r->finding[i].severity]) {
            s.left[r->finding[i].severity]--;
            result(&s, i);
        }
    myth_jout_end(&s.j);
    note_tokens(&s);
    key_array(&s, "redactionTokens");
    for (uint32_t i = 0; i < s.n_token; i++)
        myth_jout_str(&s.j, s.token[i]);
    myth_jout_end(&s.j);
    key_object(&s, "properties");
    myth_jout_key(&s.j, "model");
    myth_jout_text_begin(&s.j);
    myth_show_cstr(r, r->model, put_part, &s);
    myth_jout_text_end(&s.j);
    if (r->since)
        key_text(&s, "since", (myth_str){r->since, strlen(r->since)});
    myth_jout_key_u64(&s.j, "prompt_tokens", r->prompt_tokens);
    myth_jout_key_str(&s.j, "finish_reason", r->finish_reason);
    if (r->summary.is_asked)
        summary(&s);
    myth_jout_end(&s.j);
    myth_jout_end(&s.j);
    myth_jout_end(&s.j);
    myth_jout_end(&s.j);
}

void myth_render_sarif(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    myth_render_sarif_at_most(f, r, MYTH_SARIF_RESULT_MAX);
}
