/* answers.c - slots that take the next prompt as soon as their answer has ended. */
#include "answers.h"

#include "batch_size.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "frontend/cli/live.h"
#include "frontend/common/calls.h"
#include "frontend/common/said.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CTX_STEP = 64, NEW_MOST = 1 << 20, FACTS = 24 };

/* One answer under way. */
typedef struct {
    myth_answers *all;
    bool is_used, is_new, has_channel; /* new: its prompt is not read yet */
    uint64_t index, prompt_no, line;   /* of the answer in the journal; of its line among the prompts, in the file */
    uint32_t n_of_line, number;        /* answers of its line, 0 = it does not say; which of them this is */
    myth_seq *seq;
    int32_t *prompt, *ids; /* [n_ctx], [n_new_most] */
    char *id;              /* [longest_id] of the survey */
    size_t n_id;
    uint32_t n_prompt, n_fed, n_scored; /* n_fed: ids of the prompt that are read for this answer */
    myth_gbnf *grammar;                 /* its line's own; NULL = none */
    myth_channel channel;               /* behind the prompt */
    myth_generate_opts g;               /* what it was begun with */
    myth_stop_texts stop_texts;
    myth_stops stops;
    float *chosen;   /* [n_new_most] log-probability of each id */
    int32_t *top_id; /* [n_new_most, n_top] */
    float *top;      /* [n_new_most, n_top] log-probabilities */
} answer;

struct myth_answers {
    myth_cli *cli;
    myth_model *model;
    const myth_answers_opts *o;
    myth_engine_opts eo;
    myth_prompts_opts reading;
    myth_prompts *prompts;
    myth_prompts_survey survey;
    myth_engine *engine;
    myth_slots *slots;
    myth_grammars *grammars; /* NULL: no prompt has one */
    bool has_grammar;
    myth_sample_params widest; /* of the options and all lines, that which chooses among most ids */
    uint64_t n_grammar_most;   /* bytes of the largest grammar of a line */
    myth_results rows;
    answer *answer; /* [n_parallel] */
    /* The prompt, but for its last id, of the line whose answers are being begun, when there are several: each goes on
     * from a fork of it. NULL = none is held. */
    myth_seq *base;
    uint64_t base_no; /* its line's number among the prompts */
    bool has_several; /* some line has more than one answer */
    char *piece;      /* text of one token */
    uint32_t n_parallel, n_new_most;
    uint64_t need, n_new_all;                 /* ids that the longest prompt and its answer have; all answers at most */
    double depth, end;                        /* sums over prompts: of positions, of lengths */
    uint64_t n_answer, n_id_all, n_new_ended; /* ended: ids that the answers that have ended had at most */
    double seconds;
    double n_at_once, at_once_s; /* ids of steps in which every slot was busy, and their seconds */
    myth_pace pace;
    myth_batch_size size;
};

/* ---- what a line says ---- */

/* Beside its prompt, as they are read below. */
static const char *const keys[] = {"n",     "max_tokens", "seed",    "temperature", "top_k", "top_p",
                                   "min_p", "stop",       "grammar", "json_schema", NULL};

typedef struct {
    uint64_t n_new;
    bool has_seed;
    myth_sample_params sample;
    myth_stop_texts stops;
} own_opts;

/* "stop": a text or a list of texts. */
static bool read_stops(const myth_answers *a, const myth_job_prompt *it, myth_stop_texts *out,
                       char why[MYTH_PROMPT_FAULT_BYTES])
{
    const myth_json_node *n = it->object ? myth_json_tree_get(it->tree, it->object, "stop") : NULL;
    if (!n || n->type == MYTH_JSON_NULL)
        return true;
    out->n = 0;
    bool is_right = a->model->tokenizer && (n->type == MYTH_JSON_ARRAY || n->type == MYTH_JSON_STRING);
    if (n->type == MYTH_JSON_ARRAY)
        for (const myth_json_node *i = myth_json_tree_first(it->tree, n); i; i = myth_json_tree_next(it->tree, i))
            is_right = is_right && i->type == MYTH_JSON_STRING && myth_stop_texts_add(out, i->text.text, i->text.len);
    else
        is_right = is_right && myth_stop_texts_add(out, n->text.text, n->text.len);
    if (!is_right)
        snprintf(why, MYTH_PROMPT_FAULT_BYTES, "\"stop\": expected a text, or up to %d, of 1 to %d bytes%s", MYTH_STOPS,
                 MYTH_STOP_BYTES, a->model->tokenizer ? "" : ", and a model with a tokenizer");
    return is_right;
}

static bool read_own(const myth_answers *a, const myth_job_prompt *it, own_opts *own, char why[MYTH_PROMPT_FAULT_BYTES])
{
    const myth_json_node *seed = it->object ? myth_json_tree_get(it->tree, it->object, "seed") : NULL;
    *own = (own_opts){.n_new = a->o->n_new,
                      .has_seed = seed && seed->type != MYTH_JSON_NULL,
                      .sample = a->o->sample,
                      .stops = *a->o->stops};
    uint64_t top_k = own->sample.top_k;
    const bool is_right = myth_results_number(it, "max_tokens", NEW_MOST, &own->n_new, why) &&
                          myth_results_number(it, "seed", UINT64_MAX, &own->sample.seed, why) &&
                          myth_results_number(it, "top_k", MYTH_ANSWERS_TOP_K, &top_k, why) &&
                          myth_results_real(it, "temperature", MYTH_ANSWERS_TEMP, &own->sample.temp, why) &&
                          myth_results_real(it, "top_p", 1.0, &own->sample.top_p, why) &&
                          myth_results_real(it, "min_p", 1.0, &own->sample.min_p, why) &&
                          read_stops(a, it, &own->stops, why);
    own->sample.top_k = (uint32_t)top_k;
    own->sample.top_p = myth_cli_top_p(own->sample.top_p);
    own->sample.seed += it->answer; /* modulo 2^64 */
    return is_right;
}

/* What the options' choice makes of a line. */
static myth_status hold_calls(const myth_answers *a, const myth_job_prompt *it, myth_gbnf **out, myth_error *err)
{
    if (!it->is_talk)
        return myth_fail(err, MYTH_EARG, "--tool-choice is about the tools of a chat; give \"messages\"");
    return myth_grammars_of_tools(out, a->model, a->o->tool_choice, it->tools, err);
}

/* The line's own grammar, or that of its tools; what is wrong with it is in why, which is "" otherwise. */
static myth_status read_grammar(const myth_answers *a, const myth_job_prompt *it, myth_gbnf **out,
                                char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err)
{
    myth_error own = {0};
    myth_status st = myth_grammars_of_line(out, a->cli->mem, it->tree, it->object, a->model->tokenizer, &own);
    why[0] = '\0';
    if (st == MYTH_OK && *out && a->reading.thinks)
        myth_fail(&own, st = MYTH_EARG, "a grammar: not with a chat that thinks first");
    if (st == MYTH_OK && !*out && a->o->tool_choice)
        st = hold_calls(a, it, out, &own);
    if (st == MYTH_ENOMEM)
        return myth_fail_as(err, &own);
    if (st != MYTH_OK) {
        myth_gbnf_close(*out);
        *out = NULL;
        snprintf(why, MYTH_PROMPT_FAULT_BYTES, "%.*s", MYTH_PROMPT_FAULT_BYTES - 1, own.msg);
    }
    return MYTH_OK;
}

/* New ids of an answer at most, in a context of n_ctx (0 = any). The last one needs no room in it. */
static uint64_t n_new_fits(uint64_t n_new, uint32_t n_ctx, uint32_t n_prompt)
{
    const uint64_t room = (uint64_t)n_ctx + 1 - n_prompt;
    return n_ctx && room < n_new ? room : n_new;
}

/* A prompt that the look took for one: it has counted its ids. */
static void look_fault(myth_answers *a, const myth_job_prompt *it)
{
    a->survey.n_fault++;
    a->survey.n_token -= it->answer ? 1 : it->n_ids;
}

/* Whether an answer goes on from a fork of what was read for all answers of its line. */
static bool is_one_of_several(uint32_t n_of_line, uint32_t n_prompt) { return n_of_line > 1 && n_prompt > 1; }

static myth_status visit(void *user, const myth_job_prompt *it, myth_error *err)
{
    myth_answers *a = user;
    own_opts own;
    char why[MYTH_PROMPT_FAULT_BYTES];
    if (!it->ids)
        return MYTH_OK;
    if (!read_own(a, it, &own, why)) {
        look_fault(a, it);
        return MYTH_OK;
    }
    myth_gbnf *grammar = NULL;
    if (read_grammar(a, it, &grammar, why, err) != MYTH_OK)
        return MYTH_ENOMEM;
    if (*why) {
        look_fault(a, it);
        return MYTH_OK;
    }
    a->has_grammar |= grammar || a->o->grammar;
    if (grammar && myth_gbnf_bytes(grammar) > a->n_grammar_most)
        a->n_grammar_most = myth_gbnf_bytes(grammar);
    myth_gbnf_close(grammar);
    if (myth_sample_k(&own.sample) > myth_sample_k(&a->widest))
        a->widest = own.sample;
    const uint64_t need = it->n_ids + own.n_new;
    a->need = need > a->need ? need : a->need;
    a->n_new_most = own.n_new > a->n_new_most ? (uint32_t)own.n_new : a->n_new_most;
    a->n_new_all += n_new_fits(own.n_new, a->reading.n_most, it->n_ids);
    a->has_several |= is_one_of_several(it->n_answer, it->n_ids);
    a->depth += it->answer ? it->n_ids : 0.5 * it->n_ids * it->n_ids;
    a->end += it->n_ids;
    return MYTH_OK;
}

/* ---- memory ---- */

/* Bytes of the longest row: an id and its comma, and its text, of which an invalid byte may become 3 bytes and an
 * escaped one 6; the text once more, when it is calls, each with what JSON writes around it. A call takes three ids at
 * least. */
static size_t row_bytes(const myth_answers *a)
{
    const size_t piece = a->model->tokenizer ? 2 * myth_detok_most(a->model->tokenizer) : 0;
    const size_t calls = piece && myth_tokenizer_special(a->model->tokenizer)->tool_call >= 0 ? piece + 40 : 0;
    return (size_t)a->n_new_most * (12 + piece + calls + (a->o->n_top ? 24 + (size_t)a->o->n_top * 48 : 0)) + 256;
}

static size_t piece_bytes(const myth_answers *a)
{
    return a->model->tokenizer ? myth_detok_most(a->model->tokenizer) : 0;
}

static uint64_t own_bytes(const myth_answers *a, uint32_t n)
{
    const uint64_t n_new = a->n_new_most ? a->n_new_most : 1, scores = a->o->n_top ? 4 + 8 * (uint64_t)a->o->n_top : 0;
    const uint64_t each = sizeof(answer) + 4 * (uint64_t)a->eo.n_ctx + n_new * (4 + scores) + a->survey.longest_id + 1 +
                          a->n_grammar_most;
    return n * each + piece_bytes(a) + myth_results_bytes(row_bytes(a), a->survey.longest_id) +
           myth_slots_bytes(a->model, &a->eo, n);
}

static void set_parallel(myth_answers *a, uint32_t n, const myth_engine_opts *eo)
{
    const uint32_t n_train = a->model->config.n_ctx_train;
    a->eo = *eo;
    const uint64_t need = (a->need + CTX_STEP - 1) / CTX_STEP * CTX_STEP;
    if (!a->eo.n_ctx)
        a->eo.n_ctx = need > UINT32_MAX || (n_train && need > n_train) ? n_train : need ? (uint32_t)need : CTX_STEP;
    a->eo.n_ctx_least = need < a->eo.n_ctx ? (uint32_t)need : a->eo.n_ctx; /* less would cut answers */
    a->n_parallel = a->eo.n_logit_rows = n;
    a->eo.n_seq = n + a->has_several;
    myth_slots_needs(&a->eo, n, &a->widest, a->has_grammar);
    if (a->o->n_top > a->eo.top_k)
        a->eo.top_k = a->o->n_top;
}

/* Chooses how many answers are generated at once, and plans. */
static myth_status plan(myth_answers *a, const myth_engine_opts *eo, myth_error *err)
{
    myth_plan_extra extra = {0};
    myth_mem_limits limits;
    const uint64_t most = a->survey.n_item < MYTH_ANSWERS_AT_ONCE ? a->survey.n_item : MYTH_ANSWERS_AT_ONCE;
    uint32_t n = a->o->n_parallel ? a->o->n_parallel : most ? (uint32_t)most : 1;
    const uint64_t budget = myth_cli_host_budget(a->cli);
    myth_status st = myth_cli_limits(a->cli, &limits, eo, err);
    for (bool fits = false; st == MYTH_OK && !fits; n--) {
        set_parallel(a, n, eo);
        extra.bytes[MYTH_MEM_STAGING] = myth_cli_staging(a->cli) + own_bytes(a, n);
        extra.bytes[MYTH_MEM_OTHER] = a->has_grammar ? myth_grammars_bytes(a->model, n) : 0;
        if (a->o->n_parallel || n == 1)
            break;
        myth_plan p;
        st = myth_plan_make(&p, a->model, &a->eo, &extra, &limits, true, err);
        fits = p.fits && p.device[0].total_bytes <= budget;
    }
    return st == MYTH_OK ? myth_cli_plan(a->cli, a->model, &a->eo, &extra, err) : st;
}

static void *take(const myth_answers *a, size_t n, size_t size, bool *is_short)
{
    void *got = n ? myth_alloc_n(a->cli->mem, MYTH_MEM_STAGING, "answers", n, size) : NULL;
    *is_short |= n && !got;
    return got;
}

static myth_status take_memory(myth_answers *a, myth_error *err)
{
    const size_t n_new = a->n_new_most ? a->n_new_most : 1, n_top = a->o->n_top;
    bool is_short = false;
    a->piece = take(a, piece_bytes(a), 1, &is_short);
    a->answer = take(a, a->n_parallel, sizeof(answer), &is_short);
    for (uint32_t i = 0; a->answer && i < a->n_parallel; i++)
        a->answer[i] = (answer){.all = a};
    for (uint32_t i = 0; a->answer && i < a->n_parallel; i++) {
        answer *w = &a->answer[i];
        w->prompt = take(a, a->eo.n_ctx, sizeof(*w->prompt), &is_short);
        w->ids = take(a, n_new, sizeof(*w->ids), &is_short);
        w->id = take(a, a->survey.longest_id + 1, 1, &is_short);
        if (!n_top)
            continue;
        w->chosen = take(a, n_new, sizeof(*w->chosen), &is_short);
        w->top_id = take(a, n_new * n_top, sizeof(*w->top_id), &is_short);
        w->top = take(a, n_new * n_top, sizeof(*w->top), &is_short);
    }
    return is_short ? myth_fail(err, MYTH_ENOMEM, "out of memory for %u answers at once", a->n_parallel) : MYTH_OK;
}

/* ---- open and close ---- */

myth_status myth_answers_open(myth_answers **out, myth_cli *cli, myth_model *model, const myth_answers_opts *o,
                              const myth_engine_opts *eo, myth_error *err)
{
    myth_answers *a = myth_alloc(cli->mem, MYTH_MEM_STAGING, "answers", sizeof(*a));
    myth_status st;
    *out = NULL;
    if (!a)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*a));
    memset(a, 0, sizeof(*a));
    a->cli = cli;
    a->model = model;
    a->o = o;
    a->reading = o->reading;
    a->reading.keys = keys;
    a->reading.n_answer_most = MYTH_ANSWERS_OF_LINE;
    a->reading.n_most = myth_prompts_most(model, eo);
    a->widest = o->sample;
    *out = a;
    MYTH_TRY(myth_prompts_open(&a->prompts, cli, model, o->prompts, &a->reading, err));
    MYTH_TRY(myth_prompts_look(a->prompts, &a->survey, visit, a, err));
    st = plan(a, eo, err);
fail:
    if (st != MYTH_OK && st != MYTH_ENOFIT) {
        myth_answers_close(a);
        *out = NULL;
    }
    return st;
}

void myth_answers_close(myth_answers *a)
{
    if (!a)
        return;
    myth_mem *mem = a->cli->mem;
    myth_results_close(&a->rows);
    myth_slots_close(a->slots);
    myth_grammars_close(a->grammars);
    for (uint32_t i = 0; a->answer && i < a->n_parallel; i++) {
        const answer *w = &a->answer[i];
        myth_seq_close(w->seq);
        myth_gbnf_close(w->grammar);
        myth_free(mem, w->top);
        myth_free(mem, w->top_id);
        myth_free(mem, w->chosen);
        myth_free(mem, w->id);
        myth_free(mem, w->ids);
        myth_free(mem, w->prompt);
    }
    myth_seq_close(a->base);
    myth_free(mem, a->answer);
    myth_free(mem, a->piece);
    myth_engine_close(a->engine);
    myth_prompts_close(a->prompts);
    myth_free(mem, a);
}

/* ---- a row ---- */

static void print_score(myth_json_out *j, float v)
{
    if (isnan(v))
        myth_jout_null(j);
    else
        myth_jout_f64(j, (double)v);
}

static void print_scores(const answer *w, myth_json_out *j, uint32_t n_ids)
{
    const uint32_t n_top = w->all->o->n_top;
    myth_jout_key(j, "logprobs");
    myth_jout_array(j);
    for (uint32_t i = 0; i < n_ids; i++)
        print_score(j, w->chosen[i]);
    myth_jout_end(j);
    myth_jout_key(j, "top_logprobs");
    myth_jout_array(j);
    for (uint32_t i = 0; i < n_ids; i++) {
        myth_jout_array(j);
        for (uint32_t k = 0; k < n_top && w->top_id[(size_t)i * n_top + k] >= 0; k++) {
            myth_jout_object(j);
            myth_jout_key_u64(j, "id", (uint64_t)w->top_id[(size_t)i * n_top + k]);
            myth_jout_key(j, "logprob");
            print_score(j, w->top[(size_t)i * n_top + k]);
            myth_jout_end(j);
        }
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static myth_status put_row(myth_answers *a, const answer *w, uint32_t n_ids, myth_finish why, myth_error *err)
{
    const myth_tokenizer *t = a->model->tokenizer;
    myth_json_out *j = w->n_of_line ? myth_results_begin_answer(&a->rows, w->prompt_no, w->number, w->id, w->n_id)
                                    : myth_results_begin(&a->rows, w->prompt_no, w->id, w->n_id);
    myth_jout_key(j, "ids");
    myth_jout_ids(j, w->ids, n_ids);
    if (t)
        myth_said_print(j, "text", t, w->channel, w->ids, n_ids, a->piece, MYTH_SAID_ANSWER,
                        w->stops.is_found ? w->stops.n_text : UINT64_MAX);
    if (t && w->channel.open >= 0)
        myth_said_print(j, "reasoning_content", t, w->channel, w->ids, n_ids, a->piece, MYTH_SAID_THOUGHT, UINT64_MAX);
    if (a->o->n_top)
        print_scores(w, j, n_ids);
    myth_calls_print_finish(&(myth_answer_ids){t, w->channel, w->ids, n_ids, a->piece}, j, why);
    myth_jout_key_u64(j, "prompt_tokens", w->n_prompt);
    myth_cli_print_adapters(j, a->model);
    a->n_answer++;
    a->n_new_ended += n_new_fits(w->g.n_max, a->eo.n_ctx, w->n_prompt);
    a->n_id_all += n_ids;
    return myth_results_end(&a->rows, w->index, err);
}

static myth_status put_bad_logits(myth_answers *a, const answer *w, myth_error *err)
{
    const myth_job_prompt it = {.index = w->index,
                                .prompt = w->prompt_no,
                                .line = w->line,
                                .n_answer = w->n_of_line,
                                .answer = w->number,
                                .id = w->id,
                                .n_id = w->n_id};
    return myth_results_fault(&a->rows, &it, MYTH_RESULTS_BAD_LOGITS, err);
}

/* ---- the run ---- */

static void on_top(void *user, int32_t id, float own, const int32_t *best, const float *logit, uint32_t n, float lse)
{
    answer *w = user;
    const uint32_t n_top = w->all->o->n_top, at = w->n_scored++;
    if (at >= w->all->n_new_most)
        return;
    (void)id;
    w->chosen[at] = own - lse;
    for (uint32_t k = 0; k < n_top; k++) {
        w->top_id[(size_t)at * n_top + k] = k < n ? best[k] : -1;
        w->top[(size_t)at * n_top + k] = k < n ? logit[k] - lse : 0.0f;
    }
}

static bool on_token(void *user, int32_t id)
{
    answer *w = user;
    return !myth_stops_push(&w->stops, id);
}

/* Puts the answer of a slot at its beginning. */
static myth_status start_answer(myth_answers *a, uint32_t slot, myth_error *err)
{
    answer *w = &a->answer[slot];
    const myth_gbnf *program = w->grammar ? w->grammar : a->o->grammar;
    const bool is_fork = a->base && a->base_no == w->prompt_no;
    const myth_status st = is_fork ? myth_seq_fork(&w->seq, a->base, err) : myth_seq_open(&w->seq, a->engine, err);
    if (st != MYTH_OK)
        return st;
    w->n_fed = is_fork ? 1 : w->n_prompt;
    w->g.prompt = w->prompt + w->n_prompt - w->n_fed;
    w->g.n_prompt = w->n_fed;
    w->is_used = w->is_new = true;
    w->n_scored = 0;
    w->channel = (myth_channel){.open = -1, .close = -1};
    if (w->has_channel)
        myth_channel_start(&w->channel, a->model->tokenizer, w->prompt, w->n_prompt);
    if (w->stop_texts.n)
        myth_stops_start(&w->stops, &w->stop_texts, a->model->tokenizer, w->channel, a->piece);
    else
        w->stops = (myth_stops){.of = NULL};
    w->g.grammar = program ? myth_grammars_start(a->grammars, slot, program) : NULL;
    return myth_slots_start(a->slots, slot, w->seq, &w->g, w->ids, err);
}

/* After a failure: answers whose sequences could not be taken back have ended in their slots, without a reason. They
 * begin again, and have the same bits. */
static myth_status start_lost(myth_answers *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < a->n_parallel && st == MYTH_OK; i++) {
        answer *w = &a->answer[i];
        myth_finish why;
        uint32_t n_ids;
        if (!w->is_used || myth_slots_get(a->slots, i, &n_ids, &why) || why != MYTH_FINISH_NONE)
            continue;
        myth_seq_close(w->seq);
        w->seq = NULL;
        st = start_answer(a, i, err);
    }
    return st;
}

static myth_status begin_answer(myth_answers *a, uint32_t slot, const myth_job_prompt *it, const own_opts *own,
                                myth_error *err)
{
    answer *w = &a->answer[slot];
    const bool has_room =
        it->n_ids <= a->eo.n_ctx && own->n_new <= a->n_new_most && (a->grammars || (!w->grammar && !a->o->grammar));
    if (!has_room)
        return myth_lines_changed(myth_prompts_lines(a->prompts), err);
    w->index = it->index;
    w->prompt_no = it->prompt;
    w->line = it->line;
    w->n_of_line = it->n_answer;
    w->number = it->answer;
    w->n_prompt = it->n_ids;
    w->n_id = it->n_id;
    memcpy(w->prompt, it->ids, it->n_ids * sizeof(*it->ids));
    if (it->n_id)
        memcpy(w->id, it->id, it->n_id);
    w->has_channel = a->model->tokenizer && (a->reading.is_chat || it->is_talk);
    w->stop_texts = own->stops;
    w->g = (myth_generate_opts){
        .n_max = (uint32_t)own->n_new,
        .sample = own->sample,
        .stop_ids = a->o->stop_ids,
        .n_stop = a->o->n_stop,
        .user = w,
        .cancel = a->cli->cancel,
        .seq_number = own->has_seed ? 0 : (uint32_t)it->prompt,
        .channel = &w->channel,
        .n_think = a->o->n_think,
        .on_token = own->stops.n ? on_token : NULL,
        .on_top = a->o->n_top ? on_top : NULL,
        .n_top = a->o->n_top,
    };
    return start_answer(a, slot, err);
}

/* Puts the rows of the answers that have ended; an interrupted one is no answer. */
static myth_status end_answers(myth_answers *a, uint32_t *n_active, myth_error *err)
{
    myth_status st = MYTH_OK;
    bool has_put = false;
    *n_active = 0;
    for (uint32_t i = 0; i < a->n_parallel && st == MYTH_OK; i++) {
        answer *w = &a->answer[i];
        uint32_t n_ids = 0;
        myth_finish why = MYTH_FINISH_NONE;
        if (!w->is_used)
            continue;
        if (myth_slots_get(a->slots, i, &n_ids, &why)) {
            ++*n_active;
            continue;
        }
        if (why == MYTH_FINISH_NONE)
            return myth_fail(err, MYTH_ELOST, "the answer to prompt %" PRIu64 " was lost; the same command goes on",
                             w->index);
        if (w->stops.is_found)
            why = MYTH_FINISH_STOP;
        if (why != MYTH_FINISH_CANCELLED)
            st = why == MYTH_FINISH_LOGITS ? put_bad_logits(a, w, err) : put_row(a, w, n_ids, why, err);
        has_put |= why != MYTH_FINISH_CANCELLED;
        myth_seq_close(w->seq);
        myth_gbnf_close(w->grammar);
        w->seq = NULL;
        w->grammar = NULL;
        w->is_used = false;
    }
    return st == MYTH_OK && has_put ? myth_results_commit(&a->rows, err) : st;
}

/* Join or step; once more, in smaller forwards, when the device had no memory for it. */
static myth_status forward(myth_answers *a, myth_status (*call)(myth_slots *p, myth_error *err), uint32_t n_row,
                           myth_error *err)
{
    myth_slots_limit(a->slots, a->size.now < a->size.whole ? a->size.now : 0);
    myth_status st = call(a->slots, err);
    if (myth_batch_size_again(&a->size, st, n_row)) {
        myth_slots_limit(a->slots, a->size.now);
        st = start_lost(a, err);
        st = st == MYTH_OK ? call(a->slots, err) : st;
    }
    if (st == MYTH_OK)
        myth_batch_size_done(&a->size);
    return st;
}

/* Reads the prompts of the answers that were begun, together, with n_more ids of another. */
static myth_status read_prompts(myth_answers *a, uint32_t n_more, myth_error *err)
{
    uint64_t n_token = n_more;
    for (uint32_t i = 0; i < a->n_parallel; i++)
        n_token += a->answer[i].is_new ? a->answer[i].n_fed : 0;
    if (!n_token)
        return MYTH_OK;
    const double begin = myth_seconds();
    const myth_status st =
        forward(a, myth_slots_join, n_token < a->size.whole ? (uint32_t)n_token : a->size.whole, err);
    const double seconds = myth_seconds() - begin;
    if (n_more)
        myth_pace_add(&a->pace, MYTH_PREFILL, 0, n_more, seconds * n_more / (double)n_token);
    for (uint32_t i = 0; i < a->n_parallel; i++) {
        answer *w = &a->answer[i];
        if (w->is_new)
            myth_pace_add(&a->pace, MYTH_PREFILL, 0, w->n_fed, seconds * w->n_fed / (double)n_token);
        w->is_new = false;
    }
    return st;
}

/* Holds the prompt of a line of several answers, read in a slot that is free. Where it cannot be held whole, each of
 * its answers reads it for itself. */
static myth_status hold_base(myth_answers *a, uint32_t slot, const myth_job_prompt *it, myth_error *err)
{
    const myth_generate_opts g = {.prompt = it->ids, .n_prompt = it->n_ids - 1, .cancel = a->cli->cancel};
    myth_status st;
    myth_seq_close(a->base);
    a->base = NULL;
    a->base_no = it->prompt;
    MYTH_TRY(myth_seq_open(&a->base, a->engine, err));
    MYTH_TRY(myth_slots_start(a->slots, slot, a->base, &g, a->answer[slot].ids, err));
    MYTH_TRY(read_prompts(a, g.n_prompt, err));
fail:
    if (a->base && (st != MYTH_OK || myth_seq_len(a->base) != g.n_prompt)) {
        myth_seq_close(a->base);
        a->base = NULL;
    }
    return st;
}

/* The next prompt's answer, or the row of its fault. */
static myth_status begin_next(myth_answers *a, uint32_t slot, const myth_job_prompt *it, myth_error *err)
{
    own_opts own;
    char why[MYTH_PROMPT_FAULT_BYTES];
    myth_status st;
    if (!it->ids)
        return myth_results_fault(&a->rows, it, NULL, err);
    if (!read_own(a, it, &own, why))
        return myth_results_fault(&a->rows, it, why, err);
    if ((st = read_grammar(a, it, &a->answer[slot].grammar, why, err)) != MYTH_OK)
        return st;
    if (*why)
        return myth_results_fault(&a->rows, it, why, err);
    if (a->has_several && is_one_of_several(it->n_answer, it->n_ids) && it->n_ids <= a->eo.n_ctx &&
        !(a->base && a->base_no == it->prompt))
        st = hold_base(a, slot, it, err);
    return st == MYTH_OK ? begin_answer(a, slot, it, &own, err) : st;
}

/* Begins the next prompts in the slots that are free; *has_more is false after the last prompt. */
static myth_status begin_answers(myth_answers *a, bool *has_more, myth_error *err)
{
    const bool is_critical = myth_live_level(a->cli->live) == MYTH_LEVEL_CRITICAL;
    bool has_one = false;
    for (uint32_t i = 0; i < a->n_parallel; i++)
        has_one |= a->answer[i].is_used;
    for (uint32_t i = 0;
         i < a->n_parallel && *has_more && !myth_cancelled(a->cli->cancel) && !(is_critical && has_one);) {
        myth_job_prompt it;
        if (a->answer[i].is_used) {
            i++;
            continue;
        }
        myth_status st = myth_prompts_next(a->prompts, &it, has_more, err);
        if (st != MYTH_OK || !*has_more)
            return st;
        st = begin_next(a, i, &it, err);
        has_one |= a->answer[i].is_used;
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* Begins what there is room for, and reads the prompts of it together. */
static myth_status join(myth_answers *a, bool *has_more, myth_error *err)
{
    const myth_status st = begin_answers(a, has_more, err);
    return st == MYTH_OK ? read_prompts(a, 0, err) : st;
}

/* Seconds at most: an answer may end before its length. */
static double seconds_left(const myth_answers *a)
{
    const double share = myth_results_share(&a->rows), n_read = a->pace.n_tok[MYTH_PREFILL][0],
                 reading = a->pace.seconds[MYTH_PREFILL][0];
    double ended = (double)a->n_new_ended, under_way = 0.0;
    for (uint32_t i = 0; i < a->n_parallel; i++) {
        const answer *w = &a->answer[i];
        myth_finish why;
        uint32_t n_ids = 0;
        if (!w->is_used)
            continue;
        myth_slots_get(a->slots, i, &n_ids, &why);
        ended += n_ids;
        under_way += (double)n_new_fits(w->g.n_max, a->eo.n_ctx, w->n_prompt) - n_ids;
    }
    const myth_results_work kind[] = {{n_read, share * (double)a->survey.n_token - n_read, reading},
                                      {(double)a->rows.n_token, fmax(share * (double)a->n_new_all - ended, under_way),
                                       myth_seconds() - a->rows.begin - reading}};
    return myth_results_left(kind, 2);
}

static uint64_t stops_hash(const myth_stop_texts *s)
{
    uint64_t hash = MYTH_FNV1A;
    for (uint32_t k = 0; k < s->n; k++)
        hash = myth_fnv1a(myth_fnv1a(hash, &s->len[k], 1), s->text[k], s->len[k]);
    return hash;
}

static myth_status open_rows(myth_answers *a, myth_error *err)
{
    myth_journal_fact fact[FACTS];
    const myth_sample_params *s = &a->o->sample;
    const myth_prompts_opts *p = &a->o->reading;
    size_t n = 0;
    myth_results_facts(fact, &n, a->cli, a->model, &a->eo, &a->survey);
    myth_results_fact(fact, &n, "--n-predict", "%u", a->o->n_new);
    myth_results_fact(fact, &n, "--seed", "%" PRIu64, s->seed);
    myth_results_fact_f32(fact, &n, "--temp", s->temp);
    myth_results_fact(fact, &n, "--top-k", "%u", s->top_k);
    myth_results_fact_f32(fact, &n, "--top-p", s->top_p);
    myth_results_fact_f32(fact, &n, "--min-p", s->min_p);
    myth_results_fact_f32(fact, &n, "--repeat-penalty", s->repeat_penalty);
    myth_results_fact(fact, &n, "--repeat-last-n", "%u", s->repeat_last_n);
    myth_results_fact(fact, &n, "--chat", "%s", p->is_chat ? "on" : "off");
    myth_results_fact(fact, &n, "--special", "%s", p->is_special ? "on" : "off");
    myth_results_fact(fact, &n, "--ignore-eos", "%s", a->o->n_stop ? "off" : "on");
    myth_results_fact(fact, &n, "--reasoning-budget", "%s%u", p->thinks ? "" : "none ", a->o->n_think);
    myth_results_fact(fact, &n, "--system-prompt", "%016" PRIx64,
                      p->system ? myth_fnv1a(MYTH_FNV1A, p->system, strlen(p->system)) : 0);
    myth_results_fact(fact, &n, "--grammar", "%016" PRIx64, a->o->grammar_hash);
    myth_results_fact(fact, &n, "--tool-choice", "%.64s", a->o->tool_choice ? a->o->tool_choice : "not given");
    myth_results_fact(fact, &n, "--stop", "%016" PRIx64, a->o->stops->n ? stops_hash(a->o->stops) : 0);
    myth_results_fact(fact, &n, "--top-logprobs", "%u", a->o->n_top);
    myth_results_fact(fact, &n, "--ctx-size", "%u", a->eo.n_ctx);
    const myth_status st = myth_results_open(&a->rows, a->cli, a->o->output, fact, n, a->o->goes_on, a->survey.n_item,
                                             row_bytes(a), a->survey.longest_id, err);
    a->rows.input[0] = myth_prompts_lines(a->prompts);
    return st;
}

myth_status myth_answers_run(myth_answers *a, myth_error *err)
{
    myth_status st;
    bool has_more = true;
    uint32_t n_active = 0;
    a->reading.is_done = myth_results_is_done;
    a->reading.user = &a->rows;
    MYTH_TRY(open_rows(a, err));
    MYTH_TRY(take_memory(a, err));
    MYTH_TRY(myth_cli_engine_open(a->cli, &a->engine, a->model, &a->eo, err));
    if (a->has_grammar)
        MYTH_TRY(
            myth_grammars_open(&a->grammars, a->model, a->cli->mem, a->o->stop_ids, a->o->n_stop, a->n_parallel, err));
    MYTH_TRY(myth_slots_open(&a->slots, a->engine, a->n_parallel, err));
    a->size = myth_batch_size_of(myth_engine_plan(a->engine)->n_ubatch);
    a->rows.begin = myth_seconds();
    do {
        MYTH_TRY(join(a, &has_more, err));
        MYTH_TRY(end_answers(a, &n_active, err));
        a->rows.n_token += n_active;
        const double begin = myth_seconds();
        MYTH_TRY(forward(a, myth_slots_step, n_active, err));
        if (n_active == a->n_parallel) {
            a->n_at_once += n_active;
            a->at_once_s += myth_seconds() - begin;
        }
        MYTH_TRY(end_answers(a, &n_active, err));
        myth_results_progress(&a->rows, "answers", "at most ", seconds_left(a));
    } while (n_active || (has_more && !myth_cancelled(a->cli->cancel)));
    a->seconds = myth_seconds() - a->rows.begin;
    myth_expect_keep(a->cli, a->model, &a->eo, a->engine, &a->pace);
    myth_expect_keep_at_once(a->cli, a->model, &a->eo, a->engine, a->n_parallel, a->n_at_once, a->at_once_s);
    st = myth_results_finish(&a->rows, err);
fail:
    myth_term_progress_end(a->cli->term);
    return st;
}

myth_answers_count myth_answers_counts(const myth_answers *a)
{
    return (myth_answers_count){
        .n_answer = myth_results_done(&a->rows) - a->rows.n_fault,
        .n_fault = a->rows.n_fault,
        .n_run = a->n_answer,
        .n_id = a->n_id_all,
        .seconds = a->seconds,
    };
}

/* ---- the plan ---- */

myth_status myth_answers_print_plan(myth_answers *a, bool as_json, myth_error *err)
{
    const uint64_t n_ask = a->survey.n_item - a->survey.n_fault;
    const myth_work work = {
        .n_part = (uint32_t)n_ask,
        .prompt_tokens = a->survey.n_token,
        .depth = a->survey.n_token ? a->depth / (double)a->survey.n_token : 0,
        .end = n_ask ? a->end / (double)n_ask : 0,
        .answer_most = a->n_new_all,
        .n_at_once = a->n_parallel,
    };
    const myth_results_count more[] = {{"new_tokens_most", "new tokens at most", a->n_new_all},
                                       {"parallel", "answers at once", a->n_parallel}};
    return myth_results_print_plan(a->cli, a->model, &a->eo, &a->survey, &work, more, 2, as_json, err);
}
