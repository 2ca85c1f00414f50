/* cmd_inspect_file.c - inspects one file: flags to pipeline, report to stdout, exit code. */
#include "inspect/inspect.h"
#include "inspect/outputs.h"
#include "json_out.h"
#include "main.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    uint32_t max_prompt_tokens, max_new_tokens;
    int format, fail_level;
    const char *style, *baseline;
    myth_opt_list output;
    bool split, two_pass, dry_run, update_baseline, inline_ignores;
} inspect_opts;

enum { FAIL_NEVER = MYTH_SEVERITY_N };

static const myth_option options[] = {
    { "format", NULL, MYTH_OPT_CHOICE, MYTH_FORMS, offsetof(inspect_opts, format), "text", 0, 0, "form of the findings" },
    { "output", NULL, MYTH_OPT_LIST, "FORM=PATH", offsetof(inspect_opts, output), NULL, 0, 0,
      "write the findings to a file as well, in that form; may be given several times" },
    { "baseline", NULL, MYTH_OPT_TEXT, "FILE", offsetof(inspect_opts, baseline), NULL, 0, 0,
      "an earlier report (json, jsonl, sarif): its findings are known and do not count" },
    { "update-baseline", NULL, MYTH_OPT_FLAG, NULL, offsetof(inspect_opts, update_baseline), NULL, 0, 0,
      "write --baseline anew with what was found in this file; findings do not fail this run" },
    { "inline-ignores", NULL, MYTH_OPT_FLAG, NULL, offsetof(inspect_opts, inline_ignores), "on", 0, 0,
      "follow mythos:ignore[rule] reason in comments; --no-inline-ignores does not" },
    { "fail-level", NULL, MYTH_OPT_CHOICE, "high|medium|low|info|never", offsetof(inspect_opts, fail_level), "high", 0, 0,
      "exit 1 when a finding is at least this severe" },
    { "max-prompt-tokens", NULL, MYTH_OPT_U32, "N", offsetof(inspect_opts, max_prompt_tokens), "12000", 1, 1 << 24,
      "refuse a prompt that is longer (of a part, with --split)" },
    { "max-new-tokens", "-n", MYTH_OPT_U32, "N", offsetof(inspect_opts, max_new_tokens), "1024", 1, 1 << 20,
      "tokens of an answer at most" },
    { "split", NULL, MYTH_OPT_FLAG, NULL, offsetof(inspect_opts, split), NULL, 0, 0,
      "cut a file that is too long into parts and inspect each" },
    { "two-pass", NULL, MYTH_OPT_FLAG, NULL, offsetof(inspect_opts, two_pass), NULL, 0, 0, "find first, explain in a second pass" },
    { "dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(inspect_opts, dry_run), NULL, 0, 0, "only count, plan and predict memory" },
    { "prompt-style", NULL, MYTH_OPT_TEXT, "STYLE", offsetof(inspect_opts, style), NULL, 0, 0,
      "compact or full, instead of what the model says" },
};

static const myth_option_group groups[] = {
    MYTH_GROUP("inspection", inspect_opts, options), MYTH_GROUP_MODEL(inspect_opts, model),
    MYTH_GROUP_ENGINE(inspect_opts, engine), MYTH_GROUP_SAMPLE(inspect_opts, sample),
};

static void on_progress(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total)
{
    char line[64];
    if (n_part > 1)
        snprintf(line, sizeof(line), "part %u of %u: %s", part + 1, n_part, what);
    else
        snprintf(line, sizeof(line), "%s", what);
    myth_term_progress(user, line, done, total);
}

/* To standard output and to every file. */
static myth_status render(myth_cli *cli, const inspect_opts *o, const myth_report *r, myth_error *err)
{
    myth_output_render(stdout, (myth_form)o->format, r, cli->term);
    return myth_outputs_write(&o->output, r, err);
}

static int exit_of_report(const inspect_opts *o, const myth_report *r)
{
    int code = r->complete ? MYTH_EXIT_CLEAN : MYTH_EXIT_INCOMPLETE;
    if (o->update_baseline)                                     /* what was found is known from now on */
        return code;
    if (o->fail_level != FAIL_NEVER && myth_report_reaches(r, (myth_severity)o->fail_level))
        code = myth_exit_worse(code, MYTH_EXIT_FINDINGS);
    return code;
}

/* Tensor data is used when the file has it; without it the header is enough to count, and so to refuse. */
static myth_status open_model(myth_cli *cli, const inspect_opts *o, myth_model *m, bool *has_data, myth_error *data_err, myth_error *err)
{
    myth_status st = o->dry_run ? MYTH_EFORMAT : myth_cli_model_open(cli, m, &o->model, MYTH_WEIGHTS_DATA, data_err);
    *has_data = st == MYTH_OK;
    if (st == MYTH_EFORMAT || st == MYTH_EIO)
        st = myth_cli_model_open(cli, m, &o->model, MYTH_WEIGHTS_HEADER, err);
    else if (st != MYTH_OK)
        *err = *data_err;
    if (st == MYTH_OK && !m->tokenizer)
        st = myth_fail(err, MYTH_EUNSUPPORTED, "%s: no tokenizer", myth_weights_path(m->weights));
    return st;
}

static myth_status choose_style(myth_cli *cli, const inspect_opts *o, const myth_model *m, myth_prompt_style *style, myth_error *err)
{
    char hash[MYTH_PROMPT_HASH_LEN + 1];
    myth_str trained;
    const myth_meta *meta = myth_weights_meta(m->weights);
    myth_status st = myth_prompt_style_of(style, meta, err);
    if (st != MYTH_OK)
        return st;
    if (o->style && !myth_prompt_style_from_name(style, o->style))
        return myth_fail(err, MYTH_EARG, "--prompt-style: got \"%s\", expected compact or full", o->style);
    myth_prompt_hash(hash, *style);
    if (myth_meta_str(&trained, meta, "mythos.prompt_hash") && !myth_str_is(trained, hash))
        myth_term_note(cli->term, "%s was trained for another prompt (%.*s, this is %s)", myth_weights_name(m->weights),
                       (int)(trained.len < 32 ? trained.len : 32), trained.text, hash);
    return MYTH_OK;
}

/* Tokens, cap, parts and memory before anything is generated. */
static void print_counts(myth_cli *cli, const inspect_opts *o, const myth_inspection *in)
{
    char size[24];
    const myth_report *r = myth_inspect_report(in);
    myth_term_note(cli->term, "%s: %u prompt tokens, at most %u new, %u part%s, %s planned", r->path, r->prompt_tokens, o->max_new_tokens,
                   myth_inspect_n_part(in), myth_inspect_n_part(in) == 1 ? "" : "s", myth_size_text(size, cli->plan.total_bytes));
}

static void print_dry_run(const inspect_opts *o, const myth_inspection *in, const myth_plan *plan)
{
    const myth_report *r = myth_inspect_report(in);
    char size[24];
    uint32_t first, last, n;
    if (o->format == MYTH_FORM_TEXT) {
        printf("prompt tokens    %u\nnew tokens       %u\nparts            %u\n", r->prompt_tokens, o->max_new_tokens,
               myth_inspect_n_part(in));
        for (uint32_t i = 0; i < myth_inspect_n_part(in); i++) {
            myth_inspect_part(in, i, &first, &last, &n);
            printf("  lines %u-%u: %u tokens\n", first, last, n);
        }
        printf("context          %u\nmemory           %s%s\n", plan->n_ctx, myth_size_text(size, plan->total_bytes),
               plan->fits ? "" : " (does not fit)");
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
            if (plan->bytes[c])
                printf("  %-14s %s\n", myth_mem_class_name((myth_mem_class)c), myth_size_text(size, plan->bytes[c]));
        return;
    }
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "model", r->model);
    myth_jout_key_str(&j, "file", r->path);
    myth_jout_key_u64(&j, "prompt_tokens", r->prompt_tokens);
    myth_jout_key_u64(&j, "max_new_tokens", o->max_new_tokens);
    myth_jout_key(&j, "parts");
    myth_jout_array(&j);
    for (uint32_t i = 0; i < myth_inspect_n_part(in); i++) {
        myth_inspect_part(in, i, &first, &last, &n);
        myth_jout_object(&j);
        myth_jout_key(&j, "lines");
        myth_jout_array(&j);
        myth_jout_u64(&j, first);
        myth_jout_u64(&j, last);
        myth_jout_end(&j);
        myth_jout_key_u64(&j, "prompt_tokens", n);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_jout_key_u64(&j, "n_ctx", plan->n_ctx);
    myth_jout_key_bool(&j, "fits", plan->fits);
    myth_jout_key_u64(&j, "total_bytes", plan->total_bytes);
    myth_jout_key(&j, "classes");
    myth_jout_object(&j);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        myth_jout_key_u64(&j, myth_mem_class_name((myth_mem_class)c), plan->bytes[c]);
    myth_jout_end(&j);
    myth_jout_end(&j);
}

/* The plan's refusal as the report's. */
static void refuse_memory(const myth_cli *cli, myth_inspection *in, const char *reason)
{
    myth_refusal why = { .count = cli->plan.total_bytes, .limit = cli->plan.limit_bytes, .unit = "bytes" };
    snprintf(why.reason, sizeof(why.reason), "%s", reason);
    for (uint32_t i = 0; i < cli->plan.n_suggestion && i < MYTH_REMEDY_MAX; i++)
        snprintf(why.remedy[why.n_remedy++], sizeof(why.remedy[0]), "%s", cli->plan.suggestion[i].flag);
    myth_inspect_refuse(in, &why);
}

static int generate(myth_cli *cli, const inspect_opts *o, myth_model *m, myth_inspection *in, const myth_baseline *base, const myth_engine_opts *eo)
{
    myth_engine *e = NULL;
    myth_error err = { 0 };
    myth_status st = myth_engine_open(&e, m, eo, &err);
    if (st == MYTH_OK)
        st = myth_inspect_run(in, e, &err);
    myth_term_progress_end(cli->term);
    myth_engine_close(e);
    if (st != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const myth_report *r = myth_inspect_report(in);
    st = render(cli, o, r, &err);
    if (st == MYTH_OK && o->update_baseline)
        st = myth_baseline_write(base, o->baseline, r, &err);
    return st == MYTH_OK ? exit_of_report(o, r) : myth_cli_fail(cli, &err);
}

/* Everything after the file was counted. */
static int plan_and_run(myth_cli *cli, const inspect_opts *o, myth_model *m, myth_inspection *in, const myth_baseline *base,
                        const myth_error *no_data)
{
    myth_error err = { 0 };
    myth_engine_opts eo;
    myth_plan_extra extra;
    myth_status st;
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, &err));
    MYTH_TRY(myth_inspect_needs(in, &eo, &extra, &err));
    st = myth_cli_plan(cli, m, &eo, &extra, &err);
    if (o->dry_run && (st == MYTH_OK || st == MYTH_ENOFIT)) {
        print_dry_run(o, in, &cli->plan);
        return MYTH_EXIT_CLEAN;
    }
    if (st == MYTH_ENOFIT) {
        refuse_memory(cli, in, err.msg);
        myth_error own = { 0 };
        if (render(cli, o, myth_inspect_report(in), &own) != MYTH_OK)
            myth_term_error(cli->term, own.msg);
    }
    if (st != MYTH_OK)
        goto fail;
    if (no_data)
        return myth_cli_fail(cli, no_data);
    print_counts(cli, o, in);
    return generate(cli, o, m, in, base, &eo);
fail:
    return myth_cli_fail(cli, &err);
}

static int run_inspect_file(myth_cli *cli, const void *opts)
{
    const inspect_opts *o = opts;
    myth_model m = { 0 };
    myth_inspection *in = NULL;
    myth_baseline *base = NULL;
    myth_error err = { 0 }, data_err = { 0 };
    unsigned char *bytes = NULL;
    size_t len = 0;
    bool has_data = false;
    int code = MYTH_EXIT_CLEAN;
    myth_status st;
    myth_inspect_opts io = {
        .max_prompt_tokens = o->max_prompt_tokens,
        .max_new_tokens = o->max_new_tokens,
        .n_ctx = o->engine.ctx_size,
        .split = o->split,
        .two_pass = o->two_pass,
        .no_inline_ignores = !o->inline_ignores,
        .cancel = cli->cancel,
        .on_progress = on_progress,
        .user = cli->term,
    };
    myth_cli_sample_params(&io.sample, &o->sample);
    MYTH_TRY(myth_outputs_check(&o->output, &err));
    if (o->update_baseline && !o->baseline)
        MYTH_TRY(myth_fail(&err, MYTH_EARG, "--update-baseline: say which file with --baseline FILE"));
    if (o->baseline)
        MYTH_TRY(myth_baseline_open(&base, cli->mem, o->baseline, o->update_baseline, &err));
    io.baseline = base;
    MYTH_TRY(myth_cli_read(&bytes, &len, cli->mem, cli->arg[0], MYTH_SOURCE_MAX, &err));
    MYTH_TRY(open_model(cli, o, &m, &has_data, &data_err, &err));
    MYTH_TRY(choose_style(cli, o, &m, &io.style, &err));
    MYTH_TRY(myth_inspect_open(&in, &m, cli->arg[0], bytes, len, &io, &err));
    if (myth_inspect_report(in)->refusal) {
        MYTH_TRY(render(cli, o, myth_inspect_report(in), &err));
        code = o->dry_run ? MYTH_EXIT_CLEAN : MYTH_EXIT_INCOMPLETE;
    } else {
        code = plan_and_run(cli, o, &m, in, base, has_data || o->dry_run ? NULL : &data_err);
    }
fail:
    if (st != MYTH_OK)
        code = myth_cli_fail(cli, &err);
    myth_inspect_close(in);
    myth_model_close(&m);
    myth_baseline_close(base);
    myth_free(cli->mem, bytes);
    return code;
}

const myth_command myth_cmd_inspect_file = {
    .name = "inspect-file",
    .args = "PATH",
    .help = "inspect a source file and print findings",
    .detail = "The exact prompt is counted before anything is generated: more than --max-prompt-tokens is refused (exit 3) with the\n"
              "count, the limit and what to do. The answer is generated under a grammar in which files, lines and evidence cannot be\n"
              "wrong, and checked again against the bytes of the file. An interrupt (SIGINT) ends with the findings so far (exit 3), a second one at once.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(inspect_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run_inspect_file,
};
