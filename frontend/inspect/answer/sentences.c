/* sentences.c - the automaton of an answer in sentences, and the end of one that was cut off.
 *
 * Phases   as in findings.c: a phase is one literal followed by its field, and the byte that ends a field is the first
 *          byte of the next literal. Where a list goes on, the next literal is entered behind its beginning */
#include "sentences.h"

#include "fields.h"

#include <assert.h>
#include <string.h>

typedef enum {
    ANSWERED, /* field: the first letter of true or false */
    TEXT,
    PATH,
    FIRST,
    LAST,
    QUOTE,
    CITED, /* field: whether another citation follows */
    SAID,  /* field: whether another sentence follows */
    MISSING,
    CONTEXT,
    NAME,
    NEXT,
    END,
    N_PHASE
} phase;

#define LIST_OPEN "true,\"sentences\":["
#define CITATIONS "\",\"citations\":["

static const char *const literal[N_PHASE] = {
    [ANSWERED] = "{\"answered\":",
    [TEXT] = LIST_OPEN "{\"text\":\"",
    [PATH] = CITATIONS "{\"file\":\"",
    [FIRST] = "\",\"lines\":[",
    [LAST] = ",",
    [QUOTE] = "],\"quote\":\"",
    [CITED] = "\"}",
    [SAID] = "]}",
    [MISSING] = "false,\"missing\":\"",
    [CONTEXT] = "],\"missing_context\":[", /* its first byte is a quote after MISSING */
    [NAME] = "\"",
    [NEXT] = "\"",
    [END] = "]}",
};

typedef struct {
    uint8_t phase, lit;                     /* lit: bytes of the literal that were seen */
    uint8_t n_sentence, n_quote, n_context; /* that are complete; n_quote: of this sentence */
    uint8_t zero[3];                        /* what would be padding */
    myth_field f;
} state;

static_assert(sizeof(state) <= MYTH_AUTOMATON_STATE_MAX && sizeof(state) == 8 + sizeof(myth_field),
              "states are compared as bytes: no padding");

static bool is_citation(phase p) { return p >= PATH && p <= QUOTE; }
static myth_cite_field cite_field(phase p) { return (myth_cite_field)(p - PATH); }
static bool is_text(phase p) { return p == TEXT || p == MISSING; }
static myth_text_limit text_limit(const myth_findings_grammar *g, phase p)
{
    return (myth_text_limit){p == TEXT ? g->limits->issue : g->limits->missing, true};
}

/* Begins the field of the state's phase. A citation's lines stay only as long as its quote needs them. */
static void enter(const myth_findings_grammar *g, state *s)
{
    const myth_shown shown = myth_findings_shown(g);
    myth_field_clear(&s->f);
    if (is_citation((phase)s->phase))
        myth_cite_enter(&shown, &s->f, cite_field((phase)s->phase));
    switch ((phase)s->phase) {
    case CITED:
        s->f = (myth_field){0};
        s->n_quote++;
        break;
    case SAID:
        s->n_quote = 0;
        s->n_sentence++;
        break;
    case NEXT: s->n_context++; break;
    default: break;
    }
}

/* Changes to phase p, of whose literal `lit` bytes were seen. Always true, so that a caller can return it. */
static bool go(const myth_findings_grammar *g, state *s, phase p, size_t lit)
{
    myth_field_clear(&s->f);
    s->phase = (uint8_t)p;
    s->lit = (uint8_t)lit;
    if (!literal[p][lit])
        enter(g, s);
    return true;
}

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
    const myth_shown shown = myth_findings_shown(g);
    switch ((phase)s->phase) {
    case ANSWERED:
        if (byte == 't')
            return g->limits->n_finding && myth_cite_any(&shown) && go(g, s, TEXT, 1);
        return byte == 'f' && go(g, s, MISSING, 1);
    case CITED:
        if (byte == ']')
            return go(g, s, SAID, 1);
        return byte == ',' && s->n_quote < MYTH_QUOTE_MAX && go(g, s, PATH, sizeof(CITATIONS) - 1);
    case SAID:
        if (byte == ']')
            return go(g, s, CONTEXT, 1);
        return byte == ',' && s->n_sentence < g->limits->n_finding && go(g, s, TEXT, sizeof(LIST_OPEN) - 1);
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
    state *s = st;
    const char *l = literal[s->phase];
    if (!l[s->lit])
        return step_field(self, s, byte);
    if (l[s->lit] != (char)byte)
        return false;
    if (!l[++s->lit])
        enter(self, s);
    return true;
}

static bool may_end(const void *self, const void *st)
{
    const state *s = st;
    (void)self;
    return s->phase == END && !literal[END][s->lit];
}

static void allowed(const void *self, const void *st, uint32_t bits[8])
{
    const state *s = st;
    const myth_shown shown = myth_findings_shown(self);
    memset(bits, 0, 8 * sizeof(bits[0]));
    if (literal[s->phase][s->lit]) {
        myth_allow(bits, (uint8_t)literal[s->phase][s->lit]);
    } else if (s->phase == QUOTE) {
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

/* The length of a text matters only if a token could reach its limit. 1 stands for the others: a plain text that has
 * begun may end. */
static void key(const void *self, const void *st, uint32_t horizon, void *out)
{
    state *s = out;
    memcpy(s, st, sizeof(*s));
    if (is_text((phase)s->phase) && !literal[s->phase][s->lit] && s->f.len &&
        myth_text_is_far(&s->f, text_limit(self, (phase)s->phase), horizon))
        s->f.len = 1;
}

void myth_sentences_automaton(myth_automaton *out, const myth_findings_grammar *g)
{
    assert(g->n_block >= 1 && g->n_block <= MYTH_BLOCK_MAX && g->limits->n_finding <= MYTH_SENTENCE_MAX);
    assert(g->limits->evidence >= 6 * MYTH_EVIDENCE_MIN && g->limits->issue >= 1 && g->limits->missing >= 1);
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

size_t myth_sentences_bound(const myth_findings_limits *m, size_t path_len)
{
    enum { FORM = 96, REST_OF_CHARACTER = 5 }; /* keys, numbers and punctuation of a sentence, and of a citation */
    const size_t quote = FORM + path_len + (size_t)m->evidence + REST_OF_CHARACTER,
                 said = (size_t)m->n_finding * (FORM + (size_t)m->issue + MYTH_QUOTE_MAX * quote);
    return 2 * MYTH_ANSWER_TAIL + said + (size_t)m->missing + (size_t)m->n_context * (size_t)(m->context + 3);
}

size_t myth_sentences_close(char *dst, const myth_findings_grammar *g, const char *text, size_t len,
                            uint32_t *n_dropped)
{
    static const char none[] = "{\"answered\":false,\"missing\":\"\",\"missing_context\":[]}",
                      list[] = "],\"missing_context\":[]}", context[] = "]}";
    static_assert(sizeof(none) <= MYTH_ANSWER_TAIL, "room for what is added");
    myth_automaton a;
    state s = {0};
    const char *tail = none;
    size_t keep = 0;
    bool is_inside = false; /* of a sentence */
    myth_sentences_automaton(&a, g);
    a.start(a.self, &s);
    for (size_t i = 0; i < len; i++) {
        a.step(a.self, &s, (uint8_t)text[i]);
        const bool in_field = !literal[s.phase][s.lit];
        is_inside = (s.phase >= PATH && s.phase <= CITED) || (s.phase == SAID && !in_field) ||
                    (s.phase == TEXT && s.lit >= sizeof(LIST_OPEN));
        if (in_field && s.f.len == 0 && (s.phase == SAID || s.phase == CONTEXT || s.phase == NEXT)) {
            keep = i + 1;
            tail = s.phase == SAID ? list : context;
        }
    }
    *n_dropped = is_inside;
    if (a.may_end(a.self, &s)) {
        keep = len;
        tail = "";
    }
    memmove(dst, text, keep);
    memcpy(dst + keep, tail, strlen(tail));
    return keep + strlen(tail);
}
