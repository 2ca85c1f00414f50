/* inspect.c - opens and closes an inspection and sizes its memory. Open plans the parts and allocates what depends on
 * the material. A run (inspect_ask.c) first allocates all the memory that it will need, then generates answers. */
#include "inspect_impl.h"

#include <string.h>

/* ---- limits ---- */

bool myth_inspect_has_rounds(const myth_inspection *in)
{
    return in->o.on_context && in->o.context_rounds && in->limits.n_context;
}
uint32_t myth_inspect_brief_tokens(const myth_inspection *in)
{
    return myth_min_u32(in->o.max_new_tokens, MYTH_INSPECT_BRIEF_TOKENS);
}

uint64_t myth_inspect_output_tokens(const myth_inspection *in)
{
    return in->o.max_new_tokens + (in->o.two_pass ? (uint64_t)myth_inspect_brief_tokens(in) + in->n_again : 0);
}

uint32_t myth_inspect_context_tokens(const myth_inspection *in)
{
    return in->o.n_ctx ? in->o.n_ctx : in->model->config.n_ctx_train;
}

void myth_inspect_refuse(myth_inspection *in, const myth_refusal *why)
{
    in->refusal = *why;
    in->report.refusal = &in->refusal;
    in->report.finish_reason = myth_finish_name(MYTH_FINISH_REFUSED);
    myth_inspect_note_missed(in);
}

/* ---- what was not inspected ---- */

static bool is_subject(const myth_inspection *in, uint32_t block)
{
    return myth_material_piece(in->material, in->block_piece[block])->is_subject && !in->block[block].is_again;
}

static void miss(myth_inspection *in, const char *path, uint32_t first, uint32_t last, const char *why)
{
    if (in->report.n_missed < in->cap_missed)
        in->missed[in->report.n_missed++] = (myth_missed){path, first, last < first ? first : last, why};
}

static void miss_subjects(myth_inspection *in, const char *why)
{
    for (uint32_t i = 0; i < myth_material_n_piece(in->material); i++) {
        const myth_piece *p = myth_material_piece(in->material, i);
        if (p->is_subject)
            miss(in, myth_material_of(in->material, p->source)->path, p->first, p->last, why);
    }
}

/* Lists the subjects of every part that has no answer, or whose answer was cut off. */
static void miss_parts(myth_inspection *in)
{
    for (uint32_t i = 0; i < myth_inspect_n_own(in); i++) {
        const inspect_part *p = &in->part[i];
        if (p->finish == MYTH_FINISH_STOP)
            continue;
        for (uint32_t k = p->first_block; k < p->first_block + p->n_first; k++)
            if (is_subject(in, k))
                miss(in, in->block[k].src->path, in->block[k].first, in->block[k].last,
                     p->finish == MYTH_FINISH_NONE        ? "the run was interrupted before it"
                     : p->finish == MYTH_FINISH_CANCELLED ? "the run was interrupted in its answer"
                                                          : "its answer was cut off: -n allows a longer one");
    }
}

static void miss_lines(myth_inspection *in)
{
    for (uint32_t i = 0; i < in->n_skip; i++) {
        const myth_piece *p = myth_material_piece(in->material, in->skip[i].piece);
        miss(in, myth_material_of(in->material, p->source)->path, in->skip[i].line, in->skip[i].line,
             "the line alone does not fit a prompt: --max-prompt-tokens and -c give more");
    }
}

static void miss_context(myth_inspection *in)
{
    const char *why = in->o.style == MYTH_PROMPT_COMPACT
                        ? "it is context, and this model reads one definition at a time: -m names another"
                        : "it is context that no prompt had room for: --max-prompt-tokens gives more";
    for (uint32_t i = 0; i < in->n_piece; i++) {
        const myth_piece *p = myth_material_piece(in->material, i);
        if (!p->is_subject && myth_parts_rest(NULL, 0, in->material, i, true, in->block, in->n_block))
            miss(in, myth_material_of(in->material, p->source)->path, p->first, p->last, why);
    }
}

void myth_inspect_note_missed(myth_inspection *in)
{
    const bool has_ended = !strcmp(in->report.finish_reason, myth_finish_name(MYTH_FINISH_STOP));
    in->report.n_missed = 0;
    in->report.missed = in->missed;
    for (uint32_t i = 0; i < in->o.n_missed; i++)
        miss(in, in->o.missed[i].path, in->o.missed[i].first, in->o.missed[i].last, in->o.missed[i].why);
    if (in->report.refusal)
        miss_subjects(in, "the run was refused");
    else
        miss_parts(in);
    if (!in->report.refusal)
        miss_lines(in);
    if (in->o.is_context_asked && !in->report.refusal)
        miss_context(in);
    in->report.complete = has_ended && !in->report.n_dropped && !in->report.n_missed && !in->report.summary.why_none;
}

/* Allocates the list of missed code for the longest case: the caller's entries, every block, and every piece. */
static myth_status open_missed(myth_inspection *in, myth_error *err)
{
    in->n_piece = myth_material_n_piece(in->material);
    in->cap_missed = in->o.n_missed + in->n_block + in->n_piece + in->n_skip;
    in->missed = myth_inspect_take(in, "not inspected", in->cap_missed ? in->cap_missed : 1, sizeof(*in->missed));
    if (!in->missed)
        return myth_inspect_no_room("not inspected", in->cap_missed * sizeof(*in->missed), err);
    for (uint32_t i = 0; i < in->n_part; i++) {
        in->part[i].first_block = in->part[i].block0;
        in->part[i].n_first = in->part[i].n_block;
    }
    if (in->report.refusal)
        myth_inspect_note_missed(in);
    return MYTH_OK;
}

/* ---- files ---- */

void myth_inspect_note_file(myth_inspection *in, const myth_source *src, bool is_subject)
{
    for (uint32_t i = 0; i < in->report.n_file; i++)
        if (in->file[i].src == src) {
            in->file[i].is_subject |= is_subject;
            return;
        }
    if (in->report.n_file < in->cap_file)
        in->file[in->report.n_file++] = (myth_report_file){.src = src, .is_subject = is_subject};
}

/* Where a source of the material is in the list of files, from 1 (0 = it is not), and how many lines of it are
 * subject. */
typedef struct {
    uint32_t file;
    uint64_t n_line;
} source_lines;

/* Lists the source of a piece, once, and counts its lines where they are subject. */
static void list_file(myth_inspection *in, source_lines *of, uint32_t piece, bool is_subject, uint32_t n_line)
{
    const uint32_t source = myth_material_piece(in->material, piece)->source;
    if (!of[source].file) {
        in->file[in->report.n_file++] = (myth_report_file){.src = myth_material_of(in->material, source)};
        of[source].file = in->report.n_file;
    }
    in->file[of[source].file - 1].is_subject |= is_subject;
    of[source].n_line += is_subject ? n_line : 0;
}

/* Lists the files of the blocks. A file is whole when its subject blocks together have as many lines as the file: no
 * line is in two subject blocks. */
static myth_status list_files(myth_inspection *in, myth_error *err)
{
    in->cap_file = myth_material_n_source(in->material) + (myth_inspect_has_rounds(in) ? MYTH_SEALED_SOURCES : 0);
    in->file = myth_inspect_take(in, "files", in->cap_file, sizeof(*in->file));
    if (!in->file)
        return myth_inspect_no_room("files", in->cap_file * sizeof(*in->file), err);
    source_lines *of = myth_inspect_take(in, "files", in->cap_file ? in->cap_file : 1, sizeof(*of));
    if (!of)
        return myth_inspect_no_room("files", in->cap_file * sizeof(*of), err);
    for (uint32_t i = 0; i < in->n_block; i++)
        list_file(in, of, in->block_piece[i], is_subject(in, i), in->block[i].last + 1 - in->block[i].first);
    /* A refused run has no blocks: list the files that it would have inspected. */
    for (uint32_t i = 0; !in->n_block && i < myth_material_n_piece(in->material); i++)
        if (myth_material_piece(in->material, i)->is_subject)
            list_file(in, of, i, true, 0);
    for (uint32_t i = 0; i < myth_material_n_source(in->material) && in->n_block; i++)
        if (of[i].file && in->file[of[i].file - 1].is_subject)
            in->file[of[i].file - 1].is_whole = of[i].n_line == in->file[of[i].file - 1].src->n_line;
    myth_free(in->mem, of);
    in->report.file = in->file;
    return MYTH_OK;
}

static const char *title_of(const myth_inspection *in)
{
    for (uint32_t i = 0; i < myth_material_n_piece(in->material) && !in->o.title; i++)
        if (myth_material_piece(in->material, i)->is_subject)
            return myth_material_of(in->material, myth_material_piece(in->material, i)->source)->path;
    return in->o.title ? in->o.title : "";
}

/* The most tokens that rounds may add to a part: their turns, as far as the limit for prompts has room for them, and an
 * answer to each turn. */
static uint64_t round_tokens(const myth_inspection *in, const inspect_part *p)
{
    const uint32_t room = in->o.max_prompt_tokens > p->n_ids ? in->o.max_prompt_tokens - p->n_ids : 0;
    const uint32_t turns = myth_min_u32(in->o.context_rounds * MYTH_INSPECT_ROUND_TOKENS, room);
    return turns ? turns + (uint64_t)in->o.context_rounds * in->o.max_new_tokens : 0;
}

void myth_inspect_work(const myth_inspection *in, myth_work *out)
{
    double positions = 0, ends = 0;
    *out = (myth_work){0};
    for (uint32_t i = myth_inspect_first_part(in); i < in->n_part; i++) {
        const inspect_part *p = &in->part[i];
        const uint32_t first = out->n_part ? myth_inspect_prefix(in, i) : 0;
        out->n_kept += p->is_kept;
        if (p->is_kept)
            continue;
        out->n_part++;
        const bool is_summary = myth_inspect_is_summary(in, i);
        const uint64_t rounds = myth_inspect_has_rounds(in) && !is_summary ? round_tokens(in, p) : 0;
        const uint64_t answers = rounds ? (uint64_t)in->o.context_rounds * in->o.max_new_tokens : 0;
        out->prompt_tokens += p->n_ids - first;
        positions += (double)(p->n_ids - first) * (p->n_ids + first) / 2;
        ends += p->n_ids;
        out->turn_most += rounds - answers;
        out->answer_most += is_summary ? in->o.max_new_tokens : answers + myth_inspect_output_tokens(in);
    }
    if (out->prompt_tokens)
        out->depth = positions / (double)out->prompt_tokens;
    if (out->n_part)
        out->end = ends / out->n_part;
}

/* Turns rounds off when no part has room for one, so that no memory is reserved for them. */
static void drop_rounds(myth_inspection *in)
{
    uint64_t most = 0;
    for (uint32_t i = myth_inspect_first_part(in); i < in->n_part; i++)
        most = most < round_tokens(in, &in->part[i]) ? round_tokens(in, &in->part[i]) : most;
    in->o.context_rounds = most ? in->o.context_rounds : 0;
}

/* ---- life ---- */

/* Encodes the turn between the first and the second pass's answer: it asks for the findings in full. */
static myth_status encode_again(myth_inspection *in, myth_error *err)
{
    static const char expand[] =
        "Now write the same findings again, in the same order, with issue, why, severity, status, fix and missing "
        "filled in. In fix write the corrected code of the cited lines, where a change of them is enough.";
    return myth_inspect_encode_turn(in, expand, sizeof(expand) - 1, &in->again, &in->n_again, err);
}

static uint32_t longest_path(const myth_inspection *in)
{
    uint32_t most = myth_inspect_has_rounds(in) ? ROUND_PATH : 0;
    for (uint32_t i = 0; i < in->n_block; i++)
        most = in->block[i].src->path_len > most ? in->block[i].src->path_len : most;
    return most;
}

/* How many answers can add findings to a part: the first one, and one for each round. The answer of a second pass is
 * not counted, because it overwrites the findings of the first pass. */
static uint32_t n_answer(const myth_inspection *in)
{
    return 1 + (myth_inspect_has_rounds(in) ? in->o.context_rounds : 0);
}

/* How many parts the model may be asked for findings. */
static uint32_t n_asked(const myth_inspection *in) { return in->is_bare ? 0 : myth_inspect_n_own(in); }

static uint32_t cap_finding(const myth_inspection *in)
{
    return n_asked(in) * n_answer(in) * (uint32_t)in->limits.n_finding + in->o.n_given;
}

/* As many sentences as answers can add; the answer with new context replaces the one before or is added to it. */
static uint32_t cap_sentence(const myth_inspection *in)
{
    return myth_inspect_is_question(in) ? in->n_part * n_answer(in) * MYTH_SENTENCE_MAX
         : in->has_summary              ? MYTH_SENTENCE_MAX
                                        : 0;
}

/* Opens the rounds' ledger and allocates in it what rounds must have ready. That happens in open so that every memory
 * plan counts these bytes; only the run books them in in->mem. */
static myth_status open_reserve(myth_inspection *in, myth_error *err)
{
    if (!myth_inspect_has_rounds(in))
        return MYTH_OK;
    in->reserve_bytes = (uint64_t)in->o.context_rounds * ROUND_BYTES;
    in->reserve_bytes = in->reserve_bytes < ROUNDS_BYTES ? in->reserve_bytes : ROUNDS_BYTES;
    myth_status st = myth_mem_open(&in->reserve, in->reserve_bytes, err);
    if (st != MYTH_OK)
        return st;
    in->now_mem = in->reserve;
    st = myth_marks_reserve(&in->marks, &in->report, in->reserve, MYTH_SEALED_SOURCES, SPARE_SUPPRESSIONS, err);
    return st == MYTH_OK ? myth_material_seal(in->material, in->reserve, err) : st;
}

myth_status myth_inspect_open(myth_inspection **out, const myth_model *model, myth_material *material,
                              const myth_inspect_opts *opts, myth_error *err)
{
    myth_str languages;
    myth_status st = MYTH_OK;
    myth_inspection *in = myth_alloc(model->mem, MYTH_MEM_STAGING, "inspection", sizeof(*in));
    if (!in)
        return myth_fail(err, MYTH_ENOMEM, "inspection: %zu bytes", sizeof(*in));
    in->mem = in->now_mem = model->mem;
    in->model = model;
    in->material = material;
    in->o = *opts;
    in->o.context_rounds = myth_min_u32(opts->context_rounds, MYTH_INSPECT_ROUNDS_MAX);
    in->limits = *myth_findings_limits_of(opts->style);
    in->brief = in->expand = in->limits;
    in->brief.issue = in->brief.why = in->brief.fix = in->brief.missing = in->brief.n_context = 0;
    const myth_findings_limits *full = myth_findings_limits_of(MYTH_PROMPT_FULL);
    in->expand.issue = full->issue;
    in->expand.why = full->why;
    in->expand.fix = full->fix;
    in->expand.missing = full->missing;
    in->summary = *myth_findings_limits_of(MYTH_PROMPT_SUMMARY);
    in->report = (myth_report){
        .model = myth_model_name(model),
        .path = title_of(in),
        .max_new_tokens = opts->max_new_tokens,
        .finish_reason = myth_finish_name(MYTH_FINISH_NONE),
        .budget = &in->budget,
        .is_question = myth_inspect_is_question(in),
        .kept_out = opts->kept_out,
    };
    if (opts->two_pass || (opts->n_given && opts->explains_given))
        MYTH_TRY(encode_again(in, err));
    MYTH_TRY(myth_inspect_plan_parts(in, err));
    drop_rounds(in);
    MYTH_TRY(list_files(in, err)); /* before the summary's blocks, which show lines a second time */
    if (opts->summary)
        MYTH_TRY(myth_inspect_plan_summary(in, err));
    myth_inspect_set_jobs(in, opts->n_job);
    MYTH_TRY(open_missed(in, err));
    in->given = myth_inspect_take(in, "given findings", opts->n_given + 1u, sizeof(*in->given));
    if (!in->given) {
        st = myth_inspect_no_room("given findings", (opts->n_given + 1u) * sizeof(*in->given), err);
        goto fail;
    }
    in->path_len = longest_path(in);
    MYTH_TRY(myth_inspect_plan_given(in, err));
    if (!myth_inspect_asks(in) && opts->judge)
        in->report.model = opts->judge;
    if (myth_inspect_asks(in) && myth_meta_str(&languages, myth_weights_meta(model->weights), "mythos.languages"))
        myth_caution(in->caution, &in->report, languages);
    in->report.caution = in->caution[0] ? in->caution : NULL;
    in->report.by_rules_alone = in->o.only_given;
    MYTH_TRY(myth_marks_open(&in->marks, in->mem, &in->report, in->block, in->n_block, cap_finding(in),
                             !opts->no_inline_ignores, opts->baseline, err));
    MYTH_TRY(open_reserve(in, err));
    in->report.block = in->block;
    in->report.n_block = in->n_block;
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
    myth_inspect_free_jobs(in);
    myth_inspect_free_given(in);
    myth_grammar_close(in->grammar);
    if (in->reserve) {
        myth_material_unseal(in->material);
        myth_mem_close(in->reserve);
        if (in->has_booked)
            myth_mem_unbook(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, in->reserve_bytes);
    }
    myth_free(mem, in->past);
    myth_free(mem, in->room);
    myth_free(mem, in->text2);
    myth_free(mem, in->text);
    myth_free(mem, in->ids);
    myth_free(mem, in->drop);
    myth_free(mem, in->cited);
    myth_free(mem, in->quote);
    myth_free(mem, in->sentence);
    myth_free(mem, in->context);
    myth_free(mem, in->request);
    myth_free(mem, in->citation);
    myth_free(mem, in->finding);
    myth_free(mem, in->again);
    for (uint32_t i = 0; i < in->n_part; i++)
        myth_free(mem, in->part[i].ids);
    myth_free(mem, in->missed);
    myth_free(mem, in->skip);
    myth_free(mem, in->file);
    myth_free(mem, in->map);
    myth_free(mem, in->block_piece);
    myth_free(mem, in->block);
    myth_free(mem, in->part);
    myth_free(mem, in);
}

bool myth_inspect_is_summary(const myth_inspection *in, uint32_t part)
{
    return in->has_summary && part + 1 == in->n_part;
}
uint32_t myth_inspect_prefix(const myth_inspection *in, uint32_t part)
{
    return myth_inspect_is_summary(in, part) ? 0 : in->n_prefix;
}
uint32_t myth_inspect_jobs(const myth_inspection *in) { return in->n_job; }
void myth_inspect_set_jobs(myth_inspection *in, uint32_t n_job)
{
    n_job = myth_min_u32(myth_min_u32(n_job, MYTH_INSPECT_JOBS_MAX), in->n_part - in->has_summary);
    in->n_job = n_job && !in->is_bare ? n_job : 1;
}

uint32_t myth_inspect_n_part(const myth_inspection *in) { return in->n_part; }
uint32_t myth_inspect_first_part(const myth_inspection *in) { return in->is_bare ? myth_inspect_n_own(in) : 0; }
bool myth_inspect_asks(const myth_inspection *in) { return !in->o.only_given || in->has_summary || in->n_explain > 0; }
const myth_report *myth_inspect_report(const myth_inspection *in) { return &in->report; }
bool myth_inspect_is_kept(const myth_inspection *in, uint32_t part) { return in->part[part].is_kept; }

const myth_block *myth_inspect_part(const myth_inspection *in, uint32_t part, uint32_t *n_block, uint32_t *n_tok)
{
    *n_block = in->part[part].n_block;
    *n_tok = in->part[part].n_ids;
    return in->block + in->part[part].block0;
}

/* ---- memory of a run: run_bytes serves both the plan and the allocations ---- */

typedef struct {
    size_t finding, citation, request, context, drop, sentence, quote, cited, ids, text, text2, room, past;
} run_bytes;

static void size_run(run_bytes *b, const myth_inspection *in)
{
    const size_t n = n_asked(in), n_named = n * MYTH_CONTEXT_MAX * n_answer(in), none = !n; /* no list has no bytes */
    const size_t said = in->has_summary ? myth_sentences_bound(&in->summary, in->path_len) : 0;
    size_t bound = myth_inspect_is_question(in) ? myth_sentences_bound(&in->limits, in->path_len)
                                                : myth_answer_bound(&in->limits, in->path_len);
    const size_t n_sentence = cap_sentence(in);
    const size_t full = myth_answer_bound(&in->expand, in->path_len);
    size_t bound2 = in->o.two_pass ? full : 0;
    b->finding = cap_finding(in) * sizeof(myth_finding) + none;
    b->citation = cap_finding(in) * sizeof(myth_citation) + none;
    b->request = n_named * sizeof(myth_request) + none;
    b->context = n_named * sizeof(myth_str) + none;
    b->drop = cap_finding(in) * sizeof(myth_drop) + none;
    b->sentence = n_sentence * sizeof(myth_sentence);
    b->quote = n_sentence * MYTH_QUOTE_MAX * sizeof(myth_quote);
    b->cited = n_sentence * MYTH_QUOTE_MAX * sizeof(myth_citation);
    b->ids = in->o.max_new_tokens ? in->o.max_new_tokens * sizeof(int32_t) : 1;
    b->text = bound2 > bound ? bound2 : bound;
    b->text = said > b->text ? said : b->text;
    b->text = in->n_explain && full > b->text ? full : b->text;
    b->text2 = bound2;
    b->room = n * (bound * n_answer(in) + bound2 * n_answer(in)) + said + in->n_explain * full + none;
    b->past = myth_inspect_run_context(in) * sizeof(int32_t);
}

static uint64_t sum_run(const run_bytes *b)
{
    return b->finding + b->citation + b->request + b->context + b->drop + b->sentence + b->quote + b->cited + b->ids +
           b->text + b->text2 + b->room + b->past;
}

/* The context of the longest part with its answers, in the steps of the plan. */
static uint64_t context_of(const myth_inspection *in, bool with_rounds)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < in->n_part; i++) {
        const bool has_rounds = with_rounds && myth_inspect_has_rounds(in) && !myth_inspect_is_summary(in, i);
        const uint64_t n = in->part[i].n_ids + (has_rounds ? round_tokens(in, &in->part[i]) : 0);
        longest = n > longest ? n : longest;
    }
    longest += myth_inspect_output_tokens(in);
    for (uint32_t i = 0; i < in->n_explain; i++) {
        const uint64_t n = in->n_prefix + in->explain[i].n_ids + (uint64_t)in->o.max_new_tokens;
        longest = n > longest ? n : longest;
    }
    return (longest + STEP_CTX - 1) / STEP_CTX * STEP_CTX;
}

uint32_t myth_inspect_run_context(const myth_inspection *in)
{
    const uint64_t need = context_of(in, true), ctx = myth_inspect_context_tokens(in);
    return in->o.n_ctx ? in->o.n_ctx : (uint32_t)(need < ctx ? need : ctx);
}

/* The bytes of a class that the plan needs in addition to the engine's: those in use now and `more`, which the run will
 * allocate; or, if usage was higher before, enough that the plan reaches that peak. is_held: the bytes in use already
 * include the engine's of this class, because they belong to the open model. */
static uint64_t beside_engine(const myth_inspection *in, const myth_plan *engine, myth_mem_class cls, bool is_held,
                              uint64_t more)
{
    const myth_mem_count n = myth_mem_get(in->mem, MYTH_MEM_HOST, cls);
    const uint64_t of_engine = engine->device[0].bytes[cls], held = is_held ? of_engine : 0,
                   own = (n.live > held ? n.live - held : 0) + more;
    return own + of_engine > n.peak ? own : n.peak - of_engine;
}

myth_status myth_inspect_needs(const myth_inspection *in, myth_engine_opts *opts, myth_plan_extra *extra,
                               myth_error *err)
{
    opts->n_ctx = myth_inspect_run_context(in);
    opts->n_ctx_least = (uint32_t)context_of(in, false); /* in less there would be more parts, which are not planned */
    opts->n_seq = myth_inspect_has_jobs(in) ? in->n_job + 2 : 1; /* beside the jobs', the base and the current part's */
    opts->n_checkpoint = in->n_prefix > 0 && !myth_inspect_has_jobs(in);
    myth_slots_needs(opts, in->n_job, &in->o.sample, true);

    run_bytes b;
    myth_plan engine;
    myth_status st = myth_plan_make(&engine, in->model, opts, NULL, NULL, false, err);
    if (st != MYTH_OK)
        return st;
    size_run(&b, in);
    const myth_tokenizer *t = in->model->tokenizer;
    const uint32_t n_vocab = in->model->config.n_vocab;
    uint64_t staging = sum_run(&b) + in->reserve_bytes, grammars = myth_grammar_plan(t, n_vocab, N_CACHED_MASK);
    if (myth_inspect_has_jobs(in)) {
        staging += myth_inspect_job_bytes(in) + myth_slots_bytes(in->model, opts, in->n_job);
        grammars += in->n_job * myth_grammar_plan_second(t, n_vocab, N_CACHED_MASK);
    }
    memset(extra, 0, sizeof(*extra));
    extra->bytes[MYTH_MEM_STAGING] = beside_engine(in, &engine, MYTH_MEM_STAGING, false, staging);
    extra->bytes[MYTH_MEM_OTHER] = beside_engine(in, &engine, MYTH_MEM_OTHER, true, grammars);
    return MYTH_OK;
}

myth_status myth_inspect_take_run(myth_inspection *in, myth_error *err)
{
    run_bytes b;
    int32_t stop[MYTH_CHAT_STOP_MAX];
    int n_stop;
    const myth_tokenizer *t = in->model->tokenizer;
    size_run(&b, in);
    in->room_cap = b.room;
    in->cap_drop = cap_finding(in);
    in->finding = myth_inspect_take(in, "findings", b.finding, 1);
    in->citation = myth_inspect_take(in, "findings", b.citation, 1);
    in->request = myth_inspect_take(in, "findings", b.request, 1);
    in->context = myth_inspect_take(in, "findings", b.context, 1);
    in->drop = myth_inspect_take(in, "findings", b.drop, 1);
    in->cap_sentence = cap_sentence(in);
    if (in->cap_sentence) {
        in->sentence = myth_inspect_take(in, "sentences", b.sentence, 1);
        in->quote = myth_inspect_take(in, "sentences", b.quote, 1);
        in->cited = myth_inspect_take(in, "sentences", b.cited, 1);
    }
    in->ids = myth_inspect_take(in, "answer ids", b.ids, 1);
    in->text = myth_inspect_take(in, "answer", b.text, 1);
    in->text2 = b.text2 ? myth_inspect_take(in, "answer", b.text2, 1) : NULL;
    in->room = myth_inspect_take(in, "answers", b.room, 1);
    in->cap_past = myth_inspect_run_context(in);
    in->past = myth_inspect_take(in, "answers", b.past ? b.past : 1, 1);
    if (!in->finding || !in->citation || !in->request || !in->context || !in->drop || !in->ids || !in->text ||
        !in->text2 != !b.text2 || !in->sentence != !b.sentence || !in->quote != !b.quote || !in->cited != !b.cited ||
        !in->room || !in->past)
        return myth_inspect_no_room("findings", (size_t)sum_run(&b), err);
    in->has_booked =
        in->reserve && myth_mem_book(in->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, "rounds", in->reserve_bytes);
    if (in->reserve && !in->has_booked)
        return myth_inspect_no_room("rounds", in->reserve_bytes, err);
    n_stop = myth_chat_stop_ids(t, stop);
    myth_status st =
        myth_grammar_open(&in->grammar, in->mem, t, in->model->config.n_vocab, stop, n_stop, N_CACHED_MASK, err);
    return st == MYTH_OK ? myth_inspect_take_jobs(in, err) : st;
}
