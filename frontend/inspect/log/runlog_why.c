/* runlog_why.c - answers the seven questions about a run. Each function reads the run's record and answers with numbers
 * and places from it, without guessing. */
#include "runlog_why.h"

#include "frontend/cli/term.h"
#include "retrieval/retrieval.h"
#include "runlog_doc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 20 };

typedef struct {
    const json_t *doc;
    const myth_why_target *t;
    const myth_why_index *index;
    const char *answer; /* "yes", "no", "unknown" */
    char says[512];
    json_t *places;
} question;

static void add_sentence(question *q, const char *answer, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Appends a sentence to the answer's text. With `answer` NULL the answer itself stays as it is. */
static void add_sentence(question *q, const char *answer, const char *fmt, ...)
{
    size_t n = strlen(q->says);
    va_list ap;
    if (answer)
        q->answer = answer;
    if (n && n + 2 < sizeof(q->says)) {
        strcpy(q->says + n, "; ");
        n += 2;
    }
    va_start(ap, fmt);
    vsnprintf(q->says + n, sizeof(q->says) - n, fmt, ap);
    va_end(ap);
}

static void add_place(question *q, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void add_place(question *q, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    if (json_array_size(q->places) >= PLACES_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    json_t *s = json_string(line); /* cut in a character: not UTF-8 */
    for (size_t n = strlen(line); !s && n > 0;) {
        line[--n] = '\0';
        s = json_string(line);
    }
    json_array_append_new(q->places, s);
}

/* ---- the record ---- */

#define LIST(q, name) json_object_get((q)->doc, name)

static const char *path_of_piece(const question *q, const json_t *piece)
{
    return myth_doc_text(json_array_get(LIST(q, "files"), (size_t)myth_doc_int(piece, "file")), "path");
}

static bool is_path(const question *q, const char *path) { return q->t->path && strcmp(q->t->path, path) == 0; }

/* Whether the line range of an object of the record contains the target's line, if it has one. */
static bool has_line(const question *q, const json_t *o)
{
    return !q->t->line || (myth_doc_line(o, 0) <= q->t->line && q->t->line <= myth_doc_line(o, 1));
}

static bool is_target_piece(const question *q, const json_t *piece)
{
    return is_path(q, path_of_piece(q, piece)) && has_line(q, piece);
}

static uint32_t n_lines(const json_t *o)
{
    uint32_t first = myth_doc_line(o, 0), last = myth_doc_line(o, 1);
    return last >= first ? last - first + 1 : 0;
}

static bool is_cited(const question *q, const json_t *piece)
{
    const char *path = path_of_piece(q, piece);
    const json_t *f;
    size_t i;
    json_array_foreach(json_object_get(LIST(q, "report"), "findings"), i,
                       f) if (strcmp(path, myth_doc_text(f, "file")) == 0 &&
                              myth_doc_line(f, 0) <= myth_doc_line(piece, 1) &&
                              myth_doc_line(f, 1) >= myth_doc_line(piece, 0)) return true;
    return false;
}

/* Writes a place as "a.c:3-9", with the symbol if there is one. */
static void place_of(char *dst, size_t cap, const char *path, const json_t *o)
{
    const char *symbol = myth_doc_text(o, "symbol");
    snprintf(dst, cap, "%.200s:%u-%u%s%.80s", path, myth_doc_line(o, 0), myth_doc_line(o, 1), symbol[0] ? " " : "",
             symbol);
}

/* Returns the target's rank among the search's hits, from 1; 0 when it is not among them. */
static size_t rank_of(const question *q, const json_t **candidate)
{
    const json_t *c;
    size_t i;
    json_array_foreach(LIST(q, "candidates"), i, c) if (is_path(q, myth_doc_text(c, "path")) && has_line(q, c))
    {
        *candidate = c;
        return i + 1;
    }
    return 0;
}

static bool is_in_index(const question *q)
{
    const char *p = q->index->path, *end = p + q->index->n;
    for (; p < end; p += strlen(p) + 1)
        if (strcmp(p, q->t->path) == 0)
            return true;
    return false;
}

/* ---- 1: missed ---- */

static void ask_missed_target(question *q)
{
    char place[400];
    const json_t *p, *candidate = NULL;
    size_t i, n_of_file = 0, n_chosen = 0;
    json_array_foreach(LIST(q, "pieces"), i, p)
    {
        if (!is_path(q, path_of_piece(q, p)))
            continue;
        n_of_file += myth_doc_int(p, "shown_lines") > 0;
        n_chosen += has_line(q, p);
        place_of(place, sizeof(place), q->t->path, p);
        add_place(q, "%s: %u of %u lines shown%s%s", place, (unsigned)myth_doc_int(p, "shown_lines"), n_lines(p),
                  myth_doc_text(p, "why")[0] ? ", " : "", myth_doc_text(p, "why"));
        if (has_line(q, p) && myth_doc_int(p, "shown_lines") > 0 && !q->says[0]) {
            const json_t *parts = json_object_get(p, "parts");
            add_sentence(q, "no", "it was shown, in part %lld%s",
                         (long long)json_integer_value(json_array_get(parts, 0)) + 1,
                         json_array_size(parts) > 1 ? " and others" : "");
        }
    }
    if (q->says[0])
        return;
    size_t rank = rank_of(q, &candidate);
    if (n_chosen) {
        add_sentence(q, "yes", "it was chosen to be shown, and no part of the prompt took it");
    } else if (rank) {
        place_of(place, sizeof(place), q->t->path, candidate);
        add_place(q, "%s: %s", place, myth_doc_text(candidate, "fate"));
        add_sentence(q, "yes", "the search had it at place %zu of %zu with a score of %.3f (%s)", rank,
                     json_array_size(LIST(q, "candidates")), json_number_value(json_object_get(candidate, "score")),
                     myth_doc_text(candidate, "fate"));
    } else if (n_of_file) {
        add_sentence(q, "yes", "other lines of this file were shown, not this one");
    } else if (json_array_size(LIST(q, "candidates"))) {
        add_sentence(q, "yes", "it is not among the %zu place%s that the search found",
                     json_array_size(LIST(q, "candidates")), myth_s(json_array_size(LIST(q, "candidates"))));
    } else {
        add_sentence(q, "yes", "nothing of this file was shown, and nothing was searched for");
    }
}

/* What the model said of the places that rules found at the target's line. */
static void add_judged(question *q)
{
    const json_t *g;
    size_t i;
    json_array_foreach(LIST(q, "judged"), i, g)
    {
        const json_t *p = json_object_get(g, "probability");
        if (!is_path(q, myth_doc_text(g, "path")) || !has_line(q, g))
            continue;
        const json_int_t said = json_integer_value(json_object_get(g, "said_in_line"));
        char why[64] = "";
        if (said)
            snprintf(why, sizeof(why), " (the finding in line %d says the same of the call)", (int)said);
        add_place(q, "%.100s:%u-%u: %.60s, %s with a probability of %.2f%s: %.200s", myth_doc_text(g, "path"),
                  myth_doc_line(g, 0), myth_doc_line(g, 1), myth_doc_text(g, "rule"),
                  !json_is_number(p)         ? "not judged"
                  : myth_doc_is(g, "passes") ? "a finding"
                                             : "dropped",
                  json_number_value(p), why, myth_doc_text(g, "facts"));
    }
}

static void ask_missed(question *q)
{
    const json_t *report = LIST(q, "report"), *asked = json_object_get(report, "context_requests"), *c;
    size_t i, n_below = 0, n_served = 0;
    if (q->t->path) {
        add_judged(q);
        ask_missed_target(q);
        return;
    }
    json_array_foreach(asked, i, c)
    {
        n_served += strcmp(myth_doc_text(c, "result"), "served") == 0;
        add_place(q, "%.200s: %s, asked for by part %lld", myth_doc_text(c, "name"), myth_doc_text(c, "result"),
                  (long long)myth_doc_int(c, "part") + 1);
    }
    if (!report)
        add_sentence(q, "unknown", "the run has no report");
    else if (json_array_size(asked) > n_served)
        add_sentence(q, "yes", "the model named %zu thing%s as missing; brought: %zu", json_array_size(asked),
                     myth_s(json_array_size(asked)), n_served);
    else if (n_served)
        add_sentence(q, "no", "what the model named as missing was brought: %zu thing%s", n_served, myth_s(n_served));
    else
        add_sentence(q, "no", "the model named nothing as missing");
    json_array_foreach(LIST(q, "candidates"), i,
                       c) if (strcmp(myth_doc_text(c, "fate"), "below the cut") == 0 && n_below++ == 0)
    {
        char place[400];
        place_of(place, sizeof(place), myth_doc_text(c, "path"), c);
        add_place(q, "%s: the best below the cut, %.3f", place, json_number_value(json_object_get(c, "score")));
    }
    if (n_below)
        add_sentence(q, NULL, "below the cut of the search: %zu place%s", n_below, myth_s(n_below));
}

/* ---- 2: absent ---- */

static void ask_absent(question *q)
{
    const json_t *index = LIST(q, "index"), *v;
    const char *reason;
    json_int_t n_out = 0;
    if (q->t->path) {
        const json_t *f;
        size_t i;
        json_array_foreach(LIST(q, "files"), i, f) if (is_path(q, myth_doc_text(f, "path")))
        {
            add_sentence(q, "no", "it was read: %lld bytes, %s", (long long)myth_doc_int(f, "bytes"),
                         myth_doc_text(f, "hash"));
            return;
        }
        if (!index)
            add_sentence(q, "unknown", "it was not read, and no index was asked: the command names its files");
        else if (!q->index)
            add_sentence(q, "unknown", "it was not read; the index had more files than the log keeps the names of");
        else if (is_in_index(q))
            add_sentence(q, "no", "the index has it; nothing of it was shown");
        else
            add_sentence(q, "yes", "the index does not have it; mythos scan --explain says why a file is left out");
        return;
    }
    if (!index) {
        add_sentence(q, "no", "no index was asked: the command names its files");
        return;
    }
    json_object_foreach(json_object_get((json_t *)index, "out"), reason, v)
    {
        n_out += json_integer_value(v);
        add_place(q, "%lld %s", (long long)json_integer_value(v), reason);
    }
    add_sentence(q, n_out ? "yes" : "no", "the index had %lld files; %lld were left out%s",
                 (long long)myth_doc_int(index, "files"), (long long)n_out,
                 n_out ? "; mythos scan --explain says why" : "");
}

/* ---- 3: truncated ---- */

static void ask_truncated(question *q)
{
    const json_t *x, *p, *report = LIST(q, "report"), *refusal = json_object_get(report, "refusal");
    size_t i, n_cut = 0, n_left = 0, n_x = json_array_size(LIST(q, "exchanges"));
    char place[400];
    json_array_foreach(LIST(q, "exchanges"), i, x) if (strcmp(myth_doc_text(x, "finish"), "stop") != 0)
    {
        n_cut++;
        add_place(q, "the answer of part %lld, round %lld: %s after %lld tokens",
                  (long long)myth_doc_int(x, "part") + 1, (long long)myth_doc_int(x, "round"),
                  myth_doc_text(x, "finish"), (long long)myth_doc_int(x, "new_tokens"));
    }
    json_array_foreach(LIST(q, "pieces"), i, p)
    {
        if ((q->t->path && !is_target_piece(q, p)) || (uint32_t)myth_doc_int(p, "shown_lines") >= n_lines(p))
            continue;
        n_left++;
        place_of(place, sizeof(place), path_of_piece(q, p), p);
        add_place(q, "%s: %u of %u lines shown", place, (unsigned)myth_doc_int(p, "shown_lines"), n_lines(p));
    }
    if (refusal) {
        add_sentence(q, "yes", "nothing was generated: %s", myth_doc_text(refusal, "reason"));
        return;
    }
    if (!report)
        add_sentence(q, "unknown", "the run has no report");
    if (n_cut)
        add_sentence(q, "yes", "%zu of %zu answers were cut off", n_cut, n_x);
    if (n_left)
        add_sentence(q, "yes", "%zu pieces were not shown whole", n_left);
    if (!n_cut && !n_left && report)
        add_sentence(q, "no", "%zu answers came to their end, every piece was shown whole", n_x);
}

/* ---- 4: noisy ---- */

static void ask_noisy(question *q)
{
    const json_t *p;
    size_t i, n_finding = json_array_size(json_object_get(LIST(q, "report"), "findings")), n_piece = 0, n_cited = 0;
    uint64_t lines = 0, cited = 0, context = 0;
    char place[400];
    json_array_foreach(LIST(q, "pieces"), i, p)
    {
        uint64_t n = (uint64_t)myth_doc_int(p, "shown_lines");
        bool is_used = is_cited(q, p);
        if (!n)
            continue;
        n_piece++;
        lines += n;
        context += myth_doc_is(p, "subject") ? 0 : n;
        cited += is_used ? n : 0;
        n_cited += is_used;
        place_of(place, sizeof(place), path_of_piece(q, p), p);
        if (q->t->path ? is_target_piece(q, p) : !is_used)
            add_place(q, "%s: %s, %s, score %.3f", place, myth_doc_is(p, "subject") ? "subject" : "context",
                      is_used ? "cited" : "not cited", json_number_value(json_object_get(p, "score")));
    }
    const char *answer = !n_finding || !lines ? "unknown" : 2 * cited < lines ? "yes" : "no";
    add_sentence(q, answer,
                 "%zu of %zu pieces, %llu of %llu lines, stand in pieces that a finding cites; %llu lines were context",
                 n_cited, n_piece, (unsigned long long)cited, (unsigned long long)lines, (unsigned long long)context);
    if (!n_finding)
        add_sentence(q, NULL, "there is no finding to judge by");
}

/* ---- 5: hallucinated ---- */

static void ask_hallucinated(question *q)
{
    const json_t *report = LIST(q, "report"), *d;
    int64_t n_dropped = myth_doc_int(report, "dropped_findings");
    size_t i, n_known = 0;
    json_array_foreach(LIST(q, "dropped"), i, d)
    {
        if (q->t->path && !(is_path(q, myth_doc_text(d, "path")) && has_line(q, d)))
            continue;
        n_known++;
        add_place(q, "%.200s:%u-%u %s: %s", myth_doc_text(d, "path"), myth_doc_line(d, 0), myth_doc_line(d, 1),
                  myth_doc_text(d, "rule"), myth_doc_text(d, "why"));
    }
    if (!report) {
        add_sentence(q, "unknown", "the run has no report");
        return;
    }
    add_sentence(q, n_known ? "yes" : "no", "%zu findings did not hold and were dropped", n_known);
    if (!q->t->path && n_dropped > (int64_t)n_known)
        add_sentence(q, NULL, "%lld more were cut off or are not wanted here",
                     (long long)(n_dropped - (int64_t)n_known));
    const json_t *f =
        q->t->finding >= 0 ? json_array_get(json_object_get(report, "findings"), (size_t)q->t->finding) : NULL;
    if (f)
        add_sentence(q, NULL, "this one holds: its evidence stands in line %lld of the bytes that were read",
                     (long long)myth_doc_int(f, "evidence_line"));
    else
        add_sentence(q, NULL, "the evidence of the %zu that are left stands in the lines they cite",
                     json_array_size(json_object_get(report, "findings")));
}

/* ---- 6: split ---- */

static void ask_split(question *q)
{
    const json_t *p;
    size_t i, n_cut = 0, n_many = 0, n_seen = 0;
    char place[400];
    json_array_foreach(LIST(q, "pieces"), i, p)
    {
        if (q->t->path && !is_target_piece(q, p))
            continue;
        n_seen++;
        bool is_many = json_array_size(json_object_get(p, "parts")) > 1, is_cut = myth_doc_is(p, "cut_inside");
        n_many += is_many;
        n_cut += is_cut;
        place_of(place, sizeof(place), path_of_piece(q, p), p);
        if (is_many || is_cut)
            add_place(q, "%s: in %zu parts%s", place, json_array_size(json_object_get(p, "parts")),
                      is_cut ? ", a cut is inside a definition" : "");
    }
    if (!n_seen)
        add_sentence(q, "unknown", q->t->path ? "nothing of it was shown" : "nothing was shown");
    else
        add_sentence(q, n_cut ? "yes" : "no",
                     "%zu of %zu pieces stand in more than one part, %zu were cut inside a definition", n_many, n_seen,
                     n_cut);
}

/* ---- 7: vendored ---- */

static const uint32_t hiding_kinds =
    1u << MYTH_KIND_TEST | 1u << MYTH_KIND_EXAMPLE | 1u << MYTH_KIND_VENDORED | 1u << MYTH_KIND_GENERATED;

static void kinds_text(char *dst, size_t cap, uint32_t kinds)
{
    size_t at = 0;
    dst[0] = '\0';
    for (int k = 0; k < MYTH_KIND_KIND_N; k++)
        if (kinds >> k & 1 && at < cap)
            at += (size_t)snprintf(dst + at, cap - at, "%s%s", at ? ", " : "", myth_file_kind_name((myth_file_kind)k));
}

static void ask_vendored(question *q)
{
    const json_t *p, *c, *factor;
    char place[400], kinds[96];
    size_t i, n_shown = 0, n_hiding = 0, n_lowered = 0;
    if (q->t->path) {
        const json_t *candidate = NULL;
        uint32_t of = myth_file_kinds(q->t->path, false, false);
        kinds_text(kinds, sizeof(kinds), of);
        add_sentence(q, of & hiding_kinds ? "yes" : "no", "by its path it is %s", kinds[0] ? kinds : "source");
        if (rank_of(q, &candidate) && (factor = json_object_get(json_object_get(candidate, "parts"), "kind")) != NULL)
            add_sentence(q, NULL, "which counted %.2f times in the search", json_number_value(factor));
        return;
    }
    json_array_foreach(LIST(q, "pieces"), i, p)
    {
        uint32_t of = myth_file_kinds(path_of_piece(q, p), false, false) & hiding_kinds;
        n_shown++;
        if (!of)
            continue;
        n_hiding++;
        kinds_text(kinds, sizeof(kinds), of);
        place_of(place, sizeof(place), path_of_piece(q, p), p);
        add_place(q, "%s: shown, %s", place, kinds);
    }
    json_array_foreach(LIST(q, "candidates"), i, c)
    {
        uint32_t of = myth_file_kinds(myth_doc_text(c, "path"), false, false) & hiding_kinds;
        factor = json_object_get(json_object_get(c, "parts"), "kind");
        if (!of || strcmp(myth_doc_text(c, "fate"), "below the cut") != 0 || !factor || json_number_value(factor) >= 1)
            continue;
        n_lowered++;
        kinds_text(kinds, sizeof(kinds), of);
        place_of(place, sizeof(place), myth_doc_text(c, "path"), c);
        add_place(q, "%s: below the cut, counted %.2f times as %s", place, json_number_value(factor), kinds);
    }
    add_sentence(
        q, n_hiding || n_lowered ? "yes" : "no",
        "%zu of %zu pieces shown are of tests, examples, copies or generated files; %zu such places were ranked down "
        "and not shown",
        n_hiding, n_shown, n_lowered);
}

/* ---- all ---- */

static const struct {
    const char *name, *asks;
    void (*ask)(question *q);
} questions[MYTH_RUNLOG_QUESTION_N] = {
    {"missed", "was there evidence that the model was not shown?", ask_missed},
    {"absent", "was a file not there to be found?", ask_absent},
    {"truncated", "was something cut off?", ask_truncated},
    {"noisy", "was most of what was shown of no use?", ask_noisy},
    {"hallucinated", "did the model say what does not hold?", ask_hallucinated},
    {"split", "was a definition cut in two?", ask_split},
    {"vendored", "did copies, generated files or tests stand in the way?", ask_vendored},
};

json_t *myth_runlog_why(const json_t *record, const myth_why_target *target, const myth_why_index *index)
{
    json_t *out = json_array();
    for (int i = 0; out && i < MYTH_RUNLOG_QUESTION_N; i++) {
        question q = {.doc = record, .t = target, .index = index, .answer = "unknown", .places = json_array()};
        if (q.places)
            questions[i].ask(&q);
        json_t *says = json_string(q.says);
        for (size_t n = strlen(q.says); !says && n > 0;) {
            q.says[--n] = '\0';
            says = json_string(q.says);
        }
        json_t *j = json_pack("{s:s, s:s, s:s, s:o, s:o}", "question", questions[i].name, "asks", questions[i].asks,
                              "answer", q.answer, "says", says, "places", q.places);
        if (!j || json_array_append_new(out, j) != 0) {
            json_decref(out);
            out = NULL;
        }
    }
    return out;
}

static bool is_all(const char *s, int (*is)(int))
{
    for (; *s && is((unsigned char)*s); s++) {}
    return !*s;
}

static bool set_finding(myth_why_target *out, char *path, size_t cap, const json_t *f, size_t i)
{
    if (!f)
        return false;
    snprintf(path, cap, "%s", myth_doc_text(f, "file"));
    *out = (myth_why_target){.path = path, .line = myth_doc_line(f, 0), .finding = (int)i};
    return true;
}

static bool has_file(const json_t *record, const char *path)
{
    const json_t *list = json_object_get(record, "files"), *f;
    size_t i;
    json_array_foreach(list, i, f) if (strcmp(myth_doc_text(f, "path"), path) == 0) return true;
    return false;
}

/* Replaces a path of a file by the name that the record has for it, if it has one. */
static void as_recorded(char *path, size_t cap, const json_t *record)
{
    myth_place place;
    if (!*path || has_file(record, path))
        return;
    myth_place_find(&place, path);
    if (has_file(record, place.path))
        snprintf(path, cap, "%s", place.path);
}

bool myth_runlog_why_target(myth_why_target *out, char *path, size_t cap, const json_t *record, const char *what)
{
    const json_t *list = json_object_get(json_object_get(record, "report"), "findings"), *f;
    size_t i, n = strlen(what);
    *out = (myth_why_target){.finding = -1};
    if (is_all(what, isdigit) && n < 8) {
        size_t number = strtoul(what, NULL, 10);
        return number > 0 && set_finding(out, path, cap, json_array_get(list, number - 1), number - 1);
    }
    if (is_all(what, isxdigit) && n >= 8)
        json_array_foreach(list, i, f) if (strncmp(myth_doc_text(f, "fingerprint"), what, n) ==
                                           0) return set_finding(out, path, cap, f, i);
    const char *colon = strrchr(what, ':');
    bool has_line = colon && colon[1] && is_all(colon + 1, isdigit);
    snprintf(path, cap, "%.*s", (int)(has_line ? colon - what : (ptrdiff_t)n), what);
    as_recorded(path, cap, record);
    out->path = path;
    out->line = has_line ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    return true;
}
