/* cmd_logprobs.c - `logprobs`: the next tokens of many prompts, scores of completions, divergence from a baseline. */
#include "logprobs.h"
#include "shares.h"

#include "frontend/cli/hints.h"

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_logprobs_flags what;
    myth_prompt_flags prompts;
    myth_share_flags shares;
    const char *output;
    int resume;
    bool dry_run, json;
} logprobs_opts;

static const myth_option options[] = {
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(logprobs_opts, output), NULL, 0, 0,
     "where to write a JSON object for each prompt, in their order"},
    {"resume", NULL, MYTH_OPT_CHOICE, "on|off", offsetof(logprobs_opts, resume), "on", 0, 0,
     "go on from what an interrupted run with the same model, prompts and flags finished; off: begin anew"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(logprobs_opts, dry_run), NULL, 0, 0,
     "count the prompts' tokens, plan memory and expect the seconds, but do not run the model"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(logprobs_opts, json), NULL, 0, 0,
     "print {\"rows\",\"faults\",\"run_rows\"} at the end, of the job and of this run, or the plan of --dry-run, as "
     "JSON"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("logprobs", logprobs_opts, options), MYTH_GROUP_LOGPROBS("next tokens", logprobs_opts, what),
    MYTH_GROUP_PROMPTS(logprobs_opts, prompts),     MYTH_GROUP_MODEL(logprobs_opts, model),
    MYTH_GROUP_ENGINE(logprobs_opts, engine),       MYTH_GROUP_SHARES(logprobs_opts, shares),
};

static myth_status check(const logprobs_opts *o, myth_error *err)
{
    const char *const out[] = {o->output, o->what.save_baseline}, *const flag[] = {"-o", "--save-baseline"};
    if (o->dry_run)
        return MYTH_OK;
    if (!o->output)
        return myth_fail(err, MYTH_EARG, "logprobs: -o FILE is missing: where the rows are written");
    for (int i = 0; i < 2; i++) {
        if (!out[i])
            continue;
        const myth_status st = myth_hint_check_file(flag[i], out[i], err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

myth_status myth_logprobs_check_model(const myth_model *model, myth_error *err)
{
    if (!model->config.is_bidirectional)
        return MYTH_OK;
    return myth_fail(err, MYTH_EUNSUPPORTED, "%.100s makes embeddings: it has no logits; use mythos embed",
                     myth_weights_name(model->weights));
}

myth_logprobs_opts myth_logprobs_opts_of(const myth_logprobs_flags *what, const myth_prompt_flags *reading,
                                         const char *prompts)
{
    return (myth_logprobs_opts){
        .prompts = prompts,
        .baseline = what->baseline,
        .save_baseline = what->save_baseline,
        .reading = {.is_chat = reading->chat, .is_special = what->special, .system = reading->system},
        .top_k = what->top_k,
    };
}

static myth_status work(myth_cli *cli, const logprobs_opts *o, uint64_t *n_fault, myth_error *err)
{
    myth_status st;
    myth_model model = {0};
    myth_engine_opts eo;
    myth_logprobs *l = NULL;
    uint64_t n_row = 0, n_run = 0;
    MYTH_TRY(myth_cli_model_open(cli, &model, &o->model, &o->engine,
                                 o->dry_run ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_logprobs_check_model(&model, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    myth_logprobs_opts lo = myth_logprobs_opts_of(&o->what, &o->prompts, cli->arg[0]);
    lo.output = o->output;
    lo.goes_on = o->resume == 0;
    st = myth_logprobs_open(&l, cli, &model, &lo, &eo, err);
    if (o->dry_run && (st == MYTH_OK || st == MYTH_ENOFIT)) {
        st = myth_logprobs_print_plan(l, o->json, err);
        goto fail;
    }
    if (st == MYTH_OK)
        st = myth_logprobs_run(l, err);
    if (l)
        myth_logprobs_counts(l, &n_row, n_fault, &n_run);
    if (st == MYTH_OK && o->json)
        printf("{\"rows\":%llu,\"faults\":%llu,\"run_rows\":%llu}\n", (unsigned long long)n_row,
               (unsigned long long)*n_fault, (unsigned long long)n_run);
fail:
    myth_logprobs_close(l);
    myth_model_close(&model);
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    const logprobs_opts *o = opts;
    myth_error err = {0};
    uint64_t n_fault = 0;
    myth_status st = check(o, &err);
    if (st == MYTH_OK)
        st = myth_shares_begin(cli, &o->shares, cli->arg[0], o->output, o->resume == 0 || cli->goes_on, o->dry_run,
                               &err);
    if (st == MYTH_OK)
        st = work(cli, o, &n_fault, &err);
    if (st != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (!n_fault)
        return MYTH_EXIT_CLEAN;
    myth_term_note(cli->term, "%llu line%s no result: \"error\" says why in the row", (unsigned long long)n_fault,
                   n_fault == 1 ? " has" : "s have");
    return MYTH_EXIT_INCOMPLETE;
}

const myth_command myth_cmd_logprobs = {
    .name = "logprobs",
    .args = "PROMPTS",
    .help = "the next tokens of many prompts with their log-probabilities, and scores of given completions",
    .detail = "Each line of PROMPTS (- = standard input) is a text, or an object with \"text\", \"ids\" or "
              "\"messages\", and optionally \"id\", \"token\" (an id, or a text of one token, whose rank is "
              "wanted) and \"completions\" (texts or lists of ids to score behind the prompt, which is read once). "
              "Blank lines are passed over, and \"index\" counts the others from 0. "
              "What a killed run had finished is kept, and the same command goes on from there.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(logprobs_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run,
};
