/* cmd_plan.c - prints the bytes that a command would need, from the model's headers only. */
#include "frontend/candidates/inspect_base.h"
#include "inspect_run.h"
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/prompt/nearby.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/machine_limits.h"
#include "frontend/cli/plan_out.h"
#include "frontend/chat/session.h"
#include "frontend/jobs/logprobs.h"
#include "frontend/jobs/residual_plan.h"
#include "frontend/jobs/token_sets.h"
#include "frontend/rates/expect.h"

#include "engine/base/program.h"
#include "engine/run/embed.h"

#include <limits.h>
#include <string.h>

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_residual_flags residuals;
    myth_logprobs_flags logprobs;
    myth_prompt_flags prompts;
    myth_token_set_flags sets;
    uint32_t n_predict;
    int what;
    const char *as;
    float link_gb_s;
    uint32_t parallel;
    bool json, is_table;
} plan_opts;

enum { FOR_GENERATE, FOR_CHAT, FOR_LOGITS, FOR_INSPECT_FILE, FOR_BENCH, FOR_EMBED, FOR_RESIDUALS, FOR_LOGPROBS };

static const char *const for_name[] = {"generate", "chat",  "logits",    "inspect-file",
                                       "bench",    "embed", "residuals", "logprobs"};

static const myth_option options[] = {
    {"for", NULL, MYTH_OPT_CHOICE, "generate|chat|logits|inspect-file|bench|embed|residuals|logprobs",
     offsetof(plan_opts, what), "generate", 0, 0, "the command to plan"},
    {"parallel", "-np", MYTH_OPT_U32, "N", offsetof(plan_opts, parallel), "1", 1, 4096,
     "number of sequences at the same time"},
    {"n-predict", "-n, --predict", MYTH_OPT_U32, "N", offsetof(plan_opts, n_predict), "128", 0, 1u << 20,
     "most new tokens, which bound the rows of --parallel-threshold"},
    {"as", NULL, MYTH_OPT_TEXT, "NAME", offsetof(plan_opts, as), "(this machine)", 0, 0,
     "the seconds on another machine, by the name of a file of rates in bench/results or the path of one; its devices "
     "need not be here"},
    {"link-gb-s", NULL, MYTH_OPT_F32, "GB/S", offsetof(plan_opts, link_gb_s), "(as measured)", 0, 100000,
     "speed of copies from host memory to the device, which the tokens a second of --offload are reckoned from"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(plan_opts, json), NULL, 0, 0,
     "print {\"schema\":1,\"fits\",\"total_bytes\",\"classes\",\"devices\",\"suggestions\",\"expected\"}, of a "
     "table {\"schema\":1,\"rows\":[{\"model\",\"type\",\"n_ctx\",\"weights_bytes\",...}]}"},
    {"table", NULL, MYTH_OPT_FLAG, NULL, offsetof(plan_opts, is_table), NULL, 0, 0,
     "print a table of every published size as bf16, q8_0 and q4_0 at 1k, 8k, 32k and 128k tokens, or at -c; reads no "
     "model"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("plan", plan_opts, options),
    MYTH_GROUP_RESIDUALS("for residuals", plan_opts, residuals),
    MYTH_GROUP_LOGPROBS("for logprobs", plan_opts, logprobs),
    MYTH_GROUP_PROMPTS(plan_opts, prompts),
    MYTH_GROUP_TOKEN_SETS(plan_opts, sets),
    MYTH_GROUP_MODEL(plan_opts, model),
    MYTH_GROUP_ENGINE(plan_opts, engine),
};

/* A threshold that a file or a variable gives is about the answers of generate, and nothing to the other commands. */
static bool has_sets(const plan_opts *o) { return o->sets.threshold > 0.0f && o->what == FOR_GENERATE && !o->is_table; }

static bool has_branches(const plan_opts *o) { return has_sets(o) && o->sets.combine == MYTH_COMBINE_APART; }

static myth_sets_opts sets_of(const plan_opts *o)
{
    myth_sets_opts so;
    myth_token_sets_opts(&so, &o->sets);
    so.n_max = o->n_predict;
    return so;
}

/* As `generate` does it, but for the length of the prompt, which it does not know. */
static void plan_generate(const plan_opts *o, const myth_model *m, myth_engine_opts *eo, myth_plan_extra *extra)
{
    const myth_sample_params greedy = {0};
    const myth_sets_opts so = sets_of(o);
    myth_generate_needs(eo, &greedy, false);
    eo->fixed |= has_sets(o) ? MYTH_CHANGE_SEQ : 0; /* one answer, for which generate has no --parallel */
    if (has_branches(o))
        myth_branches_needs(eo, &so);
    else if (has_sets(o))
        myth_sets_needs(eo, m, &so, 0);
    if (has_sets(o))
        extra->bytes[MYTH_MEM_STAGING] += has_branches(o) ? myth_branches_bytes(&so) : myth_sets_bytes(&so);
}

static bool is_job(const plan_opts *o) { return o->what == FOR_RESIDUALS || o->what == FOR_LOGPROBS; }

static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    return user ? myth_nearby_context(user, request, m, of, near, near_cap) : 0;
}

/* The answers that an earlier inspect-file kept, with the defaults of its flags; NULL = none. */
static myth_kept *open_kept(myth_cli *cli, const plan_opts *o, const myth_model *m, myth_inspect_opts *io)
{
    myth_kept *k = NULL;
    const myth_sample_flags defaults = {
        .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .repeat_penalty = 1, .repeat_last_n = 64};
    myth_cli_sample_params(&io->sample, &defaults);
    if (!cli->n_arg || !myth_kept_is_there(myth_env_cache_dir()) ||
        myth_kept_open(&k, myth_env_cache_dir(), "", 0, NULL) != MYTH_OK)
        return NULL;
    if (myth_base_answers(k, cli, &o->engine, &io->sample, io->style, m))
        return k;
    myth_kept_close(k);
    return NULL;
}

/* Plans inspect-file for the file, or without a file for the longest prompt that the default limit allows. */
static myth_status plan_inspection(myth_cli *cli, const plan_opts *o, const myth_model *m, myth_engine_opts *eo,
                                   myth_plan_extra *extra, myth_work *work, myth_error *err)
{
    static const unsigned char one_line[] = "\n";
    unsigned char *bytes = NULL;
    size_t len = 0;
    char worker[PATH_MAX];
    myth_place place = {.path = "file"};
    myth_nearby *nearby = NULL;
    myth_material *material = NULL;
    myth_inspection *in = NULL;
    myth_inspect_opts io = {
        .worker_path = myth_program_start(worker, sizeof(worker)) ? worker : NULL,
        .max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS,
        .max_new_tokens = MYTH_INSPECT_NEW_TOKENS,
        .n_ctx = o->engine.ctx_size,
        .context_rounds = MYTH_INSPECT_ROUNDS,
        .split = true,
        .is_local = true,
        .on_context = on_context,
        .cancel = cli->cancel,
    };
    myth_status st = MYTH_OK;
    if (!m->tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a model with one",
                         myth_weights_path(m->weights));
    if (cli->n_arg) {
        MYTH_TRY(myth_cli_read(&bytes, &len, cli->mem, cli->arg[0], MYTH_SOURCE_MAX, err));
        myth_place_find(&place, cli->arg[0]);
        MYTH_TRY(myth_nearby_open(&nearby, place.root, place.path, io.worker_path, err));
        io.user = nearby;
    }
    MYTH_TRY(myth_prompt_style_of(&io.style, myth_weights_meta(m->weights), err));
    MYTH_TRY(myth_material_whole(&material, cli->mem, place.path, bytes ? bytes : one_line, bytes ? len : 1, err));
    myth_free(cli->mem, bytes);
    bytes = NULL;
    io.kept = open_kept(cli, o, m, &io);
    MYTH_TRY(myth_inspect_open(&in, m, material, &io, err));
    MYTH_TRY(myth_inspect_needs(in, eo, extra, err));
    if (myth_inspect_rehearse(in, NULL) != MYTH_OK && cli->global->verbose)
        myth_term_note(cli->term, "no memory to look for kept answers: they are expected to be generated");
    myth_inspect_work(in, work);
    if (!cli->n_arg && !o->engine.ctx_size) {
        uint32_t longest = MYTH_INSPECT_PROMPT_TOKENS + MYTH_INSPECT_NEW_TOKENS;
        if (myth_findings_limits_of(io.style)->n_context)
            longest += MYTH_INSPECT_ROUNDS * (MYTH_INSPECT_ROUND_TOKENS + MYTH_INSPECT_NEW_TOKENS);
        eo->n_ctx = m->config.n_ctx_train && m->config.n_ctx_train < longest ? m->config.n_ctx_train : longest;
    }
    if (!cli->n_arg) { /* the longest prompt of one part */
        const uint64_t after = work->answer_most + work->turn_most;
        work->end = (double)(eo->n_ctx > after ? eo->n_ctx - after : 1);
        work->end = work->end < MYTH_INSPECT_PROMPT_TOKENS ? work->end : MYTH_INSPECT_PROMPT_TOKENS;
        work->prompt_tokens = (uint64_t)work->end;
        work->depth = work->end / 2;
    }
fail:
    myth_inspect_close(in);
    myth_material_close(material);
    myth_free(cli->mem, bytes);
    myth_nearby_close(nearby);
    myth_kept_close(io.kept);
    return st;
}

typedef struct {
    myth_expectation is;
    myth_work work; /* n_part 0 = only an inspection is known to do so much */
} expected;

/* With answers of the usual length. of: lent for the plan. */
static myth_status plan_chat(const myth_model *m, myth_engine_opts *eo, myth_plan_extra *extra, myth_session_of *of,
                             myth_error *err)
{
    static const myth_session_opts so = {.n_most = 0};
    *of = (myth_session_of){m, &so};
    if (!m->tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer, which a chat needs",
                         myth_weights_name(m->weights));
    myth_session_needs(eo, &so);
    extra->of_context = myth_session_of_context;
    extra->user = of;
    return MYTH_OK;
}

/* The jobs plan as for their --dry-run; that it does not fit is an answer. */
static myth_status plan_job(myth_cli *cli, const plan_opts *o, myth_model *m, const myth_engine_opts *eo,
                            myth_work *work, myth_error *err)
{
    static myth_residual_plan p; /* labels and layers are too large for a stack */
    myth_logprobs *l = NULL;
    myth_status st;
    if (o->what == FOR_RESIDUALS) {
        const myth_residual_ask ask = {.flags = &o->residuals, .prompt = &o->prompts, .prompts = cli->arg[0]};
        st = myth_residual_plan_make(&p, cli, m, &ask, eo, err);
        myth_residual_plan_close(&p);
    } else {
        const myth_logprobs_opts lo = myth_logprobs_opts_of(&o->logprobs, &o->prompts, cli->arg[0]);
        st = myth_logprobs_check_model(m, err);
        if (st == MYTH_OK)
            st = myth_logprobs_open(&l, cli, m, &lo, eo, err);
        if (l)
            *work = myth_logprobs_work(l);
        myth_logprobs_close(l);
    }
    return st == MYTH_ENOFIT && cli->has_plan ? MYTH_OK : st;
}

/* Plans the command with its own defaults and, unless e is NULL, expects its seconds; with is_limited, shrunk to fit
 * the memory limit. */
static myth_status plan_command(myth_plan *out, myth_cli *cli, const plan_opts *o, myth_model *m, bool is_limited,
                                expected *e, myth_error *err)
{
    myth_engine_opts eo;
    myth_work work = {0};
    myth_plan_extra extra = {.bytes[MYTH_MEM_STAGING] = myth_cli_staging(cli)};
    myth_session_of chat;
    uint64_t measured;
    myth_status st = myth_cli_engine_opts(cli, &eo, &o->engine, err);
    if (st != MYTH_OK)
        return st;
    if (is_job(o)) {
        myth_expect_limits(cli, &eo, o->as);
        st = plan_job(cli, o, m, &eo, &e->work, err);
        *out = cli->plan;
        cli->has_plan = false; /* a report of memory is about this run, which runs no job */
        return st == MYTH_OK ? myth_expect(&e->is, cli, m, &eo, o->as, e->work.n_part ? &e->work : NULL, err) : st;
    }
    eo.n_seq = o->parallel;
    switch (o->what) {
    case FOR_GENERATE: plan_generate(o, m, &eo, &extra); break;
    case FOR_CHAT: st = plan_chat(m, &eo, &extra, &chat, err); break;
    case FOR_LOGITS: myth_cli_logits_opts(&eo, o->parallel, 0, eo.n_ctx, false, true, false, 0); break;
    case FOR_INSPECT_FILE: st = plan_inspection(cli, o, m, &eo, &extra, &work, err); break;
    case FOR_BENCH:
        myth_cli_bench_opts(&eo, m, 512, 64, 0);
        measured = myth_limits_bytes((int)cli->global->n_threads, cli->limits.bytes[MYTH_MEM_HOST]);
        if (extra.bytes[MYTH_MEM_STAGING] < measured)
            extra.bytes[MYTH_MEM_STAGING] = measured;
        break;
    case FOR_EMBED:
        myth_embedder_opts(&eo, m, m->config.n_ctx_train);
        st = myth_embedder_needs(&extra, m, err);
        break;
    }
    if (st == MYTH_OK && e) {
        e->work = work;
        st = myth_expect(&e->is, cli, m, &eo, o->as, work.n_part || work.n_kept ? &e->work : NULL, err);
        myth_expect_limits(cli, &eo, o->as);
    }
    if (st == MYTH_OK)
        st = is_limited ? myth_cli_plan_here(cli, out, m, &eo, &extra, err)
                        : myth_plan_make(out, m, &eo, &extra, NULL, false, err);
    if (st == MYTH_OK && e && out->n_ctx)
        st = myth_expect_offload(&e->is, cli, m, &eo, o->as, out->n_ctx - 1, (double)o->link_gb_s, err);
    return st;
}

/* ---- the table of published sizes ---- */

/* Prints one size and type at every context up to the one it was trained with; a shorter trained context is the last
 * row. */
static myth_status table_of(myth_cli *cli, const plan_opts *o, const char *size, myth_dtype type, myth_json_out *j,
                            myth_error *err)
{
    static const uint32_t contexts[] = {1024, 8192, 32768, 131072};
    char spec[96];
    myth_model m = {0};
    myth_status st = MYTH_OK;
    snprintf(spec, sizeof(spec), "random:%s:%s", size, myth_dtype_get(type)->name);
    MYTH_TRY(myth_model_open(&m, cli->mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER, .hub_dir = myth_env_hub_dir()}, err));
    const uint32_t most = m.config.n_ctx_train, n = o->engine.ctx_size ? 1 : sizeof(contexts) / sizeof(contexts[0]);
    const myth_tensor *rows = myth_weights_find(m.weights, "per_layer_token_embd.weight");
    plan_opts cell = *o;
    cell.what = m.config.is_bidirectional ? FOR_EMBED : o->what == FOR_EMBED ? FOR_GENERATE : o->what;
    for (uint32_t i = 0, last = 0; i < n && last < most; i++) {
        const uint32_t want = o->engine.ctx_size ? o->engine.ctx_size : contexts[i];
        myth_plan plan = {0};
        if (myth_cancelled(cli->cancel))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "plan --table: interrupted"));
        last = cell.engine.ctx_size = want < most ? want : most;
        st = plan_command(&plan, cli, &cell, &m, false, NULL, err);
        const bool is_refused =
            st == MYTH_EUNSUPPORTED; /* a shape that the device does not support gets a row with the reason */
        if (!is_refused)
            MYTH_TRY(st);
        st = MYTH_OK;
        const myth_plan_row row = {
            .model = size,
            .type = myth_dtype_get(type)->name,
            .n_ctx = last,
            .plan = &plan,
            .refused = is_refused ? err->msg : NULL,
            .table_bytes = rows && o->engine.ple != MYTH_PLE_DEVICE ? rows->bytes : 0,
        };
        if (j)
            myth_plan_row_print_json(j, &row);
        else
            myth_plan_row_print_text(stdout, &row);
    }
fail:
    myth_model_close(&m);
    return st;
}

static myth_status print_table(myth_cli *cli, const plan_opts *o, myth_error *err)
{
    static const myth_dtype types[] = {MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0};
    const char *size;
    myth_json_out j;
    myth_status st = MYTH_OK;
    if (o->json) {
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key_u64(&j, "schema", 1);
        myth_jout_key(&j, "rows");
        myth_jout_array(&j);
    } else {
        myth_plan_row_print_text(stdout, NULL);
    }
    for (uint32_t i = 0; st == MYTH_OK && (size = myth_weights_random_size(i)) != NULL; i++)
        for (size_t t = 0; st == MYTH_OK && t < sizeof(types) / sizeof(types[0]); t++)
            st = table_of(cli, o, size, types[t], o->json ? &j : NULL, err);
    if (o->json && st == MYTH_OK) {
        myth_jout_end(&j);
        myth_jout_end(&j);
    }
    return st;
}

/* A flag of a job that is not planned is refused, because it would change nothing. */
static myth_status check_flags(const myth_cli *cli, const plan_opts *o, myth_error *err)
{
    const struct {
        const myth_option *opt;
        size_t n;
        int of, or_of;
    } table[] = {
        {myth_options_residuals, MYTH_N_OPTIONS_RESIDUALS, FOR_RESIDUALS, FOR_RESIDUALS},
        {myth_options_logprobs, MYTH_N_OPTIONS_LOGPROBS, FOR_LOGPROBS, FOR_LOGPROBS},
        {myth_options_prompts, MYTH_N_OPTIONS_PROMPTS, FOR_RESIDUALS, FOR_LOGPROBS},
    };
    for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
        for (size_t i = 0; i < table[t].n; i++)
            if (o->what != table[t].of && o->what != table[t].or_of &&
                myth_args_is_flag(cli->parsed, table[t].opt[i].name))
                return myth_fail(err, MYTH_EARG, "plan: --%s is a flag of --for %s; add it, or leave the flag out",
                                 table[t].opt[i].name, for_name[table[t].of]);
    if (is_job(o) && myth_args_is_flag(cli->parsed, "parallel"))
        return myth_fail(err, MYTH_EARG, "plan: --for %s runs its prompts together already; leave out --parallel",
                         for_name[o->what]);
    return MYTH_OK;
}

static myth_status check(const myth_cli *cli, const plan_opts *o, myth_error *err)
{
    const bool has_path = o->what == FOR_INSPECT_FILE || is_job(o);
    const myth_status st = myth_token_sets_check(cli, &o->sets, err);
    if (st != MYTH_OK)
        return st;
    if (o->sets.threshold > 0.0f && !has_sets(o) && myth_args_is_flag(cli->parsed, "parallel-threshold"))
        return myth_fail(err, MYTH_EARG, "plan: --parallel-threshold is about an answer of generate; leave out %s",
                         o->is_table ? "--table" : "--for, or the flag");
    if (!has_sets(o) && myth_args_is_flag(cli->parsed, "n-predict"))
        return myth_fail(err, MYTH_EARG,
                         "plan: -n bounds the rows of sets; add --parallel-threshold P, or leave it out");
    if (o->is_table && o->as)
        return myth_fail(err, MYTH_EARG, "--table plans memory only; leave out --as");
    if (o->is_table && (has_path || cli->n_arg))
        return myth_fail(err, MYTH_EARG, "--table plans sizes without a file; leave out --for %s and PATH",
                         has_path ? for_name[o->what] : for_name[FOR_INSPECT_FILE]);
    if (cli->n_arg && !has_path)
        return myth_fail(err, MYTH_EARG,
                         "plan: %.100s is a file to plan for --for inspect-file, residuals or logprobs; add one, or "
                         "leave the file out",
                         cli->arg[0]);
    if (is_job(o) && !cli->n_arg)
        return myth_fail(err, MYTH_EARG, "plan: --for %s reads its PROMPTS; give their file", for_name[o->what]);
    return check_flags(cli, o, err);
}

static int run(myth_cli *cli, const void *opts)
{
    const plan_opts *o = opts;
    myth_error err = {0};
    myth_model model;
    myth_plan plan = {0};
    myth_json_out j;
    expected e = {0};
    char size[24];
    myth_status st = check(cli, o, &err);
    if (st != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const uint64_t left = myth_cli_host_budget(cli);
    cli->is_elsewhere = cli->limits.bytes[MYTH_MEM_HOST] > left; /* --as sets it, too (rates/expect.h) */
    myth_mem_set_limit(cli->mem, MYTH_MEM_HOST, 0); /* plan must answer, so it reads the headers without a limit */
    if (o->is_table)
        return print_table(cli, o, &err) == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    st = myth_cli_model_open(cli, &model, &o->model, &o->engine, MYTH_WEIGHTS_HEADER, &err);
    if (st == MYTH_OK)
        st = plan_command(&plan, cli, o, &model, true, &e, &err);
    const myth_work *work = e.work.n_part || e.work.n_kept ? &e.work : NULL;
    const myth_sets_opts so = sets_of(o);
    if (st == MYTH_OK && !o->as && plan.device[0].total_bytes > left && !cli->limit_is_left)
        myth_term_note(cli->term, "this machine has %s left: the plan is for another one", myth_size_text(size, left));
    if (st == MYTH_OK && o->json) {
        myth_jout_start(&j, stdout);
        myth_plan_begin_json(&j, &plan);
        if (cli->limit_is_left)
            myth_jout_key_bool(&j, "limit_is_left", true);
        myth_jout_key(&j, "expected");
        myth_expect_print_json(&j, &e.is, work);
        if (has_sets(o))
            myth_token_sets_plan_json(&j, &so, has_branches(o), &model, &plan, 0);
        myth_cli_print_adapters(&j, &model);
        myth_jout_end(&j);
    } else if (st == MYTH_OK) {
        myth_plan_print_text(stdout, &plan);
        if (cli->limit_is_left)
            puts(MYTH_LIMIT_IS_LEFT);
        if (has_sets(o))
            myth_token_sets_plan_text(stdout, &so, has_branches(o), &model, &plan, 0);
        myth_expect_print_text(stdout, &e.is, work);
    }
    myth_model_close(&model);
    const bool is_absent = st == MYTH_EDEVICE && strstr(err.msg, "no such device");
    if (is_absent && o->as)
        return myth_cli_failf(cli, st,
                              "%s, and no memory is known of a machine %.60s (bench/results/machines.csv); give it, as "
                              "in --mem-limit cuda:0=24GiB",
                              err.msg, o->as);
    if (is_absent)
        return myth_cli_failf(cli, st,
                              "%s; to plan a device that is not here, give a machine that has it with --as, or its "
                              "memory, as in --mem-limit cuda:0=24GiB",
                              err.msg);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_plan = {
    .name = "plan",
    .args = "[PATH]",
    .max_arg = 1,
    .help = "print the memory that a command would need, and which flags would make it fit",
    .detail =
        "Reads the model's headers only. The exit code is 0 whenever it has an answer, also "
        "when the answer is that it does not fit. Without --mem-limit the host's limit is what this machine, or a "
        "group or the ulimit of this process, has left, where the plan needs more (\"limit_is_left\" of --json); a "
        "higher --mem-limit, or --as, plans for another machine.\n"
        "PATH is the file of --for inspect-file, and the PROMPTS of --for residuals and --for logprobs, which have "
        "the flags of these commands that decide what they take, and say what their --dry-run says.\n"
        "--for inspect-file is about a model that searches (--find model); what rules and a judge take, "
        "the default without -m, says inspect-file --dry-run.\n"
        "--table uses the published shapes, "
        "without limits: weights in the type, but vectors and routers in f32; "
        "keys and values of global layers; rings of local layers; and scratch for a step, "
        "the tokenizer and bookkeeping. The table of per-layer "
        "embeddings, of which only rows are read, has a column of its own and is not in the "
        "total. CodeGemma has the shapes of gemma-2b and gemma-7b; "
        "EmbeddingGemma is counted without its two dense layers.\n"
        "The seconds come from rates: every inspection and every bench keeps what it measured in "
        "$XDG_STATE_HOME/mythos/rates.csv, by machine, setup, shape of the model and type. --as "
        "takes those of another machine; such a file can be carried there and back.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(plan_opts),
    .run = run,
};
