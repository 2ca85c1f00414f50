/* judged.c - places in the subjects of a material: found file by file, judged file by file, kept as findings that no
 * model wrote. The places of all files are found first, so that a run whose model is not needed opens no engine. */
#include "judged.h"

#include "engine/base/array.h"
#include "engine/base/program.h"
#include "before.h"
#include "frontend/rates/expect.h"
#include "judge.h"
#include "retrieval/retrieval.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    EVIDENCE = 200, /* most bytes of a quoted line */
    WHY = 512,
    PLACE = 3 * sizeof(myth_given) + WHY + 3 * EVIDENCE + 64, /* most bytes of a place and its texts */
};

/* A file with subjects, and the places that are wanted in it. */
typedef struct {
    const myth_source *src;
    myth_candidates found;
    bool *is_wanted; /* [found.n] */
    uint8_t *before; /* [found.n] myth_before; NULL = no change is known */
    uint32_t n_wanted;
    const char *language;
} found_file;

struct myth_judged {
    myth_cli *cli;
    myth_mem *mem;
    myth_model *model;
    const myth_material *material;
    uint32_t *begin, *subject; /* pieces, by source: list_subjects */
    myth_judged_opts o;
    found_file *file; /* [n_file] */
    myth_given *given;
    char **text; /* [n_text] what the texts of given are in */
    float *score;
    uint32_t n_file, n_given, cap_given, n_text, cap_text, n_wanted;
    uint32_t n_no_code; /* subjects that are documents or data */
    myth_missed_list missed;
    myth_plan plan; /* of the judge's engine */
    myth_work work; /* of a dry run */
    myth_expectation expected;
    myth_judge_counts count;
    char name[128]; /* of the judge's model */
    bool has_plan, is_calibrated;
    double confidence;     /* places at least as probable pass */
    double own_confidence; /* the same where --confidence says nothing */
    char by[PATH_MAX];     /* the judge's model; "" = the run's */
};

#define AT(field) offsetof(myth_judged_flags, field)
const myth_option myth_options_judged[MYTH_N_OPTIONS_JUDGED] = {
    {"find", NULL, MYTH_OPT_CHOICE, "auto|model|candidates|both", AT(find), "auto", 0, 0,
     "who finds: the model in its answers; rules, whose places a judge accepts or not by one word each (mythos "
     "candidates); or both. auto is the model where one is named with -m, else candidates"},
    {"judge-model", NULL, MYTH_OPT_TEXT, "MODEL", AT(model), "(-m where it can judge, else the shipped judge)", 0, 0,
     "with --find candidates or both: the model that judges"},
    {"confidence", NULL, MYTH_OPT_F32, "P", AT(confidence), "(the judge's own, else 0.5)", 0, 1,
     "with --find candidates or both: a place is a finding when the judge gives it at least this probability"},
    {"explain", NULL, MYTH_OPT_FLAG, NULL, AT(explain), "on", 0, 0,
     "with --find candidates or both: let the model write why each of them is a fault and what mends it"},
};
#undef AT

myth_find myth_judged_find(const myth_judged_flags *f, bool is_model_named)
{
    char spec[PATH_MAX];
    if (f->find != MYTH_FIND_AUTO)
        return (myth_find)f->find;
    return is_model_named || !myth_cli_judge_spec(spec, sizeof(spec)) ? MYTH_FIND_MODEL : MYTH_FIND_CANDIDATES;
}

const char *myth_find_name(myth_find find)
{
    static const char *const name[] = {
        [MYTH_FIND_AUTO] = "auto",
        [MYTH_FIND_MODEL] = "model",
        [MYTH_FIND_CANDIDATES] = "candidates",
        [MYTH_FIND_BOTH] = "both",
    };
    return name[find];
}

myth_status myth_judged_check(const myth_judged_flags *f, const myth_parsed *parsed, myth_error *err)
{
    static const char *const name[] = {"confidence", "judge-model"};
    const bool is_chosen = myth_args_find(parsed, "find")->source != MYTH_FROM_DEFAULT ||
                           myth_args_find(parsed, "model")->source != MYTH_FROM_DEFAULT;
    for (int i = 0; i < 2 && f->find == MYTH_FIND_MODEL; i++)
        if (myth_args_find(parsed, name[i])->source == MYTH_FROM_FLAG)
            return myth_fail(err, MYTH_EARG, "--%s: %s", name[i],
                             is_chosen || f->model
                                 ? "add --find candidates or both"
                                 : "no judge is installed beside this program; name one with --judge-model and "
                                   "add --find candidates");
    return MYTH_OK;
}

static myth_status no_room(const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "places: no room for %s", what);
}

static myth_status miss(myth_judged *f, const char *path, uint32_t first, uint32_t last, const char *why,
                        myth_error *err)
{
    return f->o.lists_missed ? myth_missed_add(&f->missed, path, first, last, why, err) : MYTH_OK;
}

static bool is_stopped(const myth_judged *f) { return myth_cancelled(f->cli->cancel); }

/* ---- finding ---- */

/* The row of a candidate's rule; `other` for an id that the parsers' process made up. */
static int rule_of(const char *candidate)
{
    const int rule = myth_rule_find(candidate, strlen(candidate));
    return rule < 0 ? MYTH_RULE_OTHER : rule;
}

/* Lists the subjects by their sources: those of source i are subject[begin[i]] up to begin[i + 1]. */
static myth_status list_subjects(myth_judged *f, myth_error *err)
{
    const uint32_t n = myth_material_n_source(f->material), n_piece = myth_material_n_piece(f->material);
    f->begin = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", n + 2u, sizeof(*f->begin));
    f->subject = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", n_piece + 1u, sizeof(*f->subject));
    if (!f->begin || !f->subject)
        return no_room("subjects", err);
    memset(f->begin, 0, (n + 2u) * sizeof(*f->begin));
    for (uint32_t i = 0; i < n_piece; i++) {
        const myth_piece *p = myth_material_piece(f->material, i);
        f->begin[p->source + 2] += p->is_subject && p->source < n;
    }
    for (uint32_t i = 0; i <= n; i++)
        f->begin[i + 1] += f->begin[i];
    for (uint32_t i = 0; i < n_piece; i++) { /* begin[i + 1] is where the next of source i goes, and ends behind it */
        const myth_piece *p = myth_material_piece(f->material, i);
        if (p->is_subject)
            f->subject[f->begin[p->source + 1]++] = i;
    }
    return MYTH_OK;
}

static bool has_subject(const myth_judged *f, uint32_t source) { return f->begin[source] < f->begin[source + 1]; }

/* Chooses the places that begin in a line of a subject and whose rule is wanted. */
static void choose_places(const myth_judged *f, found_file *file, uint32_t source)
{
    const myth_candidates *k = &file->found;
    for (uint32_t i = f->begin[source]; i < f->begin[source + 1]; i++) {
        const myth_piece *p = myth_material_piece(f->material, f->subject[i]);
        for (uint32_t c = 0; c < k->n; c++) {
            const uint32_t line = k->candidate[c].line0;
            const int rule = rule_of(k->names + k->candidate[c].rule);
            file->is_wanted[c] |= p->first <= line && line <= p->last &&
                                  (!f->o.wants || f->o.wants(f->o.user, rule, myth_rules[rule].severity));
        }
    }
    for (uint32_t c = 0; c < k->n; c++)
        file->n_wanted += file->is_wanted[c];
}

/* Takes a text's places: those that are wanted are chosen, and what could not be looked for is missed. */
static myth_status take_places(myth_judged *f, const myth_finder_text *t, uint32_t source, myth_error *err)
{
    found_file *file = &f->file[f->n_file++];
    char why[160];
    myth_status st = MYTH_OK;
    *file = (found_file){.src = myth_material_of(f->material, source), .language = t->language, .found = t->found};
    if (file->found.note[0]) {
        snprintf(why, sizeof(why), "%s%s", file->found.cut_line ? "" : "no places were looked for: ", file->found.note);
        st = miss(f, file->src->path, 0, 0, why, err);
    }
    file->is_wanted = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", file->found.n + 1u, sizeof(*file->is_wanted));
    if (!file->is_wanted)
        return no_room("a file's places", err);
    choose_places(f, file, source);
    f->n_wanted += file->n_wanted;
    return st;
}

/* The sources of which places are looked for: text[*n] and source[*n]. The others are no text, and are missed. */
static void list_texts(const myth_judged *f, myth_finder_text *text, uint32_t *source, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < myth_material_n_source(f->material); i++) {
        const myth_source *src = myth_material_of(f->material, i);
        const char *language = myth_detect_language(src->path, src->bytes, src->len);
        if (!has_subject(f, i) || !myth_candidates_has(language))
            continue;
        text[*n] = (myth_finder_text){.language = language, .name = src->path, .text = src->bytes, .n_text = src->len};
        source[(*n)++] = i;
    }
}

/* A subject of which no places are looked for: code is missed, documents and data have none. */
static myth_status pass_by(myth_judged *f, const myth_source *src, myth_error *err)
{
    if (myth_detect_no_code(myth_detect_language(src->path, src->bytes, src->len))) {
        f->n_no_code++;
        return MYTH_OK;
    }
    return miss(f, src->path, 0, 0, MYTH_MISSED_NO_RULES, err);
}

/* Adds the places that the inspected change made by what it took away. */
static myth_status add_lost(myth_judged *f, myth_finder *finder, myth_chunker *chunker, myth_finder_text *t,
                            const myth_source *src, const myth_before_text *before, myth_error *err)
{
    char note[96], why[160];
    const myth_status st = myth_before_lost(&t->found, note, finder, chunker, f->mem, t->language, src, before, err);
    if (st != MYTH_OK || !note[0])
        return st;
    snprintf(why, sizeof(why), "what the change took away was not looked for: %s", note);
    return miss(f, src->path, 0, 0, why, err);
}

/* Takes the places of a file that the inspected change touched, with those that it made by what it took away, and marks
 * which of them it brought. *chunker: opened where none is. */
static myth_status take_changed(myth_judged *f, myth_finder *finder, myth_chunker **chunker, myth_finder_text *t,
                                uint32_t source, myth_error *err)
{
    const myth_source *src = myth_material_of(f->material, source);
    found_file *file = &f->file[f->n_file];
    myth_before_text before = {0};
    myth_status st = *chunker ? MYTH_OK : myth_finder_chunker(chunker, finder, err);
    if (st == MYTH_OK)
        st = myth_before_open(&before, f->mem, src, err);
    if (st == MYTH_OK && !t->found.note[0])
        st = add_lost(f, finder, *chunker, t, src, &before, err);
    if (st == MYTH_OK)
        st = take_places(f, t, source, err);
    if (st == MYTH_OK && file->n_wanted) {
        file->before = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", file->found.n, sizeof(*file->before));
        st = !file->before ? no_room("a file's places", err)
                           : myth_before_mark(file->before, finder, *chunker, f->mem, file->language, src, &before,
                                              &file->found, err);
    }
    myth_before_close(&before, f->mem);
    return st;
}

/* Takes the places of all texts, in the order of their sources. *chunker: as for take_changed. */
static myth_status take_all(myth_judged *f, myth_finder *finder, myth_chunker **chunker, myth_finder_text *text,
                            const uint32_t *source, uint32_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0, k = 0; i < myth_material_n_source(f->material) && st == MYTH_OK; i++) {
        const myth_source *src = myth_material_of(f->material, i);
        if (k == n || source[k] != i) {
            st = has_subject(f, i) ? pass_by(f, src, err) : MYTH_OK;
            continue;
        }
        myth_finder_text *t = &text[k++];
        if (!t->is_found)
            st = miss(f, src->path, 0, 0, "the run was interrupted before places were looked for", err);
        else if (myth_before_is_changed(src) && !is_stopped(f))
            st = take_changed(f, finder, chunker, t, i, err);
        else
            st = take_places(f, t, i, err);
    }
    return st;
}

static myth_status find_all(myth_judged *f, myth_error *err)
{
    myth_finder *finder = NULL;
    myth_chunker *chunker = NULL; /* for the texts before a change */
    const uint32_t n_source = myth_material_n_source(f->material);
    uint32_t n = 0;
    f->file = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", n_source + 1u, sizeof(*f->file));
    myth_finder_text *text = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", n_source + 1u, sizeof(*text));
    uint32_t *source = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "places", n_source + 1u, sizeof(*source));
    myth_status st = f->file && text && source ? MYTH_OK : no_room("files", err);
    if (st == MYTH_OK)
        st = list_subjects(f, err);
    if (st == MYTH_OK)
        list_texts(f, text, source, &n);
    if (st == MYTH_OK)
        st = myth_finder_open(&finder, f->cli, f->o.keeps, f->o.cache_limit, err);
    if (st == MYTH_OK)
        st = myth_finder_all(finder, text, n, f->cli->cancel, err);
    if (st == MYTH_OK)
        st = take_all(f, finder, &chunker, text, source, n, err);
    for (uint32_t i = 0, taken = 0; text && i < n; i++) /* the first n_file that were found are in f->file */
        if (!text[i].is_found || taken++ >= f->n_file)
            myth_candidates_free(&text[i].found, f->mem);
    myth_chunker_close(chunker);
    myth_finder_close(finder);
    myth_free(f->mem, source);
    myth_free(f->mem, text);
    return st;
}

/* ---- texts ---- */

static char *take_text(myth_judged *f, size_t n)
{
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "places", &f->text, f->n_text, &f->cap_text))
        return NULL;
    char *text = myth_alloc(f->mem, MYTH_MEM_OTHER, "places", n);
    if (text)
        f->text[f->n_text++] = text;
    return text;
}

/* The first line of the place that is not blank, up to EVIDENCE bytes of whole characters. */
static bool set_evidence(myth_judged *f, myth_given *g)
{
    uint32_t off = 0, len = 0;
    for (uint32_t line = g->first; line <= g->last && !len; line++)
        myth_line_trim(g->src, line - 1, &off, &len);
    while (len > EVIDENCE && (len = EVIDENCE) && (g->src->bytes[off + len] & 0xc0) == 0x80)
        len--;
    const size_t n = myth_spell_lossy(NULL, 0, g->src->bytes + off, len);
    char *text = take_text(f, n + 1);
    if (!text)
        return false;
    myth_spell_lossy(text, n, g->src->bytes + off, len);
    text[n] = '\0';
    g->evidence = (myth_str){text, n};
    return true;
}

/* since: what is said behind the place's sentence. */
static bool set_texts(myth_judged *f, myth_given *g, const myth_candidates *k, const myth_candidate_place *c,
                      const char *since)
{
    char why[WHY];
    if (isnan(g->probability))
        snprintf(why, sizeof(why), "%.300s%s", k->names + c->say, since);
    else
        snprintf(why, sizeof(why), "%.300s%s; the model judges it a fault%s with a probability of %.2f",
                 k->names + c->say, since, g->src->is_test ? " worth a change in a test" : "", g->probability);
    const size_t n = strlen(why);
    char *text = take_text(f, n + 1);
    if (!text)
        return false;
    memcpy(text, why, n + 1);
    g->why = (myth_str){text, n};
    return set_evidence(f, g);
}

/* How a place is kept. */
typedef struct {
    double probability;                /* of a finding the largest of those that say the same */
    const myth_candidate_place *said;  /* the place whose finding says the same; NULL = none */
    const myth_candidate_place *known; /* the first place that says the same, or itself */
    bool is_brought;                   /* the change brought it, or one that says the same */
} keeping;

static myth_status keep_place(myth_judged *f, const found_file *file, uint32_t i, const keeping *as, myth_error *err)
{
    const myth_candidates *k = &file->found;
    const myth_candidate_place *c = &k->candidate[i], *said = as->said;
    const myth_before before = file->before ? (myth_before)file->before[i] : MYTH_BEFORE_OLD;
    const int rule = rule_of(k->names + c->rule);
    myth_given g = {
        .src = file->src,
        .first = c->line0,
        .last = c->line1 < file->src->n_line ? c->line1 : file->src->n_line,
        .rule = rule,
        .severity = myth_rules[rule].severity,
        .candidate = k->names + c->rule,
        .facts = k->names + c->facts,
        .probability = as->probability,
        .is_brought = as->is_brought,
        .known_rule = rule_of(k->names + as->known->rule),
        .known_line = as->known == c || as->known->line0 > file->src->n_line ? 0 : as->known->line0,
    };
    if (g.first < 1 || g.first > g.last)
        return MYTH_OK;
    g.passes = g.probability >= f->confidence && !said;
    g.is_refused = g.probability >= f->own_confidence && !said && !g.passes;
    g.said_line = g.probability >= f->confidence && said ? said->line0 : 0;
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "places", &f->given, f->n_given, &f->cap_given) ||
        !set_texts(f, &g, k, c, myth_before_says(before)))
        return no_room("their texts", err);
    f->given[f->n_given++] = g;
    return MYTH_OK;
}

/* ---- judging ---- */

static void show_progress(const myth_judged *f, uint32_t i)
{
    char line[96];
    if (!f->cli->term->has_progress)
        return;
    snprintf(line, sizeof(line), "judging places: file %u of %u", i + 1, f->n_file);
    myth_term_progress_line(f->cli->term, line);
}

/* Whether a rule says that nobody asked whether a call gave something. */
static bool is_about_result(const char *rule)
{
    return strcmp(rule, "unchecked-return") == 0 || strcmp(rule, "missing-null-check") == 0;
}

/* Whether both places say of one call that its result is not looked at. */
static bool is_same_call(const myth_candidates *k, const myth_candidate_place *a, const myth_candidate_place *b)
{
    return a->from != UINT32_MAX && a->from == b->from && is_about_result(k->names + a->rule) &&
           is_about_result(k->names + b->rule);
}

/* The place that says by what the change took away what place i says without it, or the other way round: of one rule,
 * where the line that relied on what is gone is that of the other. found.n = none. */
static uint32_t twin_of(const found_file *file, uint32_t i)
{
    const myth_candidates *k = &file->found;
    const myth_before is = file->before ? (myth_before)file->before[i] : MYTH_BEFORE_OLD;
    const myth_before want = is == MYTH_BEFORE_LOST ? MYTH_BEFORE_EXPOSED : MYTH_BEFORE_LOST;
    for (uint32_t j = 0; j < k->n && (is == MYTH_BEFORE_LOST || is == MYTH_BEFORE_EXPOSED); j++) {
        const myth_candidate_place *lost = &k->candidate[is == MYTH_BEFORE_LOST ? i : j];
        const myth_candidate_place *exposed = &k->candidate[is == MYTH_BEFORE_LOST ? j : i];
        if (file->before[j] == want && file->is_wanted[j] && lost->about_line == exposed->line0 &&
            strcmp(k->names + lost->rule, k->names + exposed->rule) == 0)
            return j;
    }
    return k->n;
}

/* What the places that say the same of a call make of one of them. Which of them is the finding depends on what the
 * judge thinks of each alone, and not on which it thinks more probable: two of them are often nearly equal, and any
 * edit of the function moves both a little. What the finding is known by depends on no probability at all. */
static keeping keeping_of(const myth_judged *f, const myth_judge *judge, const found_file *file, uint32_t i)
{
    const myth_candidates *k = &file->found;
    const myth_candidate_place *c = &k->candidate[i], *first = NULL;
    const int rule = rule_of(k->names + c->rule);
    const uint32_t twin = twin_of(file, i);
    double own = myth_judge_probability(judge, k, c, f->score[i], file->src->is_test);
    if (twin < k->n)
        own = fmax(own, myth_judge_probability(judge, k, &k->candidate[twin], f->score[twin], file->src->is_test));
    keeping as = {.probability = own, .known = c, .is_brought = file->before && file->before[i]};
    if (twin < k->n && file->before[i] == MYTH_BEFORE_EXPOSED)
        as.said = &k->candidate[twin];
    for (uint32_t j = 0; j < k->n; j++) {
        const myth_candidate_place *o = &k->candidate[j];
        const int other = rule_of(k->names + o->rule);
        if (!is_same_call(k, c, o))
            continue;
        first = first ? first : o;
        if (other == rule)
            continue;
        as.known = first;
        const double p = myth_judge_probability(judge, k, o, f->score[j], file->src->is_test);
        if (!(own >= f->confidence && p >= f->confidence))
            continue;
        if (other < rule)
            as.said = as.said ? as.said : o;
        else if (p > as.probability)
            as.probability = p;
        as.is_brought |= file->before && file->before[j];
    }
    return as;
}

/* Judges the places of a file and keeps all of them. After an interrupt they are kept unjudged. */
static myth_status judge_file(myth_judged *f, myth_judge *judge, myth_engine *e, const found_file *file,
                              myth_error *err)
{
    const myth_judge_job job = {
        .path = file->src->path,
        .text = file->src->bytes,
        .n_text = file->src->len,
        .language = file->language,
        .found = &file->found,
        .is_wanted = file->is_wanted,
        .removed = file->src->removed,
        .n_removed = file->src->n_removed,
    };
    for (uint32_t i = 0; i < file->found.n; i++)
        f->score[i] = NAN;
    const bool is_asked = e || f->o.is_dry, is_known = myth_judge_knows(judge, file->language);
    myth_status st = is_stopped(f) || !is_asked ? MYTH_OK : myth_judge_file(judge, e, &job, f->score, err);
    if (st == MYTH_ECANCEL)
        st = MYTH_OK;
    if (st == MYTH_OK && !is_known && file->n_wanted)
        st = miss(f, file->src->path, 0, 0, MYTH_MISSED_UNKNOWN, err);
    for (uint32_t i = 0; i < file->found.n && st == MYTH_OK; i++) {
        if (!file->is_wanted[i])
            continue;
        const myth_candidate_place *c = &file->found.candidate[i];
        const keeping as = keeping_of(f, judge, file, i);
        st = keep_place(f, file, i, &as, err);
        if (st == MYTH_OK && e && isnan(f->score[i]) && is_known)
            st = miss(f, file->src->path, c->line0, c->line1,
                      is_stopped(f) ? "the run was interrupted before it was judged"
                                    : "its lines do not fit the prompt that judges them",
                      err);
    }
    return st;
}

/* Opens the judge's model where it is not the run's. *model = the one that judges. */
static myth_status open_model(myth_judged *f, myth_model *own, myth_model **model, myth_error *err)
{
    const char *spec = f->o.flags->model;
    *model = f->model;
    if (spec && strlen(spec) >= sizeof(f->by))
        return myth_fail(err, MYTH_EARG, "--judge-model: longer than %zu bytes", sizeof(f->by) - 1);
    if (spec)
        strcpy(f->by, spec);
    else if (myth_judge_can(f->model) || !myth_cli_judge_spec(f->by, sizeof(f->by)))
        return MYTH_OK;
    const myth_model_flags flags = {.model = f->by};
    myth_status st =
        myth_cli_model_open(f->cli, own, &flags, NULL, f->o.is_dry ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err);
    if (st == MYTH_OK && !own->tokenizer)
        st = myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a judge with one", f->by);
    *model = own;
    return st;
}

/* What is held while places are judged and is not of the judge's model and engine: the files, their places with their
 * texts, and the run's own model where another one judges. */
static myth_plan_extra held(const myth_judged *f, const myth_judge *judge,
                            const myth_mem_count before[MYTH_MEM_CLASS_N])
{
    enum { BESIDE = 64 << 10 }; /* of other files, that an index finds */
    uint64_t longest = 0;
    for (uint32_t i = 0; i < f->n_file; i++)
        longest = f->file[i].n_wanted && f->file[i].src->len > longest ? f->file[i].src->len : longest;
    const uint64_t staging =
                       before[MYTH_MEM_STAGING].live + myth_judge_staging(judge, longest + (f->o.index ? BESIDE : 0)),
                   least = myth_cli_staging(f->cli);
    myth_plan_extra extra = {0};
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        extra.bytes[c] = c == MYTH_MEM_OTHER || f->by[0] ? before[c].live : 0;
    extra.bytes[MYTH_MEM_OTHER] += (uint64_t)f->n_wanted * PLACE;
    extra.bytes[MYTH_MEM_STAGING] = staging > least ? staging : least;
    return extra;
}

/* What judging is expected to take. */
static myth_status reckon(myth_judged *f, const myth_judge *judge, const myth_model *model, myth_error *err)
{
    myth_engine_opts eo;
    const myth_judge_counts *n = &f->count;
    const double mean = n->n_prompt ? (double)n->n_prefix_tok / (double)n->n_prompt : 0;
    f->work = (myth_work){
        .n_part = (uint32_t)n->n_prompt,
        .prompt_tokens = n->n_prefix_tok + n->n_question_tok,
        .depth = mean / 2,
        .end = mean,
    };
    myth_status st = myth_cli_engine_opts(f->cli, &eo, f->o.engine, err);
    if (st != MYTH_OK)
        return st;
    myth_judge_needs(judge, &eo);
    return myth_expect(&f->expected, f->cli, model, &eo, f->o.as, &f->work, err);
}

static myth_status judge_all(myth_judged *f, myth_error *err)
{
    char worker[PATH_MAX];
    const myth_context_opts co = {
        .worker_path = myth_program_start(worker, sizeof(worker)) ? worker : NULL,
        .index = f->o.index,
        .cancel = f->cli->cancel,
    };
    myth_context *context = NULL;
    myth_engine_opts eo;
    myth_kept *kept = NULL;
    myth_judge *judge = NULL;
    myth_engine *engine = NULL;
    myth_model own = {0}, *model;
    myth_mem_count before[MYTH_MEM_CLASS_N];
    myth_status st;
    uint32_t most = 0;
    for (uint32_t i = 0; i < f->n_file; i++)
        most = f->file[i].found.n > most ? f->file[i].found.n : most;
    f->score = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "scores", most + 1u, sizeof(*f->score));
    if (!f->score)
        return no_room("scores", err);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        before[c] = myth_mem_get(f->mem, MYTH_MEM_HOST, (myth_mem_class)c);
    MYTH_TRY(open_model(f, &own, &model, err));
    MYTH_TRY(myth_context_open(&context, &co, err));
    if (f->o.keeps && !f->o.is_dry && f->n_wanted)
        kept = myth_finder_scores(f->cli, f->o.engine, model, f->o.cache_limit);
    const myth_judge_opts jo = {.cancel = f->cli->cancel, .is_dry = f->o.is_dry, .context = context, .kept = kept};
    MYTH_TRY(myth_judge_open(&judge, model, &jo, err)); /* also without places, to say what the model cannot do */
    f->is_calibrated = myth_judge_is_calibrated(judge, &f->own_confidence);
    f->confidence = f->own_confidence;
    if (myth_args_find(f->cli->parsed, "confidence")->source != MYTH_FROM_DEFAULT)
        f->confidence = (double)f->o.flags->confidence;
    if (f->n_wanted && !f->o.is_dry) {
        MYTH_TRY(myth_cli_engine_opts(f->cli, &eo, f->o.engine, err));
        myth_judge_needs(judge, &eo);
        const myth_plan_extra extra = held(f, judge, before);
        MYTH_TRY(myth_cli_plan(f->cli, model, &eo, &extra, err));
        f->plan = f->cli->plan;
        f->has_plan = true;
        MYTH_TRY(myth_cli_engine_open(f->cli, &engine, model, &eo, err));
    }
    for (uint32_t i = 0; i < f->n_file; i++) {
        show_progress(f, i);
        MYTH_TRY(judge_file(f, judge, engine, &f->file[i], err));
    }
    f->count = myth_judge_counted(judge);
    snprintf(f->name, sizeof(f->name), "%s", myth_weights_name(model->weights));
    if (f->o.is_dry)
        MYTH_TRY(reckon(f, judge, model, err));
fail:
    myth_term_progress_end(f->cli->term);
    myth_engine_close(engine);
    myth_judge_close(judge);
    myth_kept_close(kept);
    myth_context_close(context);
    myth_model_close(&own);
    return st;
}

/* ---- life ---- */

myth_status myth_judged_open(myth_judged **out, myth_cli *cli, myth_model *model, const myth_material *material,
                             const myth_judged_opts *opts, myth_error *err)
{
    *out = NULL;
    myth_judged *f = myth_alloc(cli->mem, MYTH_MEM_OTHER, "places", sizeof(*f));
    if (!f)
        return no_room("their list", err);
    *f = (myth_judged){.cli = cli, .mem = cli->mem, .model = model, .material = material, .o = *opts};
    f->missed.mem = cli->mem;
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < opts->n_missed && st == MYTH_OK; i++)
        st = myth_missed_add(&f->missed, opts->missed[i].path, opts->missed[i].first, opts->missed[i].last,
                             opts->missed[i].why, err);
    if (st == MYTH_OK)
        st = find_all(f, err);
    if (st == MYTH_OK)
        st = judge_all(f, err);
    if (st != MYTH_OK) {
        myth_judged_close(f);
        return st;
    }
    *out = f;
    return MYTH_OK;
}

void myth_judged_close(myth_judged *f)
{
    if (!f)
        return;
    myth_mem *mem = f->mem;
    for (uint32_t i = 0; i < f->n_file; i++) {
        myth_candidates_free(&f->file[i].found, mem);
        myth_free(mem, f->file[i].is_wanted);
        myth_free(mem, f->file[i].before);
    }
    for (uint32_t i = 0; i < f->n_text; i++)
        myth_free(mem, f->text[i]);
    myth_missed_free(&f->missed);
    myth_free(mem, f->begin);
    myth_free(mem, f->subject);
    myth_free(mem, f->text);
    myth_free(mem, f->given);
    myth_free(mem, f->score);
    myth_free(mem, f->file);
    myth_free(mem, f);
}

void myth_judged_cover(const myth_judged *f, myth_plan *plan, const myth_plan_extra *extra)
{
    for (int c = 0; f && c < MYTH_MEM_CLASS_N; c++) {
        const uint64_t own = extra->bytes[c], judged = f->has_plan ? f->plan.device[0].bytes[c] : 0,
                       taken = myth_mem_get(f->mem, MYTH_MEM_HOST, (myth_mem_class)c).peak,
                       most = own > judged ? own : judged, least = taken > most ? taken : most,
                       has = plan->device[0].bytes[c];
        if (has >= least)
            continue;
        plan->device[0].bytes[c] = least;
        plan->bytes[c] += least - has;
        if (c != MYTH_MEM_WEIGHTS_MAPPED)
            plan->total_bytes += least - has;
    }
}

const myth_given *myth_judged_list(const myth_judged *f, uint32_t *n)
{
    *n = f ? f->n_given : 0;
    return f ? f->given : NULL;
}

const char *myth_judged_by(const myth_judged *f) { return f && f->by[0] ? f->by : NULL; }

const char *myth_judged_name(const myth_judged *f) { return f && f->by[0] && f->name[0] ? f->name : NULL; }

const myth_missed *myth_judged_missed(const myth_judged *f, uint32_t *n)
{
    *n = f ? f->missed.n : 0;
    return f ? f->missed.row : NULL;
}

/* How many places begin in a piece of the code that is inspected. */
static uint32_t n_place_in(const myth_judged *f, const myth_piece *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; p->is_subject && i < f->n_given; i++)
        n += f->given[i].src == myth_material_of(f->material, p->source) && f->given[i].first >= p->first &&
             f->given[i].first <= p->last;
    return n;
}

/* The code that has places, a piece a line. */
static void print_pieces(FILE *to, const myth_judged *f)
{
    uint32_t n_empty = 0, n_other = f->n_given;
    for (uint32_t i = 0; i < myth_material_n_piece(f->material); i++) {
        const myth_piece *p = myth_material_piece(f->material, i);
        const uint32_t n = n_place_in(f, p);
        n_other -= n;
        n_empty += p->is_subject && !n;
        if (!n)
            continue;
        fputs("  ", to);
        myth_term_path(to, myth_material_of(f->material, p->source)->path);
        fprintf(to, " lines %u-%u: %u place%s\n", p->first, p->last, n, myth_s(n));
    }
    if (n_other)
        fprintf(to, "  other lines, which the change made places: %u\n", n_other);
    if (n_empty)
        fprintf(to, "  no place in %u piece%s of code\n", n_empty, myth_s(n_empty));
}

void myth_judged_print_text(FILE *to, const myth_judged *f, bool is_alone)
{
    char seconds[32];
    if (is_alone)
        fputs("parts            none: rules find places, a judge decides, and no model writes\n", to);
    fprintf(to, "places           %u, judged by %s in %llu prompt%s, at most %llu tokens", f->n_given, f->name,
            (unsigned long long)f->count.n_prompt, myth_s(f->count.n_prompt),
            (unsigned long long)f->work.prompt_tokens);
    if (f->expected.is_known)
        fprintf(to, ", %s", myth_seconds_text(seconds, f->expected.prefill));
    fputc('\n', to);
    if (is_alone)
        print_pieces(to, f);
}

void myth_judged_print_json(myth_json_out *out, const myth_judged *f)
{
    myth_jout_object(out);
    myth_jout_key_str(out, "model", f->name);
    myth_jout_key_u64(out, "places", f->n_given);
    myth_jout_key_u64(out, "prompts", f->count.n_prompt);
    myth_jout_key_u64(out, "prompt_tokens", f->work.prompt_tokens);
    myth_jout_key(out, "expected");
    myth_expect_print_json(out, &f->expected, &f->work);
    myth_jout_key(out, "pieces");
    myth_jout_array(out);
    for (uint32_t i = 0; i < myth_material_n_piece(f->material); i++) {
        const myth_piece *p = myth_material_piece(f->material, i);
        if (!p->is_subject)
            continue;
        myth_jout_object(out);
        myth_jout_key_str(out, "file", myth_material_of(f->material, p->source)->path);
        myth_jout_key_u64(out, "first", p->first);
        myth_jout_key_u64(out, "last", p->last);
        myth_jout_key_u64(out, "places", n_place_in(f, p));
        myth_jout_end(out);
    }
    myth_jout_end(out);
    myth_jout_end(out);
}

void myth_judged_note(const myth_judged *f)
{
    uint32_t n_judged = 0, n_passed = 0;
    if (f->o.is_dry) /* myth_judged_print_text says more */
        return;
    for (uint32_t i = 0; i < f->n_given; i++) {
        n_judged += f->given[i].probability >= 0;
        n_passed += f->given[i].passes;
    }
    myth_term_note(f->cli->term,
                   f->n_given ? "%u of %u places judged, %u with a probability of %.2f or more%s"
                              : "rules found no place to judge",
                   n_judged, f->n_given, n_passed, f->confidence, f->is_calibrated ? "" : " (not calibrated)");
    if (f->count.n_kept) {
        char line[128];
        snprintf(line, sizeof(line), "%llu of them as an earlier run was told; --no-cache asks the judge again",
                 (unsigned long long)f->count.n_kept);
        myth_term_note_once(f->cli->term, line);
    }
    if (f->n_no_code)
        myth_term_note(f->cli->term, "%u file%s of documents or data, in which no rules look for code", f->n_no_code,
                       f->n_no_code == 1 ? "" : "s");
}
