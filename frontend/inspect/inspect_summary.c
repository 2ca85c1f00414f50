/* inspect_summary.c - the prompt of a summary: the changed places, as the last part of an inspection. */
#include "inspect_impl.h"

#include <string.h>

static myth_prompt prompt_of(const myth_inspection *in, const myth_block *block, uint32_t n_block)
{
    return (myth_prompt){.style = MYTH_PROMPT_SUMMARY, .block = block, .n_block = n_block, .task = in->o.summary->task};
}

/* Whether the prompt has room. One of so many bytes that no tokenizer would make it short enough is not encoded. */
static myth_status fits(void *user, const myth_block *block, uint32_t n_block, bool *does_fit, myth_error *err)
{
    enum { BYTES_OF_TOKEN = 32 };
    const myth_inspection *in = user;
    const myth_prompt p = prompt_of(in, block, n_block);
    uint32_t n = 0;
    *does_fit = false;
    if (myth_prompt_user(NULL, 0, &p) / BYTES_OF_TOKEN > in->budget.limit)
        return MYTH_OK;
    const myth_status st = myth_inspect_encode(in, &p, NULL, &n, err);
    *does_fit = st == MYTH_OK && n <= in->budget.limit;
    return st;
}

/* Adds the part. Its blocks go behind those of the others. */
static myth_status add_part(myth_inspection *in, const myth_hunks *h, myth_error *err)
{
    inspect_part *p = &in->part[in->n_part];
    const myth_prompt prompt = prompt_of(in, h->block, h->n_block);
    myth_status st = myth_inspect_encode(in, &prompt, &p->ids, &p->n_ids, err);
    if (st != MYTH_OK)
        return st;
    p->block0 = in->n_block;
    p->n_block = h->n_block;
    memcpy(in->block + in->n_block, h->block, h->n_block * sizeof(h->block[0]));
    memcpy(in->block_piece + in->n_block, h->piece, h->n_block * sizeof(h->piece[0]));
    in->n_block += h->n_block;
    in->n_part++;
    in->has_summary = true;
    in->report.prompt_tokens += p->n_ids;
    in->report.summary.prompt_tokens = p->n_ids;
    in->report.summary.block0 = p->block0;
    in->report.summary.n_block = p->n_block;
    return MYTH_OK;
}

myth_status myth_inspect_plan_summary(myth_inspection *in, myth_error *err)
{
    const myth_summary_opts *o = in->o.summary;
    myth_summary *s = &in->report.summary;
    myth_hunks *h;
    *s = (myth_summary){.is_asked = true, .why_none = o->why_none};
    if (!myth_inspect_wants_summary(in) || in->report.refusal)
        return MYTH_OK;
    if (!(h = myth_inspect_take(in, "summary", 1, sizeof(*h))))
        return myth_inspect_no_room("summary", sizeof(*h), err);
    myth_status st = myth_hunks_make(h, in->mem, in->material, o->place, o->n_place, fits, in, err);
    s->n_line = h->n_line;
    s->n_shown = h->n_shown;
    if (st == MYTH_OK && h->n_block)
        st = add_part(in, h, err);
    else if (st == MYTH_OK)
        s->why_none = "no changed line fits the summary's prompt: --max-prompt-tokens and -c give more";
    myth_free(in->mem, h);
    return st;
}
