/* inspect_given.c - findings that no answer has: they become the report's first ones, and the model is asked to write
 * out why each is a fault and what would mend it. It is given them as if they were the brief answer of two passes: the
 * grammar allows no other findings, and only their texts are generated. */
#include "inspect_impl.h"

#include "frontend/inspect/answer/verify.h"

#include <string.h>

/* Whether a given finding says the same. */
bool myth_inspect_is_given(const myth_inspection *in, const myth_finding *f)
{
    for (uint32_t i = 0; i < in->report.n_given; i++)
        if (in->given[i]->src == in->block[f->block].src && in->finding[i].first == f->first &&
            in->finding[i].last == f->last && in->finding[i].rule == f->rule)
            return true;
    return false;
}

/* The first block that shows a line; n_block when none does. */
static uint32_t block_of(const myth_inspection *in, const myth_source *src, uint32_t line)
{
    uint32_t i = 0;
    while (i < in->n_block && (in->block[i].src != src || line < in->block[i].first || line > in->block[i].last))
        i++;
    return i;
}

/* A given finding about the lines that a block shows, without texts but its evidence. */
static myth_finding finding_of(const myth_inspection *in, const myth_given *g, uint32_t block)
{
    static const myth_str none = {"", 0};
    return (myth_finding){
        .block = block,
        .first = g->first,
        .last = myth_min_u32(g->last, in->block[block].last),
        .rule = g->rule,
        .severity = g->severity,
        .status = MYTH_LIKELY,
        .is_brought = g->is_brought,
        .known_rule = g->known_rule,
        .known_line = g->known_line,
        .evidence = g->evidence,
        .issue = none,
        .why = none,
        .fix = none,
        .missing = none,
    };
}

/* Makes the given findings that pass the report's first ones. */
void myth_inspect_keep_given(myth_inspection *in)
{
    enum { LIKELY_PERCENT = 80 };
    myth_report *r = &in->report;
    for (uint32_t i = 0; i < in->o.n_given; i++) {
        const myth_given *g = &in->o.given[i];
        const uint32_t at = g->passes || g->is_refused ? block_of(in, g->src, g->first) : in->n_block;
        if (at == in->n_block)
            continue;
        myth_finding f = finding_of(in, g, at);
        if (!g->passes) {
            myth_marks_unseen(&in->marks, g->src, &f);
            continue;
        }
        f.status = g->probability * 100 >= LIKELY_PERCENT ? MYTH_LIKELY : MYTH_SPECULATIVE;
        f.why = g->why;
        const myth_verdict v =
            myth_verify(&in->citation[r->n_finding], &f, in->block, in->n_block, in->finding, r->n_finding);
        if (v == MYTH_CITES_AGAIN)
            continue;
        if (v != MYTH_CITES) {
            r->n_dropped++;
            myth_inspect_note_drop(in, &f, myth_verdict_text(v));
        } else if (in->o.wants && !in->o.wants(in->o.user, g->src, &f, &in->citation[r->n_finding])) {
            r->n_unwanted++;
            myth_marks_unseen(&in->marks, g->src, &f);
            myth_inspect_note_drop(in, &f, "its lines, rule or severity were not asked for");
        } else {
            in->given[r->n_given++] = g;
            in->finding[r->n_finding++] = f;
        }
    }
}

/* ---- writing them out ---- */

/* Fills all[n_all] as the brief answer of a part would have it; false: the part does not show its place, or it is there
 * already. */
static bool brief_finding(myth_finding *all, uint32_t n_all, const myth_inspection *in, const inspect_part *p,
                          const myth_given *g)
{
    myth_finding *f = &all[n_all];
    const uint32_t at = g->passes ? block_of(in, g->src, g->first) : in->n_block;
    if (at < p->block0 || at >= p->block0 + p->n_block)
        return false;
    *f = finding_of(in, g, at);
    f->block -= p->block0;
    f->last = myth_min_u32(f->last, f->first + (uint32_t)in->brief.span - 1);
    size_t *n = &f->evidence.len;
    while (*n && (myth_spell(NULL, 0, f->evidence.text, *n) > (size_t)in->brief.evidence ||
                  (*n < g->evidence.len && (f->evidence.text[*n] & 0xc0) == 0x80)))
        --*n;
    for (uint32_t i = 0; i < n_all; i++)
        if (all[i].block == f->block && all[i].first == f->first && all[i].last == f->last && all[i].rule == f->rule)
            return false;
    return true;
}

/* The grammar of a part's brief answer, with the rules that no answer of a model has. */
static myth_findings_grammar brief_grammar(const myth_inspection *in, const inspect_part *p)
{
    return (myth_findings_grammar){.block = in->block + p->block0, .n_block = p->n_block, .limits = &in->listed};
}

/* Writes the question about n findings of a part: its prompt, the findings as an answer, and the turn that asks for
 * their texts. */
static myth_status encode_question(inspect_explain *x, const myth_inspection *in, const myth_finding *f, uint32_t n,
                                   myth_error *err)
{
    const inspect_part *p = &in->part[x->part];
    const uint32_t n_prompt = p->n_ids - myth_inspect_prefix(in, x->part);
    const size_t len = myth_answer_write(NULL, 0, in->block + p->block0, f, n, NULL, 0),
                 cap = myth_tokenizer_bound(len);
    size_t n_answer = 0;
    x->text = myth_inspect_take(in, "given findings", len + 1, 1);
    x->ids = myth_inspect_take(in, "given findings", n_prompt + cap + in->n_again, sizeof(*x->ids));
    if (!x->text || !x->ids)
        return myth_inspect_no_room("given findings", len, err);
    x->n_text = myth_answer_write(x->text, len, in->block + p->block0, f, n, NULL, 0);
    memcpy(x->ids, p->ids + myth_inspect_prefix(in, x->part), n_prompt * sizeof(*x->ids));
    const myth_status st = myth_tokenizer_encode(in->model->tokenizer, in->mem, MYTH_TOK_CONTENT, x->text, x->n_text,
                                                 x->ids + n_prompt, cap, &n_answer, err);
    if (st != MYTH_OK)
        return st;
    memcpy(x->ids + n_prompt + n_answer, in->again, in->n_again * sizeof(*x->ids));
    x->n_ids = n_prompt + (uint32_t)n_answer + in->n_again;
    return MYTH_OK;
}

/* Adds a question about findings of a part, as many as the grammar takes. */
static myth_status add_question(myth_inspection *in, uint32_t part, const myth_finding *f, uint32_t n, myth_error *err)
{
    const inspect_part *p = &in->part[part];
    const myth_findings_grammar g = brief_grammar(in, p);
    myth_str heads[MYTH_FINDING_MAX];
    inspect_explain *x = &in->explain[in->n_explain];
    *x = (inspect_explain){.part = part};
    in->n_explain++; /* from here on close frees it */
    const myth_status st = encode_question(x, in, f, n, err);
    if (st != MYTH_OK || myth_answer_heads(heads, &g, x->text, x->n_text) == n)
        return st;
    myth_free(in->mem, x->text); /* some place cannot stand in an answer: what was found says enough */
    myth_free(in->mem, x->ids);
    in->n_explain--;
    return MYTH_OK;
}

myth_status myth_inspect_plan_given(myth_inspection *in, myth_error *err)
{
    myth_finding f[MYTH_FINDING_MAX];
    const uint32_t most = (uint32_t)in->brief.n_finding;
    myth_status st = MYTH_OK;
    if (!in->o.n_given || !in->o.explains_given || in->report.refusal || in->is_bare)
        return MYTH_OK;
    in->listed = in->brief;
    in->told = in->expand;
    in->listed.n_rule = in->told.n_rule = MYTH_RULE_N;
    in->told.n_context = 0; /* nothing is brought to an answer that only writes out */
    in->explain = myth_inspect_take(in, "given findings", myth_inspect_n_own(in) + in->o.n_given, sizeof(*in->explain));
    if (!in->explain)
        return myth_inspect_no_room("given findings", in->o.n_given * sizeof(*in->explain), err);
    for (uint32_t part = 0; part < myth_inspect_n_own(in); part++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < in->o.n_given && st == MYTH_OK; i++) {
            n += brief_finding(f, n, in, &in->part[part], &in->o.given[i]);
            if (n == most) {
                st = add_question(in, part, f, n, err);
                n = 0;
            }
        }
        if (n && st == MYTH_OK)
            st = add_question(in, part, f, n, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* Gives the texts of an answer's findings to the report's own. */
static void take_texts(myth_inspection *in, const inspect_part *p, const myth_answer *got)
{
    for (uint32_t k = 0; k < got->n_finding; k++)
        for (uint32_t i = 0; i < in->report.n_given; i++) {
            const myth_finding *from = &got->finding[k];
            myth_finding *to = &in->finding[i];
            if (from->block + p->block0 != to->block || from->first != to->first || from->rule != to->rule)
                continue;
            to->issue = from->issue.len ? from->issue : to->issue;
            to->why = from->why.len ? from->why : to->why;
            to->fix = from->fix;
            to->missing = from->missing;
        }
}

static myth_status explain(myth_inspection *in, const inspect_explain *x, myth_finish *why, myth_error *err)
{
    const inspect_part *p = &in->part[x->part];
    const uint32_t n_dropped = in->report.n_dropped, n_drop = in->report.n_drop;
    const myth_findings_grammar first = brief_grammar(in, p);
    myth_str heads[MYTH_FINDING_MAX];
    myth_findings_grammar g = first;
    myth_answer got;
    size_t len = 0;
    g.limits = &in->told;
    g.fixed = heads;
    g.n_fixed = myth_answer_heads(heads, &first, x->text, x->n_text);
    const myth_question q = {
        .kind = MYTH_EXCHANGE_EXPAND,
        .part = x->part,
        .ids = x->ids,
        .n_ids = x->n_ids,
        .n_max = in->o.max_new_tokens,
        .g = &g,
        .text = in->text,
        .cap = myth_answer_bound(&in->told, in->path_len),
    };
    in->now = x->part;
    in->round = 0;
    in->what = "explaining";
    myth_inspect_begin_part(in);
    myth_status st = myth_inspect_answer(in, &q, &len, why, err);
    in->report.n_dropped = n_dropped; /* a finding whose text was cut off is there all the same */
    in->report.n_drop = n_drop;
    if (st != MYTH_OK || len > in->room_cap - in->room_used)
        return st;
    st = myth_answer_read(&got, in->room + in->room_used, in->block + p->block0, p->n_block, in->text, len, err);
    in->room_used += len;
    if (st == MYTH_OK)
        take_texts(in, p, &got);
    return st;
}

myth_status myth_inspect_explain_given(myth_inspection *in, myth_finish *why, myth_error *err)
{
    myth_status st = MYTH_OK;
    *why = MYTH_FINISH_NONE;
    for (uint32_t i = 0; i < in->n_explain && st == MYTH_OK && *why != MYTH_FINISH_CANCELLED; i++)
        st = explain(in, &in->explain[i], why, err);
    *why = *why == MYTH_FINISH_CANCELLED ? *why : MYTH_FINISH_NONE;
    return st;
}

void myth_inspect_free_given(myth_inspection *in)
{
    for (uint32_t i = 0; i < in->n_explain; i++) {
        myth_free(in->mem, in->explain[i].text);
        myth_free(in->mem, in->explain[i].ids);
    }
    myth_free(in->mem, in->explain);
    myth_free(in->mem, in->given);
}
