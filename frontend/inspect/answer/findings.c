/* findings.c - the automaton of an answer.
 *
 * Phases   an answer is a fixed sequence of literals and fields. A phase is one literal followed by its field; the
 *          state says how many bytes of the literal were seen, and then how far the field is. The byte that ends a
 *          field is the first byte of the next literal, except for the comma between findings or names
 * State    states are compared as bytes, so everything that no longer matters is set to zero: two states that allow the
 *          same answers should be equal
 * Fields   of a citation, of texts and of names are those of fields.h; the words (rule, severity, status) are here */
#include "fields.h"
#include "findings.h"

#include <assert.h>
#include <string.h>

typedef enum {
    LIST = MYTH_PIECE_LIST,
    PATH = MYTH_PIECE_PATH,
    FIRST = MYTH_PIECE_FIRST,
    LAST = MYTH_PIECE_LAST,
    EVIDENCE = MYTH_PIECE_EVIDENCE,
    RULE_ID = MYTH_PIECE_RULE_ID,
    ISSUE = MYTH_PIECE_ISSUE,
    WHY = MYTH_PIECE_WHY,
    SEVERITY = MYTH_PIECE_SEVERITY,
    STATUS = MYTH_PIECE_STATUS,
    FIX = MYTH_PIECE_FIX,
    MISSING = MYTH_PIECE_MISSING,
    MORE = MYTH_PIECE_MORE,
    CONTEXT = MYTH_PIECE_CONTEXT,
    NAME = MYTH_PIECE_NAME,
    NEXT = MYTH_PIECE_NEXT,
    END = MYTH_PIECE_END,
    FIXED = MYTH_PIECE_N, /* second pass: a finding up to its issue, as the first pass gave it */
    N_PHASE
} phase;

/* The literal before a phase's field. FIXED has that of PATH, because every finding begins with its path. */
static const char *intro(int p) { return myth_form_literal[p == FIXED ? PATH : p]; }

/* A finding that is in the answer: no other may have the same block, lines and rule. */
typedef struct {
    uint32_t first, last;
    uint8_t block, rule, zero[2]; /* zero: what would be padding */
} seen;

typedef struct {
    uint8_t phase;
    uint8_t lit;               /* bytes of intro(phase) that were seen; after all of them the field follows */
    uint8_t n_done, n_context; /* findings and names of missing_context that are complete */
    myth_field f;              /* in a word, f.pick is the first one that begins with the bytes seen */
    uint32_t used;             /* a bit for each rule that a finding for these lines already has */
    seen done[MYTH_FINDING_MAX];
} state;

#define NONE UINT32_MAX

static_assert(MYTH_RULE_ANSWER_N <= 32, "a bit of `used` for each rule that an answer can have");
static_assert(sizeof(state) <= MYTH_AUTOMATON_STATE_MAX, "state");
static_assert(sizeof(state) == 4 + 24 + 4 + MYTH_FINDING_MAX * sizeof(seen) && sizeof(myth_field) == 24,
              "states are compared as bytes: no padding");

uint32_t myth_findings_done(const void *s) { return ((const state *)s)->n_done; }

static bool is_at(const state *s, phase p) { return s->phase == p && !intro(p)[s->lit] && s->f.len == 0; }
bool myth_findings_at_path(const void *s) { return is_at(s, PATH); }
bool myth_findings_at_issue(const void *s) { return is_at(s, ISSUE); }

myth_answer_place myth_findings_at(const void *st)
{
    const state *s = st;
    bool in_field = !intro(s->phase)[s->lit];
    switch ((phase)s->phase) {
    case LIST:
    case MORE: return in_field ? MYTH_ANSWER_LIST : s->phase == MORE ? MYTH_ANSWER_FINDING : MYTH_ANSWER_ELSEWHERE;
    case PATH:
    case FIXED: return s->lit ? MYTH_ANSWER_FINDING : MYTH_ANSWER_ELSEWHERE; /* lit 0: after the comma, before '{' */
    case CONTEXT:
    case NEXT: return in_field ? MYTH_ANSWER_CONTEXT : MYTH_ANSWER_ELSEWHERE;
    case NAME:
    case END: return MYTH_ANSWER_ELSEWHERE;
    default: return MYTH_ANSWER_FINDING;
    }
}

/* ---- words: rule, severity, status ---- */

static const char *word(const myth_findings_grammar *g, phase p, uint32_t idx)
{
    switch (p) {
    case RULE_ID: return idx < (uint32_t)g->limits->n_rule ? myth_rules[idx].id : NULL;
    case SEVERITY: return idx < MYTH_SEVERITY_N ? myth_severity_name((myth_severity)idx) : NULL;
    default: return idx < MYTH_FINDING_STATUS_N ? myth_finding_status_name((myth_finding_status)idx) : NULL;
    }
}

static bool word_taken(const state *s, uint32_t idx) { return s->phase == RULE_ID && (s->used >> idx & 1); }

/* The first word, from s->f.pick on, that continues the bytes seen so far with `byte`; byte 0 asks for a word that ends
 * there. NONE when there is none. */
static uint32_t find_word(const myth_findings_grammar *g, const state *s, uint8_t byte)
{
    const char *prefix = word(g, (phase)s->phase, s->f.pick), *w;
    for (uint32_t i = s->f.pick; (w = word(g, (phase)s->phase, i)); i++)
        if (!word_taken(s, i) && !strncmp(w, prefix, s->f.len) && (uint8_t)w[s->f.len] == byte)
            return i;
    return NONE;
}

/* ---- fields ---- */

static bool is_citation(phase p) { return p >= PATH && p <= EVIDENCE; }
static myth_cite_field cite_field(phase p) { return (myth_cite_field)(p - PATH); }

static bool is_text(phase p) { return p == ISSUE || p == WHY || p == FIX || p == MISSING; }

static myth_text_limit text_limit(const myth_findings_grammar *g, phase p)
{
    const myth_findings_limits *m = g->limits;
    return (myth_text_limit){p == ISSUE ? m->issue : p == WHY ? m->why : p == FIX ? m->fix : m->missing, false};
}

/* ---- steps between fields ---- */

/* Begins the field of s->phase, all of whose literal was seen. */
static void enter(const myth_findings_grammar *g, state *s)
{
    const myth_shown shown = myth_findings_shown(g);
    myth_field_clear(&s->f);
    if (is_citation((phase)s->phase))
        myth_cite_enter(&shown, &s->f, cite_field((phase)s->phase));
    switch ((phase)s->phase) {
    case PATH: s->used = 0; break;
    case RULE_ID:
        for (int i = 0; i < s->n_done; i++)
            if (s->done[i].block == s->f.block && s->done[i].first == s->f.first && s->done[i].last == s->f.last)
                s->used |= 1u << s->done[i].rule;
        break;
    case MORE: s->n_done++; break;
    case NEXT: s->n_context++; break;
    default: break;
    }
}

/* Changes to phase p, of whose literal `lit` bytes were seen. Always true, so that a caller can return it. */
static bool go(const myth_findings_grammar *g, state *s, phase p, uint8_t lit)
{
    myth_field_clear(&s->f);
    s->phase = (uint8_t)p;
    s->lit = lit;
    if (!intro(p)[lit])
        enter(g, s);
    return true;
}

/* Notes the place and rule of a finding, which are needed no more for the rest of it. */
static void remember(state *s, uint32_t rule)
{
    s->done[s->n_done] = (seen){.first = s->f.first, .last = s->f.last, .block = s->f.block, .rule = (uint8_t)rule};
    s->f.block = 0;
    s->f.first = s->f.last = s->used = 0;
}

static bool may_add(const myth_findings_grammar *g, const state *s)
{
    const myth_shown shown = myth_findings_shown(g);
    return g->fixed ? s->n_done < g->n_fixed : s->n_done < g->limits->n_finding && myth_cite_any(&shown);
}

static bool may_close(const myth_findings_grammar *g, const state *s) { return !g->fixed || s->n_done == g->n_fixed; }

/* A byte of a field of fields.h; the one that ends it is the first of the next phase's literal. */
static bool step_by(const myth_findings_grammar *g, state *s, uint8_t byte)
{
    const phase p = (phase)s->phase;
    const myth_shown shown = myth_findings_shown(g);
    const myth_field_step to = is_citation(p) ? myth_cite_step(&shown, &s->f, cite_field(p), byte)
                             : p == NAME      ? myth_name_step(&s->f, byte, g->limits->context)
                                              : myth_text_step(&s->f, byte, text_limit(g, p));
    return to == MYTH_FIELD_GOES_ON || (to == MYTH_FIELD_ENDS && go(g, s, p + 1, 1));
}

static bool step_field(const myth_findings_grammar *g, state *s, uint8_t byte)
{
    uint32_t at;
    phase p = (phase)s->phase;
    switch (p) {
    case LIST:
    case MORE:
        if (byte == ']' && may_close(g, s))
            return go(g, s, CONTEXT, 1);
        if (byte != (p == LIST ? '{' : ',') || !may_add(g, s))
            return false;
        return go(g, s, g->fixed ? FIXED : PATH, p == LIST);
    case FIXED:
        if (g->fixed[s->n_done].text[s->f.len] != (char)byte)
            return false;
        if (++s->f.len == g->fixed[s->n_done].len)
            return go(g, s, ISSUE, (uint8_t)strlen(intro(ISSUE)));
        return true;
    case RULE_ID:
    case SEVERITY:
    case STATUS:
        at = byte ? find_word(g, s, byte == '"' ? 0 : byte) : NONE;
        if (at == NONE)
            return false;
        if (byte != '"') {
            s->f.pick = (uint16_t)at;
            s->f.len++;
            return true;
        }
        if (p == RULE_ID)
            remember(s, at);
        return go(g, s, p + 1, 1);
    case CONTEXT:
        if (byte == ']')
            return go(g, s, END, 1);
        return byte == '"' && g->limits->n_context && go(g, s, NAME, 1);
    case NEXT:
        if (byte == ']')
            return go(g, s, END, 1);
        return byte == ',' && s->n_context < g->limits->n_context && go(g, s, NAME, 0);
    case END: return false;
    default: return step_by(g, s, byte);
    }
}

static void start(const void *self, void *st)
{
    (void)self;
    memset(st, 0, sizeof(state));
}

static bool step(const void *self, void *st, uint8_t byte)
{
    const myth_findings_grammar *g = self;
    state *s = st;
    const char *l = intro(s->phase);
    if (!l[s->lit])
        return step_field(g, s, byte);
    if (l[s->lit] != (char)byte)
        return false;
    if (!l[++s->lit])
        enter(g, s);
    return true;
}

static bool may_end(const void *self, const void *st)
{
    (void)self;
    const state *s = st;
    return s->phase == END && !intro(END)[s->lit];
}

static void allowed(const void *self, const void *st, uint32_t bits[8])
{
    const state *s = st;
    const myth_shown shown = myth_findings_shown(self);
    memset(bits, 0, 8 * sizeof(bits[0]));
    if (intro(s->phase)[s->lit]) {
        myth_allow(bits, (uint8_t)intro(s->phase)[s->lit]);
    } else if (s->phase == EVIDENCE) {
        myth_cite_quote_allowed(&shown, &s->f, bits);
    } else if (is_text((phase)s->phase)) {
        myth_text_allowed(&s->f, text_limit(self, (phase)s->phase), bits);
    } else {
        for (int b = 0; b < 256; b++) {
            state next = *s;
            if (step_field(self, &next, (uint8_t)b))
                myth_allow(bits, (uint8_t)b);
        }
    }
}

/* The part of a state that decides which tokens of at most `horizon` bytes are allowed, so that states that differ in
 * nothing else share one result. From the issue of a finding to its last field two things can be left out. The rules
 * already given (`done`) matter only at the next rule: not if even empty fields put it beyond the horizon. The length
 * of a text matters only if a token could reach its limit. */
static void key(const void *self, const void *st, uint32_t horizon, void *out)
{
    const myth_findings_grammar *g = self;
    state *s = out;
    memcpy(s, st, sizeof(*s));
    if (s->phase < ISSUE || s->phase > MISSING)
        return;
    uint32_t way = 0;
    for (int p = s->phase + 1; p <= MORE; p++)
        way += (uint32_t)strlen(intro(p));
    for (int p = PATH; p <= RULE_ID; p++)
        way += (uint32_t)strlen(intro(p));
    if (way > horizon)
        memset(s->done, 0, sizeof(s->done));
    if (!intro(s->phase)[s->lit] && is_text((phase)s->phase) &&
        myth_text_is_far(&s->f, text_limit(g, (phase)s->phase), horizon))
        s->f.len = 0;
}

void myth_findings_automaton(myth_automaton *out, const myth_findings_grammar *g)
{
    assert(g->n_block >= 1 && g->n_block <= MYTH_BLOCK_MAX && g->limits->n_finding <= MYTH_FINDING_MAX);
    assert(g->limits->evidence >= 6 * MYTH_EVIDENCE_MIN && g->limits->n_finding < g->limits->n_rule);
    assert(g->limits->n_rule <= MYTH_RULE_N);
    *out = (myth_automaton){
        .self = (void *)(uintptr_t)g,
        .state_bytes = sizeof(state),
        .start = start,
        .step = step,
        .may_end = may_end,
        .allowed = allowed,
        .key = key,
    };
}
