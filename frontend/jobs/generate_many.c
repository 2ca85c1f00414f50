/* generate_many.c - `generate --jsonl`: from flags to the job of frontend/jobs/answers.h, and what is printed of it. */
#include "generate_opts.h"

#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/common/said.h"
#include "answers.h"

#include <string.h>

myth_status myth_generate_budget(const myth_generate_flags *o, bool *thinks, uint32_t *n_think, myth_error *err)
{
    const myth_status st = myth_said_budget(o->budget, thinks, n_think, err);
    if (st == MYTH_OK && *thinks && !o->chat && !o->messages && !o->jsonl)
        return myth_fail(err, MYTH_EARG, "--reasoning-budget: only a chat can think first; give --chat or --messages");
    return st;
}

myth_status myth_generate_grammar(const myth_generate_flags *o, const myth_model *m, bool thinks, myth_gbnf **out,
                                  uint64_t *hash, myth_error *err)
{
    const myth_status st = myth_grammars_read(out, hash, m->mem, &o->grammar, m->tokenizer, err);
    if (st == MYTH_OK && *out && thinks)
        return myth_fail(err, MYTH_EARG, "--reasoning-budget: a thought is not of the grammar; leave one of both out");
    return st;
}

/* What is wrong with --tool-choice whatever the lines are; how it holds each of them is in answers.c. */
static myth_status check_tool_choice(const myth_generate_flags *o, const myth_model *m, bool has_grammar, bool thinks,
                                     uint32_t n_think, myth_error *err)
{
    const myth_str no_tools = {NULL, 0};
    myth_gbnf *text = NULL;
    if (!o->tool_choice)
        return MYTH_OK;
    myth_status st = myth_grammars_check_choice(o->tool_choice, has_grammar, thinks, n_think, err);
    if (st == MYTH_OK) /* whether the model has marks for calls */
        st = myth_grammars_of_tools(&text, m, "none", no_tools, err);
    myth_gbnf_close(text);
    return st;
}

static void print_counts(const myth_answers *a, const myth_model *m)
{
    const myth_answers_count n = myth_answers_counts(a);
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "answers", n.n_answer);
    myth_jout_key_u64(&j, "faults", n.n_fault);
    myth_jout_key_u64(&j, "run_answers", n.n_run);
    myth_jout_key_u64(&j, "new_tokens", n.n_id);
    myth_jout_key_f64(&j, "seconds", n.seconds);
    myth_cli_print_adapters(&j, m);
    myth_jout_end(&j);
}

/* Answers the prompts of --jsonl; *n_fault is how many lines were none. */
static myth_status answer_many(myth_cli *cli, const myth_generate_flags *o, uint64_t *n_fault, myth_error *err)
{
    int32_t stop[MYTH_CHAT_STOP_MAX];
    bool thinks;
    uint32_t n_think;
    uint64_t hash;
    myth_gbnf *grammar = NULL;
    myth_stop_texts stops;
    myth_model model = {0};
    myth_engine_opts eo;
    myth_answers *a = NULL;
    myth_status st;
    MYTH_TRY(myth_generate_budget(o, &thinks, &n_think, err));
    MYTH_TRY(myth_cli_model_open(cli, &model, &o->model, &o->engine,
                                 o->dry_run ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_generate_grammar(o, &model, thinks, &grammar, &hash, err));
    MYTH_TRY(myth_stop_texts_read(&stops, &o->stop, model.tokenizer, err));
    MYTH_TRY(check_tool_choice(o, &model, grammar != NULL, thinks, n_think, err));
    MYTH_TRY(myth_said_check(&model, thinks, err));
    if (o->chat)
        myth_said_template(cli, &model);
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    myth_answers_opts ao = {
        .prompts = o->jsonl,
        .output = o->output,
        .reading = {.is_chat = o->chat, .thinks = thinks, .is_special = o->special, .system = o->system},
        .stop_ids = stop,
        .n_stop = model.tokenizer && !o->ignore_eos ? myth_chat_stop_ids(model.tokenizer, stop) : 0,
        .n_new = o->n_predict,
        .n_think = n_think,
        .n_parallel = o->parallel,
        .n_top = o->n_top,
        .grammar = grammar,
        .grammar_hash = hash,
        .tool_choice = o->tool_choice,
        .stops = &stops,
        .goes_on = o->resume == 0,
    };
    myth_cli_sample_params(&ao.sample, &o->sample);
    st = myth_answers_open(&a, cli, &model, &ao, &eo, err);
    if (o->dry_run && (st == MYTH_OK || st == MYTH_ENOFIT))
        st = myth_answers_print_plan(a, o->json, err);
    else if (st == MYTH_OK)
        st = myth_answers_run(a, err);
    if (a && !o->dry_run)
        *n_fault = myth_answers_counts(a).n_fault;
    if (st == MYTH_OK && o->json && !o->dry_run)
        print_counts(a, &model);
fail:
    myth_answers_close(a);
    myth_gbnf_close(grammar);
    myth_model_close(&model);
    return st;
}

myth_status myth_generate_check_sets(const myth_cli *cli, const myth_generate_flags *o, myth_error *err)
{
    const myth_status st = myth_token_sets_check(cli, &o->sets, err);
    if (st != MYTH_OK || !(o->sets.threshold > 0.0f))
        return st;
    static const char *const held[] = {"jsonl",       "grammar", "grammar-file", "json-schema", "json-schema-file",
                                       "tool-choice", "stop"};
    const char *other = o->sample.temp > 0.0f            ? "temp"
                      : o->sample.repeat_penalty != 1.0f ? "repeat-penalty"
                      : strcmp(o->budget, "0") != 0      ? "reasoning-budget"
                                                         : NULL;
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]) && !other; i++)
        other = myth_args_is_given(cli->parsed, held[i]) ? held[i] : NULL;
    if (other)
        return myth_fail(err, MYTH_EARG, "--parallel-threshold keeps the likely tokens of one answer; leave --%s out",
                         other);
    return MYTH_OK;
}

/* What --jsonl has to do with the other flags. */
myth_status myth_generate_check_many(const myth_cli *cli, const myth_generate_flags *o, myth_error *err)
{
    static const char *const own[] = {"output", "parallel", "top-logprobs", "resume", "share", "data-parallel"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !o->jsonl; i++)
        if (myth_args_is_flag(cli->parsed, own[i]))
            return myth_fail(err, MYTH_EARG, "generate: --%s belongs to many prompts; add --jsonl FILE", own[i]);
    if (!o->jsonl)
        return MYTH_OK;
    if (o->verbose_prompt)
        return myth_fail(err, MYTH_EARG, "generate: --verbose-prompt shows one prompt; leave it out with --jsonl");
    if (o->n_top && o->sample.repeat_penalty != 1.0f && o->sample.repeat_penalty != 0.0f)
        return myth_fail(err, MYTH_EARG,
                         "generate: --top-logprobs are those of the model; leave --repeat-penalty out with it");
    if (o->dry_run)
        return MYTH_OK;
    if (!o->output)
        return myth_fail(err, MYTH_EARG, "generate: -o FILE is missing: where the answers to --jsonl are written");
    return myth_hint_check_file("-o", o->output, err);
}

int myth_generate_many(myth_cli *cli, const myth_generate_flags *o)
{
    myth_error err = {0};
    uint64_t n_fault = 0;
    myth_status st =
        myth_shares_begin(cli, &o->shares, o->jsonl, o->output, o->resume == 0 || cli->goes_on, o->dry_run, &err);
    if (st == MYTH_OK)
        st = answer_many(cli, o, &n_fault, &err);
    const int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (st != MYTH_OK || !n_fault)
        return code;
    myth_term_note(cli->term, "%llu line%s no result: \"error\" says why in the row", (unsigned long long)n_fault,
                   n_fault == 1 ? " has" : "s have");
    return MYTH_EXIT_INCOMPLETE;
}
