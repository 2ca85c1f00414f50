/* inspect.c - the pipeline. Everything that depends on the file is sized in open; run takes the rest in one go and generates. */
#include "inspect.h"

#include "split.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { N_CACHED_MASK = 32, STEP_CTX = 64 };

typedef struct {
    int32_t *ids;
    uint32_t n_ids;
} part;

struct myth_inspection {
    myth_mem *mem;
    const myth_model *model;
    myth_inspect_opts o;
    myth_source src;
    part *part;                         /* [n_part] */
    myth_block *block;                  /* [n_part] */
    uint32_t n_part, n_prefix;          /* tokens that all prompts begin with */
    int32_t *again;                     /* two passes: what is fed between the answers */
    uint32_t n_again;
    myth_findings_limits limits, brief, expand;
    myth_report report;
    myth_refusal refusal;
    myth_marks marks;
    /* taken by run */
    myth_grammar *grammar;
    myth_finding *finding;
    myth_citation *citation;
    myth_str *context;
    int32_t *ids;
    char *text, *text2, *room;
    size_t room_cap, room_used;
    uint32_t now;                       /* part at work             */
    uint32_t n_new, n_new_max;          /* tokens of the answer at work, for progress */
    const char *what;
};

static void *stage(const myth_inspection *in, const char *owner, size_t count, size_t size)
{
    return myth_alloc_n(in->mem, MYTH_MEM_STAGING, owner, count, size);
}

static myth_status no_room(const char *what, size_t bytes, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", what, bytes);
}

/* ---- prompts ---- */

/* Ids of lines first..last; *ids is exact, the caller's. ids NULL: counts only. */
static myth_status encode_lines(const myth_inspection *in, uint32_t first, uint32_t last, int32_t **ids, uint32_t *n_ids, myth_error *err)
{
    myth_block block = { .src = &in->src, .first = first, .last = last };
    myth_prompt p = { .style = in->o.style, .block = &block, .n_block = 1 };
    size_t bound = myth_prompt_bound(&p), n = 0;
    int32_t *all = stage(in, "prompt ids", bound, sizeof(int32_t));
    myth_status st = MYTH_OK;
    if (!all)
        return no_room("prompt ids", bound * sizeof(int32_t), err);
    MYTH_TRY(myth_prompt_encode(in->model->tokenizer, in->mem, in->model->config.family, &p, all, bound, &n, err));
    *n_ids = (uint32_t)n;                                /* a file of at most MYTH_SOURCE_MAX bytes makes fewer than 2^32 */
    if (ids) {
        *ids = stage(in, "prompt ids", n, sizeof(int32_t));
        if (*ids)
            memcpy(*ids, all, n * sizeof(int32_t));
        else
            st = no_room("prompt ids", n * sizeof(int32_t), err);
    }
fail:
    myth_free(in->mem, all);
    return st;
}

/* A part stays below soft; a line that alone is longer may reach hard. */
typedef struct {
    const myth_inspection *in;
    uint32_t soft, hard;
} fit;

static myth_status fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err)
{
    const fit *f = user;
    uint32_t n = 0;
    myth_status st = encode_lines(f->in, first, last, NULL, &n, err);
    *does = n <= (first == last ? f->hard : f->soft);
    return st;
}

static myth_status add_part(myth_inspection *in, uint32_t first, uint32_t last, myth_error *err)
{
    if (in->n_part == MYTH_PART_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: more than %d parts", in->src.path, (int)MYTH_PART_MAX);
    part *p = &in->part[in->n_part];
    in->block[in->n_part++] = (myth_block) { .src = &in->src, .first = first, .last = last };
    return encode_lines(in, first, last, &p->ids, &p->n_ids, err);
}

static myth_status add_parts(myth_inspection *in, uint32_t soft, uint32_t hard, uint32_t whole, myth_error *err)
{
    fit f = { in, soft, hard };
    uint32_t n_line = in->src.n_line;
    uint64_t guess = (uint64_t)n_line * soft / (whole ? whole : 1);
    for (uint32_t first = 1, last; first <= n_line; first = last + 1) {
        myth_status st = myth_split_next(&last, &in->src, first, guess ? (uint32_t)guess : 1, fits, &f, err);
        if (st == MYTH_OK)
            st = add_part(in, first, last, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static uint32_t common_prefix(const myth_inspection *in)
{
    uint32_t n = in->n_part > 1 && !in->o.is_isolated ? in->part[0].n_ids : 0;
    for (uint32_t i = 1; i < in->n_part; i++) {
        uint32_t k = 0;
        while (k < n && k < in->part[i].n_ids && in->part[i].ids[k] == in->part[0].ids[k])
            k++;
        n = k;
    }
    return n;
}

/* What stands between a first answer and the second: the end of the turn, a turn of the user, the head of the next answer. */
static myth_status encode_again(myth_inspection *in, myth_error *err)
{
    static const char expand[] = "Now write the same findings again, in the same order, with issue, why, severity, status, fix and missing "
                                 "filled in.";
    enum { CAP = 512 };
    const myth_message msg[] = { { MYTH_ROLE_USER, { "x", 1 } },
                                 { MYTH_ROLE_ASSISTANT, { "x", 1 } },
                                 { MYTH_ROLE_USER, { expand, sizeof(expand) - 1 } } };
    int32_t all[CAP], end = myth_tokenizer_special(in->model->tokenizer)->end_of_turn;
    size_t n = 0, at = 0;
    myth_status st = myth_chat_encode(in->model->tokenizer, in->mem, in->model->config.family, msg, 3, all, CAP, &n, err);
    if (st != MYTH_OK)
        return st;
    for (int turn = 0; at < n && (turn += all[at] == end) < 2; at++) {
    }
    in->n_again = (uint32_t)(n - at);
    in->again = stage(in, "second question", n - at, sizeof(int32_t));
    if (!in->again)
        return no_room("second question", (n - at) * sizeof(int32_t), err);
    memcpy(in->again, all + at, (n - at) * sizeof(int32_t));
    return MYTH_OK;
}

/* ---- limits ---- */

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t brief_tokens(const myth_inspection *in) { return min_u32(in->o.max_new_tokens, MYTH_INSPECT_BRIEF_TOKENS); }

/* Tokens that follow the prompt. */
static uint64_t output_tokens(const myth_inspection *in)
{
    return in->o.max_new_tokens + (in->o.two_pass ? (uint64_t)brief_tokens(in) + in->n_again : 0);
}

static uint32_t context_tokens(const myth_inspection *in) { return in->o.n_ctx ? in->o.n_ctx : in->model->config.n_ctx_train; }

static void remedy(myth_inspection *in, const char *text)
{
    if (in->refusal.n_remedy < MYTH_REMEDY_MAX)
        snprintf(in->refusal.remedy[in->refusal.n_remedy++], sizeof(in->refusal.remedy[0]), "%s", text);
}

static void refuse(myth_inspection *in, uint64_t count, uint64_t limit, const char *what)
{
    in->refusal = (myth_refusal) { .count = count, .limit = limit, .unit = "tokens" };
    snprintf(in->refusal.reason, sizeof(in->refusal.reason), "%s: %llu tokens, the limit is %llu", what, (unsigned long long)count,
             (unsigned long long)limit);
    remedy(in, "fewer files: inspect a file that holds only what matters");
    remedy(in, "smaller chunks: --split inspects the file in parts, each within the limit");
    remedy(in, "summarise first: leave out the code that the findings do not need");
    in->report.refusal = &in->refusal;
    in->report.finish_reason = myth_finish_name(MYTH_FINISH_REFUSED);
    in->report.complete = false;
}

void myth_inspect_refuse(myth_inspection *in, const myth_refusal *why)
{
    in->refusal = *why;
    in->report.refusal = &in->refusal;
    in->report.finish_reason = myth_finish_name(MYTH_FINISH_REFUSED);
    in->report.complete = false;
}

/* Counts the whole prompt, refuses or makes the parts. */
static myth_status plan_parts(myth_inspection *in, myth_error *err)
{
    uint32_t whole = 0, ctx = context_tokens(in), limit = in->o.max_prompt_tokens, trained = 0, soft;
    myth_status st;
    myth_error own = { 0 };
    MYTH_TRY(encode_lines(in, 1, in->src.n_line, NULL, &whole, &own));
    in->report.prompt_tokens = whole;
    if (whole > limit && !in->o.split) {
        refuse(in, whole, limit, "the prompt is too long");
        return MYTH_OK;
    }
    if (output_tokens(in) >= ctx || (in->o.n_ctx && !in->o.split && whole + output_tokens(in) > ctx)) {
        refuse(in, whole + output_tokens(in), ctx, "prompt and output exceed the context");
        remedy(in, "a shorter output: -n; a longer context: -c");
        return MYTH_OK;
    }
    limit = min_u32(limit, ctx - (uint32_t)output_tokens(in));
    myth_meta_u32(&trained, myth_weights_meta(in->model->weights), "mythos.trained_tokens");
    soft = trained ? min_u32(limit, trained) : limit;
    if (whole <= soft)
        MYTH_TRY(add_part(in, 1, in->src.n_line, &own));
    else
        MYTH_TRY(add_parts(in, soft, limit, whole, &own));
    in->n_prefix = common_prefix(in);
    in->report.prompt_tokens = 0;
    for (uint32_t i = 0; i < in->n_part; i++)
        in->report.prompt_tokens += in->part[i].n_ids;
    in->report.n_part = in->n_part;
fail:
    if (st == MYTH_ELIMIT) {                             /* no place to cut at: a refusal like the others */
        refuse(in, whole, limit, own.msg);
        st = MYTH_OK;
    }
    if (st != MYTH_OK && err)
        *err = own;
    return st;
}

/* ---- life ---- */

myth_status myth_inspect_open(myth_inspection **out, const myth_model *model, const char *path, const unsigned char *bytes, size_t len,
                              const myth_inspect_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_inspection *in = myth_alloc(model->mem, MYTH_MEM_STAGING, "inspection", sizeof(*in));
    if (!in)
        return myth_fail(err, MYTH_ENOMEM, "inspection: %zu bytes", sizeof(*in));
    in->mem = model->mem;
    in->model = model;
    in->o = *opts;
    in->limits = *myth_findings_limits_of(opts->style);
    in->brief = in->expand = in->limits;
    in->brief.issue = in->brief.why = in->brief.fix = in->brief.missing = in->brief.n_context = 0;
    const myth_findings_limits *full = myth_findings_limits_of(MYTH_PROMPT_FULL);
    in->expand.issue = full->issue;
    in->expand.why = full->why;
    in->expand.fix = full->fix;
    in->expand.missing = full->missing;
    in->report = (myth_report) { .model = myth_weights_name(model->weights), .path = path, .max_new_tokens = opts->max_new_tokens,
                                 .finish_reason = myth_finish_name(MYTH_FINISH_NONE) };
    MYTH_TRY(myth_source_open(&in->src, in->mem, path, bytes, len, err));
    in->part = stage(in, "parts", MYTH_PART_MAX, sizeof(part));
    in->block = stage(in, "parts", MYTH_PART_MAX, sizeof(myth_block));
    if (!in->part || !in->block) {
        st = no_room("parts", MYTH_PART_MAX * (sizeof(part) + sizeof(myth_block)), err);
        goto fail;
    }
    if (opts->two_pass)
        MYTH_TRY(encode_again(in, err));
    MYTH_TRY(plan_parts(in, err));
    MYTH_TRY(myth_marks_open(&in->marks, in->mem, &in->report, in->block, in->n_part, in->n_part * (uint32_t)in->limits.n_finding,
                             !opts->no_inline_ignores, opts->baseline, err));
    in->report.block = in->block;
    *out = in;
    return MYTH_OK;
fail:
    myth_inspect_close(in);
    return st;
}

void myth_inspect_close(myth_inspection *in)
{
    if (!in)
        return;
    myth_mem *mem = in->mem;
    myth_marks_close(&in->marks);
    myth_grammar_close(in->grammar);
    myth_free(mem, in->room);
    myth_free(mem, in->text2);
    myth_free(mem, in->text);
    myth_free(mem, in->ids);
    myth_free(mem, in->context);
    myth_free(mem, in->citation);
    myth_free(mem, in->finding);
    myth_free(mem, in->again);
    for (uint32_t i = 0; in->part && i < in->n_part; i++)
        myth_free(mem, in->part[i].ids);
    myth_free(mem, in->block);
    myth_free(mem, in->part);
    myth_source_close(&in->src);
    myth_free(mem, in);
}

uint32_t myth_inspect_n_part(const myth_inspection *in) { return in->n_part; }
const myth_report *myth_inspect_report(const myth_inspection *in) { return &in->report; }

void myth_inspect_part(const myth_inspection *in, uint32_t i, uint32_t *first, uint32_t *last, uint32_t *n_tok)
{
    *first = in->block[i].first;
    *last = in->block[i].last;
    *n_tok = in->part[i].n_ids;
}

/* ---- memory of a run: one list for its sizes and its taking ---- */

typedef struct {
    size_t finding, citation, context, ids, text, text2, room;
} run_bytes;

static void size_run(run_bytes *b, const myth_inspection *in)
{
    size_t bound = myth_answer_bound(&in->limits, in->src.path_len);
    size_t bound2 = in->o.two_pass ? myth_answer_bound(&in->expand, in->src.path_len) : 0;
    b->finding = in->n_part * (size_t)in->limits.n_finding * sizeof(myth_finding);
    b->citation = in->n_part * (size_t)in->limits.n_finding * sizeof(myth_citation);
    b->context = in->n_part * (size_t)MYTH_CONTEXT_MAX * sizeof(myth_str);
    b->ids = in->o.max_new_tokens ? in->o.max_new_tokens * sizeof(int32_t) : 1;
    b->text = bound;
    b->text2 = bound2;
    b->room = in->n_part * (bound + bound2);
}

myth_status myth_inspect_needs(const myth_inspection *in, myth_engine_opts *opts, myth_plan_extra *extra, myth_error *err)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < in->n_part; i++)
        longest = in->part[i].n_ids > longest ? in->part[i].n_ids : longest;
    uint64_t need = longest + output_tokens(in), ctx = context_tokens(in);
    need = (need + STEP_CTX - 1) / STEP_CTX * STEP_CTX;
    opts->n_ctx = in->o.n_ctx ? in->o.n_ctx : (uint32_t)(need < ctx ? need : ctx);
    opts->n_seq = 1;
    opts->n_checkpoint = in->n_prefix > 0;
    myth_generate_needs(opts, &in->o.sample, true);

    run_bytes b;
    myth_plan engine;
    myth_status st = myth_plan_make(&engine, in->model, opts, NULL, NULL, false, err);
    if (st != MYTH_OK)
        return st;
    size_run(&b, in);
    myth_mem_count staging = myth_mem_get(in->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING);
    uint64_t own = staging.live + b.finding + b.citation + b.context + b.ids + b.text + b.text2 + b.room;
    uint64_t of_engine = engine.device[0].bytes[MYTH_MEM_STAGING];
    memset(extra, 0, sizeof(*extra));
    /* counting may have held more than the run will */
    extra->bytes[MYTH_MEM_STAGING] = own + of_engine > staging.peak ? own : staging.peak - of_engine;
    extra->bytes[MYTH_MEM_OTHER] = myth_grammar_plan(in->model->tokenizer, in->model->config.n_vocab, N_CACHED_MASK);
    return MYTH_OK;
}

static myth_status take_run(myth_inspection *in, myth_error *err)
{
    run_bytes b;
    int32_t stop[8];
    int n_stop;
    const myth_tokenizer *t = in->model->tokenizer;
    size_run(&b, in);
    in->room_cap = b.room;
    in->finding = stage(in, "findings", b.finding, 1);
    in->citation = stage(in, "findings", b.citation, 1);
    in->context = stage(in, "findings", b.context, 1);
    in->ids = stage(in, "answer ids", b.ids, 1);
    in->text = stage(in, "answer", b.text, 1);
    in->text2 = b.text2 ? stage(in, "answer", b.text2, 1) : NULL;
    in->room = stage(in, "answers", b.room, 1);
    if (!in->finding || !in->citation || !in->context || !in->ids || !in->text || !in->text2 != !b.text2 || !in->room)
        return no_room("findings", b.finding + b.citation + b.context + b.ids + b.text + b.text2 + b.room, err);
    n_stop = myth_chat_stop_ids(t, in->model->config.family, stop);
    return myth_grammar_open(&in->grammar, in->mem, t, in->model->config.n_vocab, stop, n_stop, N_CACHED_MASK, err);
}

/* ---- generation ---- */

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    myth_inspection *in = user;
    if (in->o.on_progress)
        in->o.on_progress(in->o.user, "reading", in->now, in->n_part, done, total);
}

static bool on_token(void *user, int32_t id)
{
    myth_inspection *in = user;
    (void)id;
    if (in->o.on_progress)
        in->o.on_progress(in->o.user, in->what, in->now, in->n_part, ++in->n_new, in->n_new_max);
    return true;
}

/* Feeds prompt and generates under g; text gets the answer, closed where generation stopped. */
static myth_status answer(myth_inspection *in, myth_engine *e, myth_seq *s, const int32_t *prompt, uint32_t n_prompt, uint32_t n_max,
                          const myth_findings_grammar *g, char *text, size_t *len, myth_finish *why, myth_error *err)
{
    int32_t stop[8];
    uint32_t n = 0;
    myth_automaton a;
    in->n_new = 0;
    in->n_new_max = n_max;
    myth_findings_automaton(&a, g);
    myth_grammar_start(in->grammar, &a);
    const myth_generate_opts o = {
        .prompt = prompt,
        .n_prompt = n_prompt,
        .n_max = n_max,
        .sample = in->o.sample,
        .stop_ids = stop,
        .n_stop = myth_chat_stop_ids(in->model->tokenizer, in->model->config.family, stop),
        .grammar = in->grammar,
        .on_prefill = on_prefill,
        .on_token = on_token,
        .user = in,
        .cancel = in->o.cancel,
        .seq_number = in->now,
    };
    myth_status st = myth_generate(e, s, &o, in->ids, &n, why, err);
    if (st != MYTH_OK)
        return st;
    size_t cap = myth_answer_bound(text == in->text2 ? &in->expand : &in->limits, in->src.path_len);
    *len = 0;
    for (uint32_t i = 0; i < n; i++)
        *len += myth_tokenizer_bytes_of(in->model->tokenizer, in->ids[i], text + *len, cap - *len);
    assert(*len + MYTH_ANSWER_TAIL <= cap);
    uint32_t n_dropped;
    *len = myth_answer_close(text, g, text, *len, &n_dropped);
    in->report.n_dropped += n_dropped;
    return MYTH_OK;
}

static bool same_str(myth_str a, myth_str b) { return a.len == b.len && !memcmp(a.text, b.text, a.len); }

/* Reads and verifies the answer about the part at work; what does not hold is dropped and counted. */
static myth_status keep(myth_inspection *in, const char *text, size_t len, uint32_t from, myth_error *err)
{
    myth_answer got;
    myth_status st = myth_answer_read(&got, in->room + in->room_used, &in->block[in->now], 1, text, len, err);
    if (st != MYTH_OK)
        return st;
    in->room_used += len;
    assert(in->room_used <= in->room_cap);
    uint32_t n = from;
    for (uint32_t i = 0; i < got.n_finding; i++) {
        myth_finding f = got.finding[i];
        f.block = in->now;
        if (myth_verify(&in->citation[n], &f, in->block, in->n_part, in->finding + from, n - from) == MYTH_CITES)
            in->finding[n++] = f;
        else
            in->report.n_dropped++;
    }
    in->report.n_finding = n > in->report.n_finding ? n : in->report.n_finding;
    for (uint32_t i = 0; i < got.n_context; i++) {
        uint32_t k = 0;
        while (k < in->report.n_context && !same_str(in->context[k], got.context[i]))
            k++;
        if (k == in->report.n_context)
            in->context[in->report.n_context++] = got.context[i];
    }
    return MYTH_OK;
}

/* The second pass writes over the first one's findings as far as it comes. */
static myth_status expand(myth_inspection *in, myth_engine *e, myth_seq *s, const myth_findings_grammar *first, size_t len, uint32_t from,
                          myth_finish *why, myth_error *err)
{
    myth_str heads[MYTH_FINDING_MAX];
    myth_findings_grammar g = { .block = first->block, .n_block = 1, .limits = &in->expand, .fixed = heads };
    g.n_fixed = myth_answer_heads(heads, first, in->text, len);
    if (!g.n_fixed)
        return MYTH_OK;
    in->what = "explaining";
    myth_status st = answer(in, e, s, in->again, in->n_again, in->o.max_new_tokens, &g, in->text2, &len, why, err);
    return st == MYTH_OK ? keep(in, in->text2, len, from, err) : st;
}

static myth_status run_part(myth_inspection *in, myth_engine *e, myth_seq *s, myth_finish *why, myth_error *err)
{
    const part *p = &in->part[in->now];
    const myth_findings_grammar g = { .block = &in->block[in->now], .n_block = 1, .limits = in->o.two_pass ? &in->brief : &in->limits };
    uint32_t at = 0, from = in->report.n_finding, n_max = in->o.two_pass ? brief_tokens(in) : in->o.max_new_tokens;
    size_t len = 0;
    myth_status st;
    in->what = "writing";
    MYTH_TRY(myth_seq_truncate(s, in->n_prefix < myth_seq_len(s) ? in->n_prefix : myth_seq_len(s), &at, err));
    MYTH_TRY(answer(in, e, s, p->ids + at, p->n_ids - at, n_max, &g, in->text, &len, why, err));
    MYTH_TRY(keep(in, in->text, len, from, err));
    if (in->o.two_pass && *why == MYTH_FINISH_STOP)
        MYTH_TRY(expand(in, e, s, &g, len, from, why, err));
fail:
    return st;
}

/* The prefix of all parts, computed once and marked, so that truncating to it is exact. */
static myth_status feed_prefix(myth_inspection *in, myth_engine *e, myth_seq *s, myth_finish *why, myth_error *err)
{
    uint32_t n = 0;
    if (!in->n_prefix)
        return MYTH_OK;
    const myth_generate_opts o = { .prompt = in->part[0].ids, .n_prompt = in->n_prefix, .cancel = in->o.cancel };
    myth_status st = myth_generate(e, s, &o, in->ids, &n, why, err);
    return st == MYTH_OK && *why != MYTH_FINISH_CANCELLED ? myth_seq_checkpoint(s, err) : st;
}

myth_status myth_inspect_run(myth_inspection *in, myth_engine *e, myth_error *err)
{
    myth_seq *s = NULL;
    myth_status st;
    myth_finish why = MYTH_FINISH_NONE, worst = MYTH_FINISH_STOP;
    assert(!in->refusal.n_remedy && !in->grammar);
    MYTH_TRY(take_run(in, err));
    MYTH_TRY(myth_seq_open(&s, e, err));
    MYTH_TRY(feed_prefix(in, e, s, &why, err));
    for (in->now = 0; in->now < in->n_part && why != MYTH_FINISH_CANCELLED; in->now++) {
        MYTH_TRY(run_part(in, e, s, &why, err));
        if (worst == MYTH_FINISH_STOP)
            worst = why;
    }
    if (why == MYTH_FINISH_CANCELLED)
        worst = why;
    in->report.finish_reason = myth_finish_name(worst);
    in->report.complete = worst == MYTH_FINISH_STOP && !in->report.n_dropped;
    in->report.finding = in->finding;
    in->report.citation = in->citation;
    in->report.context = in->context;
    myth_marks_fill(&in->marks, &in->report);
fail:
    if (st != MYTH_OK)
        in->report.n_finding = in->report.n_context = 0;
    myth_seq_close(s);
    return st;
}
