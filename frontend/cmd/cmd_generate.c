/* cmd_generate.c - continues a text, a conversation or a list of ids.
 *
 * Thoughts  a chat's thoughts go to stderr and its answer to stdout; with --json the thoughts are in
 *           "reasoning_content". Neither has the marks between them or the channel's name; "ids" has every new id
 * Sets      with --parallel-threshold a position may hold several tokens (token_sets.h): the text shows them as
 *           {one|other}, "ids" and "text" of the JSON are of the best of each
 * Calls     of tools are in the text as the model wrote them; with --json also in "tool_calls" (calls.h) */
#include "frontend/rates/expect.h"
#include "engine/base/clock.h"
#include "frontend/common/conversation.h"
#include "frontend/common/calls.h"
#include "frontend/common/said.h"
#include "frontend/common/stops.h"
#include "frontend/inspect/prompt/prompt.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/plan_out.h"
#include "frontend/cli/cli.h"
#include "frontend/jobs/generate_opts.h"

#include <string.h>

enum { PROMPT_MAX = 64 << 20, PROMPT_IDS_MAX = 1 << 28 };

static const myth_option options[] = {
    {"prompt", "-p", MYTH_OPT_TEXT, "TEXT", offsetof(myth_generate_flags, prompt), NULL, 0, 0,
     "text to continue, after a beginning-of-sequence token"},
    {"file", "-f", MYTH_OPT_TEXT, "FILE", offsetof(myth_generate_flags, file), NULL, 0, 0,
     "continue the text of this file (- = standard input)"},
    {"ids", NULL, MYTH_OPT_TEXT, "LIST", offsetof(myth_generate_flags, ids), NULL, 0, 0,
     "token ids to continue, unchanged: 2,106"},
    {"chat", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, chat), NULL, 0, 0,
     "use the text as the user's first turn of a chat"},
    {"system-prompt", "-sys", MYTH_OPT_TEXT, "TEXT", offsetof(myth_generate_flags, system), NULL, 0, 0,
     "system prompt of the chat"},
    {"messages", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_generate_flags, messages), NULL, 0, 0,
     "a chat as JSON: {\"messages\": [...], \"tools\": [...]}"},
    {"reasoning-budget", NULL, MYTH_OPT_TEXT, "N", offsetof(myth_generate_flags, budget), "0", 0, 0,
     "tokens that a chat may think before it answers: 0 = none, -1 = any number"},
    {"tool-choice", NULL, MYTH_OPT_TEXT, "auto|required|none|NAME", offsetof(myth_generate_flags, tool_choice), NULL, 0,
     0, MYTH_TOOL_CHOICE_HELP},
    {"special", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, special), NULL, 0, 0,
     "read the names of control tokens in the text as control tokens"},
    {"n-predict", "-n, --predict", MYTH_OPT_U32, "N", offsetof(myth_generate_flags, n_predict), "128", 0, 1u << 20,
     "most new tokens"},
    {"stop", NULL, MYTH_OPT_LIST, "TEXT", offsetof(myth_generate_flags, stop), NULL, 0, 0,
     MYTH_STOP_HELP "; of lines of --jsonl, of those without \"stop\""},
    {"ignore-eos", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, ignore_eos), NULL, 0, 0,
     "do not end at a stop token"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, dry_run), NULL, 0, 0,
     "count the tokens of the prompt or prompts, plan memory and expect the seconds, but do not run the model"},
    {"verbose-prompt", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, verbose_prompt), NULL, 0, 0,
     "also print the prompt, with control tokens by name, on stderr or in the JSON"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_generate_flags, json), NULL, 0, 0,
     "print {\"ids\",\"text\",\"tool_calls\",\"finish_reason\"}: the new ids, their text and the calls of tools in "
     "it; with --jsonl {\"answers\",\"faults\"} of the job and {\"run_answers\",\"new_tokens\",\"seconds\"} of this "
     "run"},
};
static const myth_option many[] = {
    {"jsonl", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_generate_flags, jsonl), NULL, 0, 0,
     "answer the prompt on each line (- = standard input): {\"text\"|\"ids\"|\"messages\"[,\"id\",\"n\","
     "\"seed\",\"max_tokens\",\"temperature\",\"top_k\",\"top_p\",\"min_p\",\"stop\",\"grammar\"|\"json_schema\"]} or "
     "a string"},
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(myth_generate_flags, output), NULL, 0, 0,
     "where to write a JSON object for each prompt, in their order"},
    {"parallel", "-np", MYTH_OPT_U32, "N", offsetof(myth_generate_flags, parallel), "(as many as fit, at most 16)", 0,
     MYTH_MANY_MOST, "answers generated at once; they are the same for any number"},
    {"top-logprobs", NULL, MYTH_OPT_U32, "K", offsetof(myth_generate_flags, n_top), "0", 0, MYTH_MANY_TOP,
     "also write each id's log-probability, and the K best ids of its place with theirs; the model's own, whatever "
     "temperature, cuts and a grammar leave of them"},
    {"resume", NULL, MYTH_OPT_CHOICE, "on|off", offsetof(myth_generate_flags, resume), "on", 0, 0,
     "go on from what an interrupted run with the same model, prompts and flags finished; off: begin anew"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("generate", myth_generate_flags, options), MYTH_GROUP("many prompts", myth_generate_flags, many),
    MYTH_GROUP_TOKEN_SETS(myth_generate_flags, sets),     MYTH_GROUP_GRAMMAR(myth_generate_flags, grammar),
    MYTH_GROUP_SAMPLE(myth_generate_flags, sample),       MYTH_GROUP_MODEL(myth_generate_flags, model),
    MYTH_GROUP_ENGINE(myth_generate_flags, engine),       MYTH_GROUP_SHARES(myth_generate_flags, shares),
};

typedef struct {
    myth_cli *cli;
    const myth_generate_flags *o;
    myth_model model;
    int32_t *prompt, *ids;
    size_t n_prompt;
    uint32_t n_ids;
    char *piece; /* text of one token */
    char *shown; /* the prompt as the model sees it; NULL = not asked for */
    size_t n_shown;
    myth_detok detok;
    myth_engine *engine;
    myth_seq *seq;
    myth_gbnf *grammar; /* NULL = any answer */
    myth_grammars *grammars;
    myth_sets *sets; /* NULL = one token a position */
    myth_sets_result set_result;
    myth_branches *branches; /* NULL = none */
    myth_branches_result branch_result;
    myth_finish finish;
    bool is_cut; /* by the length, before its form was whole */
    bool thinks;
    uint32_t n_think; /* ids of its thought at most; 0 = any number */
    myth_conversation talk;
    myth_stop_texts stop_texts;
    myth_stops stops;     /* when there are such texts */
    myth_channel channel; /* state after the printed ids */
    double first_at;      /* when the first token was there; 0 = not yet */
    bool in_thought;      /* the last line on stderr has no newline yet */
} run_state;

static void release(run_state *r)
{
    myth_mem *mem = r->cli->mem;
    if (r->seq)
        myth_seq_close(r->seq);
    myth_sets_close(r->sets);
    myth_branches_close(r->branches);
    myth_engine_close(r->engine);
    myth_grammars_close(r->grammars);
    myth_gbnf_close(r->grammar);
    myth_free(mem, r->shown);
    myth_free(mem, r->piece);
    myth_free(mem, r->ids);
    myth_free(mem, r->prompt);
    myth_conversation_close(&r->talk);
    myth_model_close(&r->model);
}

static myth_status alloc_prompt(run_state *r, size_t cap, myth_error *err)
{
    if (cap > PROMPT_IDS_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: may have %zu token ids, more than the limit of %d; shorten it",
                         r->o->messages ? r->o->messages : "the prompt", cap, PROMPT_IDS_MAX);
    r->prompt = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "prompt", cap, sizeof(*r->prompt));
    return r->prompt ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "out of memory for %zu prompt ids", cap);
}

static myth_status encode_chat(run_state *r, const myth_message *msg, size_t n_msg, myth_chat_opts opts,
                               myth_error *err)
{
    const myth_chat_form form = myth_chat_form_of(&r->model.config, r->model.tokenizer);
    const size_t cap = myth_chat_bound_with(msg, n_msg, &opts);
    myth_status st;
    opts.thinks = r->thinks;
    MYTH_TRY(myth_said_check(&r->model, r->thinks, err));
    myth_said_template(r->cli, &r->model);
    MYTH_TRY(alloc_prompt(r, cap, err));
    MYTH_TRY(myth_chat_encode_with(r->model.tokenizer, r->cli->mem, form, msg, n_msg, &opts, r->prompt, cap,
                                   &r->n_prompt, err));
fail:
    return st;
}

static myth_status encode_text(run_state *r, const char *text, size_t len, myth_error *err)
{
    const myth_generate_flags *o = r->o;
    const myth_tokenizer *t = r->model.tokenizer;
    const char *system = o->system ? o->system : "";
    const myth_message msg[2] = {{MYTH_ROLE_SYSTEM, {system, strlen(system)}}, {MYTH_ROLE_USER, {text, len}}};
    if (o->chat)
        return encode_chat(r, o->system ? msg : msg + 1, o->system ? 2 : 1, (myth_chat_opts){.more = NULL}, err);
    size_t cap = myth_tokenizer_bound(len) + 1, first = 0;
    myth_status no_room = alloc_prompt(r, cap, err);
    if (no_room != MYTH_OK)
        return no_room;
    if ((r->prompt[0] = myth_tokenizer_special(t)->bos) >= 0)
        first = 1;
    myth_status st = myth_tokenizer_encode(t, r->cli->mem, o->special ? MYTH_TOK_SPECIAL : MYTH_TOK_CONTENT, text, len,
                                           r->prompt + first, cap - first, &r->n_prompt, err);
    if (st == MYTH_OK && first && r->n_prompt && r->prompt[1] == r->prompt[0])
        myth_term_note(r->cli->term, "the prompt begins with two beginning-of-sequence tokens, its own and the one "
                                     "before every text; leave its own out");
    r->n_prompt += first;
    return st;
}

static myth_status read_prompt(run_state *r, myth_error *err)
{
    const myth_generate_flags *o = r->o;
    if (o->ids)
        return myth_cli_ids(&r->prompt, &r->n_prompt, r->cli->mem, o->ids, err);
    if (!r->model.tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give --ids",
                         myth_weights_path(r->model.weights));
    if (o->messages) {
        myth_status open = myth_conversation_open(&r->talk, r->cli->mem, o->messages, err);
        if (open == MYTH_OK)
            myth_conversation_note(&r->talk, r->cli->term, o->messages);
        return open != MYTH_OK ? open
                               : encode_chat(r, r->talk.msg, r->talk.n,
                                             (myth_chat_opts){.tools = r->talk.tools, .more = r->talk.more}, err);
    }
    if (o->prompt)
        return encode_text(r, o->prompt, strlen(o->prompt), err);
    unsigned char *text;
    size_t len;
    myth_status st = myth_cli_read_given(&text, &len, r->cli->mem, o->file, PROMPT_MAX, err);
    if (st != MYTH_OK)
        return st;
    st = encode_text(r, (const char *)text, len, err);
    myth_free(r->cli->mem, text);
    return st;
}

static myth_status show_prompt(run_state *r, myth_error *err)
{
    const myth_tokenizer *t = r->model.tokenizer;
    if (!r->o->verbose_prompt || !t)
        return MYTH_OK;
    for (size_t i = 0; i < r->n_prompt; i++)
        if (r->prompt[i] < 0 || (uint32_t)r->prompt[i] >= myth_tokenizer_n_vocab(t))
            return MYTH_OK; /* ids past the vocabulary have no text */
    r->n_shown = myth_prompt_text(NULL, 0, t, r->prompt, r->n_prompt);
    r->shown = myth_alloc(r->cli->mem, MYTH_MEM_STAGING, "prompt text", r->n_shown);
    if (!r->shown)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a prompt of %zu bytes", r->n_shown);
    myth_prompt_text(r->shown, r->n_shown, t, r->prompt, r->n_prompt);
    if (!r->o->json) {
        myth_term_data(r->cli->term, stderr, r->shown, r->n_shown);
        fputc('\n', stderr);
    }
    return MYTH_OK;
}

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    run_state *r = user;
    myth_term_progress(r->cli->term, "prompt", done, total);
}

/* Writes the rest of a character that the thought or the answer ended in the middle of. */
static void end_part(run_state *r, FILE *f)
{
    myth_term_data(r->cli->term, f, r->piece, myth_detok_finish(&r->detok, r->piece));
    if (r->in_thought)
        fputc('\n', stderr);
    r->in_thought = false;
}

static void print_shown(run_state *r, const myth_stops_shown *shown)
{
    if (r->o->json)
        return;
    myth_term_data(r->cli->term, stdout, shown->held, shown->n_held);
    myth_term_data(r->cli->term, stdout, r->piece, shown->n_piece);
    fflush(stdout);
}

/* Writes of an answer what no text of --stop can take back. False: one was found. */
static bool show_until_stop(run_state *r, int32_t id)
{
    myth_stops_shown shown;
    const bool is_found = myth_stops_push_shown(&r->stops, id, &shown);
    print_shown(r, &shown);
    return !is_found;
}

static bool on_token(void *user, int32_t id)
{
    run_state *r = user;
    bool goes_on = true;
    if (!r->first_at)
        r->first_at = myth_seconds();
    myth_term_progress_end(r->cli->term);
    if (r->stop_texts.n)
        goes_on = show_until_stop(r, id);
    if (r->piece && !r->o->json) {
        const myth_said part = myth_channel_push(&r->channel, id);
        FILE *f = part == MYTH_SAID_THOUGHT ? stderr : stdout;
        if (part == MYTH_SAID_MARK) {
            end_part(r, r->in_thought ? stderr : stdout);
            return goes_on;
        }
        if (part == MYTH_SAID_ANSWER && r->stop_texts.n)
            return goes_on;
        myth_term_data(r->cli->term, f, r->piece, myth_detok_push(&r->detok, id, r->piece));
        fflush(f);
        r->in_thought = part == MYTH_SAID_THOUGHT;
    }
    return goes_on;
}

static void on_set(void *user, const myth_set_member *set, uint32_t n)
{
    run_state *r = user;
    if (!r->first_at)
        r->first_at = myth_seconds();
    myth_term_progress_end(r->cli->term);
    r->ids[r->n_ids++] = set[0].id;
    if (r->piece && !r->o->json)
        myth_token_sets_print(r->cli->term, stdout, set, n, &r->detok, r->piece);
}

static void print_part(run_state *r, myth_json_out *j, const char *key, myth_said part)
{
    if (r->piece)
        myth_said_print(j, key, r->model.tokenizer, r->channel, r->ids, r->n_ids, r->piece, part,
                        part == MYTH_SAID_ANSWER && r->stops.is_found ? r->stops.n_text : UINT64_MAX);
    else
        myth_jout_key_str(j, key, "");
}

static void print_json(run_state *r)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key(&j, "ids");
    myth_jout_ids(&j, r->ids, r->n_ids);
    print_part(r, &j, "text", MYTH_SAID_ANSWER);
    if (r->channel.open >= 0)
        print_part(r, &j, "reasoning_content", MYTH_SAID_THOUGHT);
    myth_calls_print_finish(
        &(myth_answer_ids){r->piece ? r->model.tokenizer : NULL, r->channel, r->ids, r->n_ids, r->piece}, &j,
        r->finish);
    myth_jout_key_u64(&j, "prompt_tokens", r->n_prompt);
    if (r->sets)
        myth_token_sets_json(&j, &r->set_result, (uint32_t)r->n_prompt, r->piece ? r->model.tokenizer : NULL, r->piece);
    myth_cli_print_adapters(&j, &r->model);
    if (r->branches)
        myth_branches_json(&j, &r->branch_result, r->piece ? r->model.tokenizer : NULL, r->piece);
    if (r->shown) {
        myth_jout_key(&j, "prompt");
        myth_jout_text_begin(&j);
        myth_jout_text_part(&j, r->shown, r->n_shown);
        myth_jout_text_end(&j);
        myth_jout_key(&j, "prompt_ids");
        myth_jout_ids(&j, r->prompt, (uint32_t)r->n_prompt);
    }
    myth_jout_end(&j);
}

static void print_rest(run_state *r)
{
    if (!r->piece)
        for (uint32_t i = 0; i < r->n_ids; i++)
            printf("%s%d", i ? "," : "", r->ids[i]);
    else
        end_part(r, r->in_thought ? stderr : stdout);
    if (r->stop_texts.n) {
        myth_stops_shown shown;
        myth_stops_end_shown(&r->stops, &shown);
        print_shown(r, &shown);
    }
    putchar('\n');
}

/* An answer of a wanted length is whole, unless its form wants more. */
static int exit_of_finish(const run_state *r)
{
    switch (r->finish) {
    case MYTH_FINISH_STOP: return MYTH_EXIT_CLEAN;
    case MYTH_FINISH_LENGTH: return r->is_cut ? MYTH_EXIT_INCOMPLETE : MYTH_EXIT_CLEAN;
    default: return MYTH_EXIT_INCOMPLETE;
    }
}

/* Says why an answer is not whole. g: its grammar, NULL = any answer. */
static void note_finish(run_state *r, const myth_grammar *g, uint32_t n_ctx)
{
    myth_term *term = r->cli->term;
    r->is_cut = r->finish == MYTH_FINISH_LENGTH && r->o->n_predict && g && !myth_grammar_may_end(g);
    if (r->is_cut)
        myth_term_note(term, "the answer is not whole: it was cut at %u token%s, and its form wants more; raise -n",
                       r->o->n_predict, myth_s(r->o->n_predict));
    else if (r->finish == MYTH_FINISH_GRAMMAR)
        myth_term_note(term, "the answer is not whole: %s", myth_grammars_why(r->grammars, 0));
    else if (r->finish == MYTH_FINISH_CONTEXT)
        myth_term_note(term, "the answer is not whole: the context of %u tokens is full; raise -c", n_ctx);
    else if (r->finish == MYTH_FINISH_CANCELLED)
        myth_term_note(term, "the answer is not whole: it was interrupted");
}

/* What the prompt and the tokens after the first took, printing included, is kept for the estimates of plan. */
static void keep_pace(run_state *r, const myth_engine_opts *eo, double begin)
{
    myth_pace pace = {.n_answer = 0};
    const double end = myth_seconds();
    if (r->finish != MYTH_FINISH_STOP && r->finish != MYTH_FINISH_LENGTH)
        return;
    myth_pace_add(&pace, MYTH_PREFILL, 0, (uint32_t)r->n_prompt, (r->first_at ? r->first_at : end) - begin);
    if (r->n_ids > 1)
        myth_pace_add(&pace, MYTH_DECODE, (uint32_t)r->n_prompt, r->n_ids - 1, end - r->first_at);
    myth_expect_keep(r->cli, &r->model, eo, r->engine, &pace);
}

/* The ids and the text of the answer are the likeliest branch's. */
static myth_status answer_in_branches(run_state *r, const myth_sets_opts *so, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t best = 0;
    MYTH_TRY(myth_branches_open(&r->branches, r->engine, so, err));
    MYTH_TRY(myth_branches_run(r->branches, r->prompt, (uint32_t)r->n_prompt, &r->branch_result, err));
    r->finish = r->branch_result.why;
    for (uint32_t i = 1; i < r->branch_result.n_branch; i++)
        best = r->branch_result.branch[i].logprob > r->branch_result.branch[best].logprob ? i : best;
    if (r->branch_result.n_branch) {
        r->n_ids = r->branch_result.branch[best].n;
        memcpy(r->ids, r->branch_result.branch[best].ids, r->n_ids * sizeof(*r->ids));
    }
fail:
    return st;
}

static myth_status answer_in_sets(run_state *r, const myth_sets_opts *so, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_sets_open(&r->sets, r->engine, so, err));
    MYTH_TRY(myth_sets_run(r->sets, r->seq, r->prompt, (uint32_t)r->n_prompt, &r->set_result, err));
    r->finish = r->set_result.why;
fail:
    return st;
}

/* What --dry-run says of one prompt. */
static myth_status print_plan(run_state *r, const myth_engine_opts *eo, const myth_sets_opts *so, myth_error *err)
{
    const myth_plan *p = &r->cli->plan;
    const uint32_t n_prompt = (uint32_t)r->n_prompt;
    const bool has_sets = r->o->sets.threshold > 0.0f,
               are_branches = has_sets && r->o->sets.combine == MYTH_COMBINE_APART;
    const myth_work work = {.n_part = 1,
                            .prompt_tokens = n_prompt,
                            .depth = (double)n_prompt / 2,
                            .end = (double)n_prompt,
                            .answer_most = r->o->n_predict};
    myth_expectation e;
    myth_json_out j;
    myth_status st = myth_expect(&e, r->cli, &r->model, eo, NULL, has_sets ? NULL : &work, err);
    if (st == MYTH_OK)
        st = myth_expect_offload(&e, r->cli, &r->model, eo, NULL, n_prompt, 0, err);
    if (st != MYTH_OK)
        return st;
    if (!r->o->json) {
        printf("%-20s %u\n", "prompt tokens", n_prompt);
        myth_plan_print_text(stdout, p);
        if (has_sets)
            myth_token_sets_plan_text(stdout, so, are_branches, &r->model, p, n_prompt);
        myth_expect_print_text(stdout, &e, has_sets ? NULL : &work);
        return MYTH_OK;
    }
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "prompt_tokens", n_prompt);
    myth_jout_key(&j, "plan");
    myth_plan_print_json(&j, p);
    if (has_sets)
        myth_token_sets_plan_json(&j, so, are_branches, &r->model, p, n_prompt);
    myth_jout_key(&j, "expected");
    myth_expect_print_json(&j, &e, has_sets ? NULL : &work);
    myth_jout_end(&j);
    return MYTH_OK;
}

/* Opens the model and reads what its answer depends on: the prompt, the grammar and the texts that end it. */
static myth_status read_question(run_state *r, myth_error *err)
{
    const myth_generate_flags *o = r->o;
    myth_cli *cli = r->cli;
    myth_status st = MYTH_OK;
    uint64_t hash;
    MYTH_TRY(myth_generate_budget(o, &r->thinks, &r->n_think, err));
    MYTH_TRY(myth_cli_model_open(cli, &r->model, &o->model, &o->engine, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_generate_grammar(o, &r->model, r->thinks, &r->grammar, &hash, err));
    MYTH_TRY(myth_grammars_check_choice(o->tool_choice, r->grammar != NULL, r->thinks, r->n_think, err));
    MYTH_TRY(myth_stop_texts_read(&r->stop_texts, &o->stop, r->model.tokenizer, err));
    MYTH_TRY(read_prompt(r, err));
    if (o->tool_choice)
        MYTH_TRY(myth_grammars_of_tools(&r->grammar, &r->model, o->tool_choice, r->talk.tools, err));
    return show_prompt(r, err);
fail:
    return st;
}

/* Makes room for the answer's ids, and starts what turns them into text. */
static myth_status start_texts(run_state *r, myth_channel behind_prompt, myth_error *err)
{
    const myth_generate_flags *o = r->o;
    const myth_tokenizer *tokenizer = r->model.tokenizer;
    r->ids = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "ids", o->n_predict, sizeof(*r->ids));
    if (tokenizer)
        r->piece = myth_alloc(r->cli->mem, MYTH_MEM_STAGING, "piece", myth_detok_most(tokenizer));
    if (!r->ids || (tokenizer && !r->piece))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %u new ids", o->n_predict);
    if (tokenizer)
        myth_detok_start(&r->detok, tokenizer, !o->json);
    if (r->stop_texts.n) {
        myth_stops_start(&r->stops, &r->stop_texts, tokenizer, behind_prompt, r->piece);
        myth_detok_start(&r->stops.detok, tokenizer, !o->json);
    }
    return MYTH_OK;
}

/* Runs the model on the prompt: one answer, or with so a set of answers. */
static myth_status run_answer(run_state *r, const myth_engine_opts *eo, myth_generate_opts *g, myth_sets_opts *so,
                              bool has_branches, myth_error *err)
{
    const double begin = myth_seconds();
    myth_status st = MYTH_OK;
    if (so) {
        so->stop_ids = g->stop_ids;
        so->n_stop = g->n_stop;
        so->on_prefill = on_prefill;
        so->on_set = on_set;
        so->user = r;
        so->cancel = r->cli->cancel;
        st = has_branches ? answer_in_branches(r, so, err) : answer_in_sets(r, so, err);
    } else {
        st = myth_generate(r->engine, r->seq, g, r->ids, &r->n_ids, &r->finish, err);
        if (st == MYTH_OK) {
            r->finish = r->stops.is_found ? MYTH_FINISH_STOP : r->finish;
            keep_pace(r, eo, begin);
        }
    }
    if (st != MYTH_OK)
        return st;
    note_finish(r, g->grammar, eo->n_ctx);
    return r->finish != MYTH_FINISH_REFUSED
             ? MYTH_OK
             : myth_fail(err, MYTH_ELIMIT, "the prompt has %zu tokens, the context %u: shorten it or raise -c%s",
                         r->n_prompt, eo->n_ctx,
                         r->o->chat || r->o->messages ? "; mythos chat drops old turns instead" : "");
}

static myth_status generate(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_generate_flags *o = r->o;
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    int32_t stop[MYTH_CHAT_STOP_MAX];
    myth_plan_extra extra = {0};
    MYTH_TRY(read_question(r, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    eo.fixed |= MYTH_CHANGE_SEQ; /* --parallel is a flag of --jsonl */
    myth_generate_opts g = {
        .prompt = r->prompt,
        .n_prompt = (uint32_t)r->n_prompt,
        .n_max = o->n_predict,
        .stop_ids = stop,
        .on_prefill = on_prefill,
        .on_token = on_token,
        .user = r,
        .cancel = cli->cancel,
    };
    myth_cli_sample_params(&g.sample, &o->sample);
    myth_generate_needs(&eo, &g.sample, r->grammar != NULL);
    myth_sets_opts so;
    myth_token_sets_opts(&so, &o->sets);
    so.n_max = o->n_predict;
    const bool has_sets = o->sets.threshold > 0.0f, has_branches = has_sets && o->sets.combine == MYTH_COMBINE_APART;
    if (has_branches) {
        myth_branches_needs(&eo, &so);
        if (!eo.n_ctx && r->n_prompt + o->n_predict < r->model.config.n_ctx_train) /* of each branch */
            eo.n_ctx = (uint32_t)r->n_prompt + o->n_predict;
    } else if (has_sets)
        myth_sets_needs(&eo, &r->model, &so, (uint32_t)r->n_prompt);
    if ((o->chat || o->messages) && r->model.tokenizer)
        myth_channel_start(&r->channel, r->model.tokenizer, r->prompt, r->n_prompt);
    const myth_channel behind_prompt = r->channel;
    g.channel = &behind_prompt;
    g.n_think = r->n_think;
    if (r->model.tokenizer && !o->ignore_eos)
        g.n_stop = myth_chat_stop_ids(r->model.tokenizer, stop);
    MYTH_TRY(start_texts(r, behind_prompt, err));
    if (!eo.n_ctx)
        eo.n_ctx = myth_cli_context(&r->model, r->n_prompt + o->n_predict);
    eo.n_ctx_least = ((uint32_t)r->n_prompt / 64 + 1) * 64; /* with some of the answer */
    extra.bytes[MYTH_MEM_OTHER] = r->grammar ? myth_grammars_bytes(&r->model, 1) : 0;
    if (has_sets)
        extra.bytes[MYTH_MEM_STAGING] =
            myth_cli_staging(cli) + (has_branches ? myth_branches_bytes(&so) : myth_sets_bytes(&so));
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, &extra, err));
    if (o->dry_run) {
        st = print_plan(r, &eo, &so, err);
        goto fail;
    }
    if (r->grammar) {
        MYTH_TRY(myth_grammars_open(&r->grammars, &r->model, cli->mem, g.stop_ids, g.n_stop, 1, err));
        g.grammar = myth_grammars_start(r->grammars, 0, r->grammar);
    }
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &eo, err));
    if (!has_branches)
        MYTH_TRY(myth_seq_open(&r->seq, r->engine, err));
    st = run_answer(r, &eo, &g, has_sets ? &so : NULL, has_branches, err);
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts, .channel = {.open = -1, .close = -1}};
    int given = (r.o->prompt != NULL) + (r.o->file != NULL) + (r.o->ids != NULL) + (r.o->messages != NULL) +
                (r.o->jsonl != NULL);
    if (given != 1)
        return myth_cli_failf(cli, MYTH_EARG,
                              "generate: give one of -p TEXT, -f FILE, --messages FILE, --ids LIST, --jsonl FILE");
    if (myth_generate_check_many(cli, r.o, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (myth_generate_check_sets(cli, r.o, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (r.o->jsonl)
        return myth_generate_many(cli, r.o);
    if (r.o->chat && !r.o->prompt && !r.o->file)
        return myth_cli_failf(cli, MYTH_EARG,
                              "generate: --chat makes a turn of -p TEXT or -f FILE; %s is taken as it is",
                              r.o->ids ? "--ids" : "--messages");
    if (r.o->special && (r.o->chat || r.o->ids || r.o->messages))
        return myth_cli_failf(cli, MYTH_EARG,
                              "generate: --special reads a text that is continued; %s never makes control tokens of "
                              "names, leave one of both out",
                              r.o->ids ? "--ids" : "a chat");
    if (r.o->tool_choice && !r.o->messages)
        return myth_cli_failf(
            cli, MYTH_EARG,
            "generate: --tool-choice is about the tools of --messages FILE or of the lines of --jsonl "
            "FILE; add one of them");
    if (!r.o->chat && myth_args_is_flag(cli->parsed, "system-prompt"))
        return myth_cli_failf(cli, MYTH_EARG, "generate: --system-prompt belongs to a chat; add --chat");
    myth_status st = generate(&r, &err);
    if (st == MYTH_OK && r.o->dry_run) {
        release(&r);
        return MYTH_EXIT_CLEAN;
    }
    int code = st == MYTH_OK ? exit_of_finish(&r) : myth_cli_fail(cli, &err);
    if (st == MYTH_ENOFIT)
        r.finish = MYTH_FINISH_REFUSED;
    if (r.o->json && (st == MYTH_OK || r.finish == MYTH_FINISH_REFUSED))
        print_json(&r);
    else if (st == MYTH_OK && r.branches)
        myth_branches_print(cli->term, stdout, &r.branch_result, r.piece ? r.model.tokenizer : NULL, r.piece);
    else if (st == MYTH_OK)
        print_rest(&r);
    if (st == MYTH_OK && r.sets) {
        char note[512];
        fflush(stdout);
        myth_token_sets_note(note, sizeof note, &r.set_result, &r.o->sets);
        if (note[0])
            myth_term_note(cli->term, "%s", note);
    }
    release(&r);
    return code;
}

const myth_command myth_cmd_generate = {
    .name = "generate",
    .args = "",
    .help = "continue a text, a chat or a list of ids",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(myth_generate_flags),
    .run = run,
};
