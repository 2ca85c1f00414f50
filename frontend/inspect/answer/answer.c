/* answer.c - writes answers, completes an answer that was cut off, and reads answers back. */
#include "findings.h"

#include "frontend/inspect/prompt/sink.h"
#include "read.h"

#include <string.h>

/* ---- writing ---- */

static void put_spelled(myth_sink *s, const void *text, size_t n)
{
    size_t left = s->len < s->cap ? s->cap - s->len : 0;
    s->len += myth_spell(left ? s->dst + s->len : NULL, left, text, n);
}

static void put_field(myth_sink *s, const char *name, myth_str v)
{
    myth_sink_text(s, name);
    put_spelled(s, v.text, v.len);
}

static void put_word(myth_sink *s, const char *name, const char *v)
{
    myth_sink_text(s, name);
    myth_sink_text(s, v);
}

size_t myth_answer_write(char *dst, size_t cap, const myth_block *block, const myth_finding *f, uint32_t n,
                         const myth_str *context, uint32_t n_context)
{
    myth_sink s = {dst, cap, 0};
    myth_sink_text(&s, "{\"findings\":[");
    for (uint32_t i = 0; i < n; i++, f++) {
        const myth_source *src = block[f->block].src;
        myth_sink_text(&s, i ? ",{\"file\":\"" : "{\"file\":\"");
        myth_sink_bytes(&s, src->path_text, src->path_len);
        myth_sink_text(&s, "\",\"lines\":[");
        myth_sink_number(&s, myth_block_shown(&block[f->block], f->first));
        myth_sink_text(&s, ",");
        myth_sink_number(&s, myth_block_shown(&block[f->block], f->last));
        put_field(&s, "],\"evidence\":\"", f->evidence);
        put_word(&s, "\",\"rule\":\"", myth_rules[f->rule].id);
        put_field(&s, "\",\"issue\":\"", f->issue);
        put_field(&s, "\",\"why\":\"", f->why);
        put_word(&s, "\",\"severity\":\"", myth_severity_name(f->severity));
        put_word(&s, "\",\"status\":\"", myth_finding_status_name(f->status));
        put_field(&s, "\",\"fix\":\"", f->fix);
        put_field(&s, "\",\"missing\":\"", f->missing);
        myth_sink_text(&s, "\"}");
    }
    myth_sink_text(&s, "],\"missing_context\":[");
    for (uint32_t i = 0; i < n_context; i++) {
        put_field(&s, i ? ",\"" : "\"", context[i]);
        myth_sink_text(&s, "\"");
    }
    myth_sink_text(&s, "]}");
    return s.len;
}

size_t myth_answer_bound(const myth_findings_limits *m, size_t path_len)
{
    enum { FORM = 256, REST_OF_CHARACTER = 5 }; /* keys, numbers, words and punctuation of a finding stay below FORM */
    size_t finding =
        FORM + path_len + REST_OF_CHARACTER + (size_t)(m->evidence + m->issue + m->why + m->fix + m->missing);
    return MYTH_ANSWER_TAIL + (size_t)m->n_finding * finding + (size_t)m->n_context * (size_t)(m->context + 3);
}

uint32_t myth_answer_heads(myth_str out[MYTH_FINDING_MAX], const myth_findings_grammar *g, const char *text, size_t len)
{
    myth_automaton a;
    uint64_t state[MYTH_AUTOMATON_STATE_MAX / 8];
    uint32_t n = 0;
    size_t from = 0;
    myth_findings_automaton(&a, g);
    a.start(a.self, state);
    for (size_t i = 0; i < len; i++) {
        a.step(a.self, state, (uint8_t)text[i]);
        if (myth_findings_at_path(state))
            from = i + 1;
        else if (myth_findings_at_issue(state) && n < MYTH_FINDING_MAX)
            out[n++] = (myth_str){text + from, i + 1 - from};
    }
    return n < myth_findings_done(state) ? n : myth_findings_done(state);
}

/* ---- closing ---- */

size_t myth_answer_close(char *dst, const myth_findings_grammar *g, const char *text, size_t len, uint32_t *n_dropped)
{
    static const char empty[] = "{\"findings\":[],\"missing_context\":[]}", list[] = "],\"missing_context\":[]}",
                      context[] = "]}";
    myth_automaton a;
    uint64_t state[MYTH_AUTOMATON_STATE_MAX / 8];
    myth_findings_automaton(&a, g);
    a.start(a.self, state);
    const char *tail = empty;
    size_t keep = 0;
    for (size_t i = 0; i < len; i++) {
        a.step(a.self, state, (uint8_t)text[i]);
        switch (myth_findings_at(state)) {
        case MYTH_ANSWER_LIST:
            keep = i + 1;
            tail = list;
            break;
        case MYTH_ANSWER_CONTEXT:
            keep = i + 1;
            tail = context;
            break;
        default: break;
        }
    }
    *n_dropped = myth_findings_at(state) == MYTH_ANSWER_FINDING;
    if (a.may_end(a.self, state)) {
        keep = len;
        tail = "";
    }
    memmove(dst, text, keep);
    memcpy(dst + keep, tail, strlen(tail));
    return keep + strlen(tail);
}

/* ---- reading ---- */

static myth_status read_finding(myth_reader *r, myth_finding *f, const myth_block *block, uint32_t n_block)
{
    myth_status st;
    myth_str rule, severity, status;
    int at;
    MYTH_TRY(myth_read_place(r, block, n_block, &f->block, &f->first, &f->last));
    MYTH_TRY(myth_read_text(r, "evidence", &f->evidence));
    MYTH_TRY(myth_read_text(r, "rule", &rule));
    MYTH_TRY(myth_read_text(r, "issue", &f->issue));
    MYTH_TRY(myth_read_text(r, "why", &f->why));
    MYTH_TRY(myth_read_text(r, "severity", &severity));
    MYTH_TRY(myth_read_text(r, "status", &status));
    MYTH_TRY(myth_read_text(r, "fix", &f->fix));
    MYTH_TRY(myth_read_text(r, "missing", &f->missing));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_OBJECT_END, "the end of a finding"));
    f->rule = myth_rule_find(rule.text, rule.len);
    if (f->rule < 0)
        return myth_fail(r->err, MYTH_EFORMAT, "answer: no such rule");
    if ((at = myth_severity_find(severity.text, severity.len)) < 0)
        return myth_fail(r->err, MYTH_EFORMAT, "answer: no such severity");
    f->severity = (myth_severity)at;
    if ((at = myth_finding_status_find(status.text, status.len)) < 0)
        return myth_fail(r->err, MYTH_EFORMAT, "answer: no such status");
    f->status = (myth_finding_status)at;
fail:
    return st;
}

myth_status myth_answer_read(myth_answer *out, char *room, const myth_block *block, uint32_t n_block, const char *text,
                             size_t len, myth_error *err)
{
    myth_status st;
    myth_reader r = {.room = room, .err = err};
    memset(out, 0, sizeof(*out));
    myth_json_start(&r.j, text, len, "answer");
    MYTH_TRY(myth_read_next(&r, MYTH_JSON_OBJECT, "an object"));
    MYTH_TRY(myth_read_key(&r, "findings"));
    MYTH_TRY(myth_read_next(&r, MYTH_JSON_ARRAY, "a list"));
    for (;;) {
        MYTH_TRY(myth_json_next(&r.j, &r.t, err));
        if (r.t.type == MYTH_JSON_ARRAY_END)
            break;
        if (r.t.type != MYTH_JSON_OBJECT || out->n_finding == MYTH_FINDING_MAX)
            return myth_fail(err, MYTH_EFORMAT, "answer: expected at most %d findings", (int)MYTH_FINDING_MAX);
        MYTH_TRY(read_finding(&r, &out->finding[out->n_finding], block, n_block));
        out->n_finding++;
    }
    MYTH_TRY(myth_read_context(&r, out->context, &out->n_context));
fail:
    return st;
}
