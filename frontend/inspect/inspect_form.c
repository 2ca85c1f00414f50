/* inspect_form.c - the two forms that answers have: findings, or sentences that answer a question. */
#include "inspect_impl.h"

#include "frontend/inspect/answer/verify.h"

void myth_inspect_automaton(const myth_inspection *in, myth_automaton *a, const myth_findings_grammar *g)
{
    (myth_inspect_is_said(in) ? myth_sentences_automaton : myth_findings_automaton)(a, g);
}

size_t myth_inspect_bound(const myth_inspection *in, const myth_findings_limits *limits)
{
    return (myth_inspect_is_said(in) ? myth_sentences_bound : myth_answer_bound)(limits, in->path_len);
}

size_t myth_inspect_end_answer(const myth_inspection *in, char *text, const myth_findings_grammar *g, size_t len,
                               uint32_t *n_dropped)
{
    return (myth_inspect_is_said(in) ? myth_sentences_close : myth_answer_close)(text, g, text, len, n_dropped);
}

/* Stores the quotes of a sentence behind those there are; false when one does not hold. */
static bool keep_quotes(myth_inspection *in, const myth_reply *reply, const myth_sentence *s, const char **why)
{
    const inspect_part *p = &in->part[in->now];
    for (uint32_t i = 0; i < s->n_quote; i++) {
        myth_quote q = reply->quote[s->quote + i];
        const uint32_t at = in->report.n_quote + i;
        q.block += p->block0;
        const myth_verdict v =
            myth_verify_quote(&in->cited[at], in->block, in->n_block, q.block, q.first, q.last, q.quote);
        if (v != MYTH_CITES) {
            *why = myth_verdict_text(v);
            return false;
        }
        in->quote[at] = q;
    }
    return true;
}

void myth_inspect_keep_reply(myth_inspection *in, const myth_reply *reply, uint32_t first, const char **why)
{
    myth_report *r = &in->report;
    *why = NULL;
    r->n_quote = first ? in->sentence[first - 1].quote + in->sentence[first - 1].n_quote : 0;
    r->n_sentence = first;
    for (uint32_t i = 0; i < reply->n_sentence && r->n_sentence < in->cap_sentence; i++) {
        const myth_sentence *s = &reply->sentence[i];
        if (!keep_quotes(in, reply, s, why)) {
            r->n_dropped++;
            continue;
        }
        in->sentence[r->n_sentence++] = (myth_sentence){.text = s->text, .quote = r->n_quote, .n_quote = s->n_quote};
        r->n_quote += s->n_quote;
    }
    if (!reply->is_answered && reply->missing.len)
        r->missing = reply->missing;
}
