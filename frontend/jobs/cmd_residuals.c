/* cmd_residuals.c - means of the residuals of prompts, by label and layer, and the directions between labels.
 *
 * Passes    the prompts are read twice: once to count tokens and labels, so that the plan is exact, then to run them
 * Break     a journal beside the output (frontend/jobs/journal.h); SIGTERM ends after the present batch
 * Memory    does not grow with the number of prompts */
#include "residual_plan.h"
#include "results.h"
#include "shares.h"

#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/plan_out.h"
#include "frontend/rates/expect.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FACT_N = 13 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_residual_flags rows;
    myth_prompt_flags prompts;
    myth_share_flags shares;
    const char *output, *base, *report;
    int type, resume;
    bool json, dry_run;
} residual_opts;

#define AT(field) offsetof(residual_opts, field)
static const myth_option options[] = {
    {"output", "-o", MYTH_OPT_OUT, "FILE", AT(output), NULL, 0, 0,
     "write the means to FILE, as .safetensors: mean.LABEL, count.LABEL, direction.LABEL, ..."},
    {"base", NULL, MYTH_OPT_TEXT, "LABEL", AT(base), "(first in order of bytes)", 0, 0,
     "label that the directions of the others begin at"},
    {"type", NULL, MYTH_OPT_CHOICE, "f32|f64", AT(type), "f32", 0, 0, "element type of means and directions"},
    {"report", NULL, MYTH_OPT_OUT, "FILE", AT(report), NULL, 0, 0,
     "also write a page with plots by layer (HTML, no scripts)"},
    {"resume", NULL, MYTH_OPT_CHOICE, "on|off", AT(resume), "on", 0, 0,
     "go on where the same command was stopped; off: begin anew"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, AT(dry_run), NULL, 0, 0,
     "count tokens, bytes and expected seconds, and run nothing"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, AT(json), NULL, 0, 0,
     "print {\"prompts\",\"done\",\"faults\",\"tokens\",\"labels\",\"layers\",...}"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("residuals", residual_opts, options), MYTH_GROUP_RESIDUALS("rows", residual_opts, rows),
    MYTH_GROUP_PROMPTS(residual_opts, prompts),      MYTH_GROUP_MODEL(residual_opts, model),
    MYTH_GROUP_ENGINE(residual_opts, engine),        MYTH_GROUP_SHARES(residual_opts, shares)};

typedef struct {
    myth_cli *cli;
    const residual_opts *o;
    myth_model model;
    myth_residual_plan p;
    myth_engine *engine;
    myth_journal *journal;
    myth_residual_run *run;
    myth_residual_out out;
    myth_residual_figure *figure;
    uint64_t count[MYTH_LABEL_MAX + 1];
    char journal_path[PATH_MAX];
    bool had_journal;
    double seconds, drawn_at;
    uint64_t n_tok; /* of this run, in these seconds */
} run_state;

static bool is_done(void *user, uint64_t index)
{
    const run_state *r = user;
    return r->run && (index < myth_residual_run_state(r->run)->next || !myth_shares_has(r->cli, index));
}

/* What a step has without a limit. */
static uint32_t wanted_rows(const myth_residual_plan *p)
{
    return p->n_wanted > p->eo.n_ubatch ? p->n_wanted : p->eo.n_ubatch;
}

/* Rows of a step; of how many, where the limit leaves no more. */
static void print_rows(const myth_residual_plan *p)
{
    printf("rows a step      %u", p->eo.n_ubatch);
    if (p->eo.n_ubatch < wanted_rows(p))
        printf(", of %u: the memory limit leaves no more, and a step of fewer rows is slower", p->n_wanted);
    putchar('\n');
}

/* ---- the dry run ---- */

static void dry_run(run_state *r, const myth_expectation *e)
{
    const myth_prompts_survey *s = &r->p.survey;
    const myth_residual_shape is = myth_residual_plan_shape(&r->p);
    const uint64_t n_row = r->p.ro.position == MYTH_POSITION_EVERY ? s->n_token : s->n_item,
                   d = r->model.config.d_model, bytes = myth_residual_out_data_bytes(&is, r->o->type == 1),
                   row_bytes = r->p.ro.rows ? n_row * d * 4 * r->p.ro.n_layer : 0;
    const double depth = n_row ? (double)s->n_token / (double)s->n_item / 2 : 0;
    const bool is_known = e->rates.n_point[MYTH_PREFILL] > 0;
    const double seconds = is_known ? myth_rates_seconds(&e->rates, MYTH_PREFILL, depth, (double)s->n_token) : 0;
    char size[24], text[32];
    if (r->o->json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key_u64(&j, "prompts", s->n_item);
        myth_jout_key_u64(&j, "faults", s->n_fault);
        myth_jout_key_u64(&j, "tokens", s->n_token);
        myth_jout_key_u64(&j, "longest", s->longest);
        myth_jout_key_u64(&j, "labels", r->p.ro.n_label);
        myth_jout_key_u64(&j, "layers", r->p.ro.n_layer);
        myth_jout_key_u64(&j, "step_rows", r->p.eo.n_ubatch);
        myth_jout_key_u64(&j, "step_rows_wanted", wanted_rows(&r->p));
        myth_jout_key_u64(&j, "output_bytes", bytes);
        myth_jout_key_u64(&j, "rows_bytes", row_bytes);
        myth_jout_key(&j, "expected");
        myth_jout_object(&j);
        myth_jout_key_bool(&j, "known", is_known);
        myth_jout_key_str(&j, is_known ? "source" : "why", e->source);
        if (is_known)
            myth_jout_key_f64(&j, "seconds", seconds);
        myth_jout_end(&j);
        myth_jout_key(&j, "plan");
        myth_plan_print_json(&j, &r->cli->plan);
        myth_jout_end(&j);
        return;
    }
    printf("prompts          %llu, %llu of them faulty\ntokens           %llu, the longest prompt %u\n"
           "labels           %u\nresiduals        %u of %u\n",
           (unsigned long long)s->n_item, (unsigned long long)s->n_fault, (unsigned long long)s->n_token, s->longest,
           r->p.ro.n_label, r->p.ro.n_layer, r->model.config.n_layer + 1);
    print_rows(&r->p);
    printf("output           %s", myth_size_text(size, bytes));
    if (row_bytes)
        printf(", rows %s", myth_size_text(size, row_bytes));
    putchar('\n');
    myth_plan_print_text(stdout, &r->cli->plan);
    if (is_known)
        printf("expected         %s, %s\n", myth_seconds_text(text, seconds), e->source);
    else
        printf("expected         unknown: %s\n", e->source);
}

/* ---- the run ---- */

static void print_fact(myth_journal_fact *f, const char *name, const char *value)
{
    f->name = name;
    if (strlen(value) < sizeof(f->value))
        snprintf(f->value, sizeof(f->value), "%.*s", (int)sizeof(f->value) - 1, value);
    else
        snprintf(f->value, sizeof(f->value), "hash %016llx",
                 (unsigned long long)myth_fnv1a(MYTH_FNV1A, value, strlen(value)));
}

/* Everything that the numbers depend on: not --batch, -ub or threads. */
static size_t list_facts(const run_state *r, myth_journal_fact f[FACT_N])
{
    char text[64];
    size_t n = 0;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)myth_model_hash(&r->model));
    print_fact(&f[n++], "model", text);
    for (size_t i = 0; i < sizeof(r->p.survey.hash); i++)
        snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", r->p.survey.hash[i]);
    print_fact(&f[n++], "text of the prompts", text);
    print_fact(&f[n++], "--layers", r->o->rows.layers);
    print_fact(&f[n++], "--hook", myth_residual_hook_name[r->o->rows.hook]);
    print_fact(&f[n++], "--position", r->o->rows.position);
    snprintf(text, sizeof(text), "%.9g", (double)r->o->rows.winsorize);
    print_fact(&f[n++], "--winsorize", text);
    myth_residual_plan_stats(&r->p, text);
    print_fact(&f[n++], "--stats", text);
    print_fact(&f[n++], "--rows", r->o->rows.rows ? r->o->rows.rows : "none");
    print_fact(&f[n++], "--chat", r->o->prompts.chat ? "on" : "off");
    print_fact(&f[n++], "--system-prompt", r->o->prompts.system ? r->o->prompts.system : "none");
    snprintf(text, sizeof(text), "%u", r->p.po.n_most);
    print_fact(&f[n++], "-c", text);
    snprintf(text, sizeof(text), "%.40s%s", r->p.eo.device, r->p.eo.is_exact ? ", exact" : "");
    print_fact(&f[n++], "--device", text);
    snprintf(text, sizeof(text), "%s, %s", myth_dtype_get(r->p.eo.type_k)->name, myth_dtype_get(r->p.eo.type_v)->name);
    print_fact(&f[n++], "-ctk", text);
    return n;
}

static void show_progress(run_state *r)
{
    const myth_residual_state *s = myth_residual_run_state(r->run);
    const double rate = r->seconds > 0 ? (double)r->n_tok / r->seconds : 0;
    const uint64_t all = myth_shares_count(r->cli, r->p.survey.n_token), todo = all > s->n_token ? all - s->n_token : 0;
    myth_results_show(r->cli, &r->drawn_at,
                      &(myth_results_far){
                          .what = "prompts",
                          .unit = "tok/s",
                          .bound = "",
                          .done = s->next,
                          .all = r->p.survey.n_item,
                          .rate = rate,
                          .left = rate > 0 ? (double)todo / rate : -1.0,
                      });
}

static myth_status run_all(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    const uint64_t n_item = r->p.survey.n_item;
    bool has_more = myth_residual_run_state(r->run)->next < n_item, is_cut = false;
    if (myth_residual_run_state(r->run)->next && !r->cli->merges_shares)
        myth_term_note(r->cli->term, "going on after %llu of %llu prompts",
                       (unsigned long long)myth_residual_run_state(r->run)->next, (unsigned long long)n_item);
    r->drawn_at = myth_seconds();
    while (has_more && !myth_cancelled(r->cli->cancel)) {
        uint32_t n_tok = 0;
        double seconds = 0;
        st = myth_residual_run_step(r->run, &has_more, &n_tok, &seconds, err);
        is_cut = st == MYTH_ECANCEL && myth_cancelled(r->cli->cancel);
        if (is_cut)
            break;
        MYTH_TRY(st);
        r->n_tok += n_tok;
        r->seconds += seconds;
        show_progress(r);
    }
    if (is_cut || (has_more && myth_residual_run_state(r->run)->next < n_item)) {
        if (!is_cut) /* else the state is that of the last commit */
            MYTH_TRY(myth_residual_run_commit(r->run, err));
        st = myth_fail(err, MYTH_ECANCEL, "interrupted after %llu of %llu prompts; the same command goes on from there",
                       (unsigned long long)myth_residual_run_state(r->run)->next, (unsigned long long)n_item);
    }
fail:
    myth_term_progress_end(r->cli->term);
    return st;
}

/* ---- the summary ---- */

typedef struct {
    myth_json_out *j; /* NULL = text */
    uint64_t n;
} fault_list;

static myth_status print_fault(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    fault_list *f = user;
    (void)err;
    if (f->j) {
        myth_jout_object(f->j);
        myth_jout_key_u64(f->j, "index", index);
        myth_jout_key(f->j, "fault");
        myth_jout_text(f->j, row, n);
        myth_jout_end(f->j);
    } else {
        fputs(f->n ? "                 " : "faults           ", stdout);
        myth_term_line(stdout, row, n);
        putchar('\n');
    }
    f->n++;
    return MYTH_OK;
}

static myth_status print_summary(const run_state *r, myth_error *err)
{
    const myth_residual_state *s = myth_residual_run_state(r->run);
    const double rate = r->seconds > 0 ? (double)r->n_tok / r->seconds : 0;
    myth_json_out j;
    fault_list list = {.j = r->o->json ? &j : NULL};
    char text[32];
    if (!r->o->json) {
        printf("prompts          %llu, %llu of them faulty\ntokens           %llu", (unsigned long long)s->next,
               (unsigned long long)s->n_fault, (unsigned long long)s->n_token);
        if (rate > 0)
            printf(", %llu in this run, %s at %.0f tok/s", (unsigned long long)r->n_tok,
                   myth_seconds_text(text, r->seconds), rate);
        putchar('\n');
        print_rows(&r->p);
        myth_residual_out_print_text(stdout, &r->out);
        return myth_journal_each(r->journal, print_fault, &list, err);
    }
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "prompts", s->next);
    myth_jout_key_u64(&j, "done", s->n_done);
    myth_jout_key(&j, "faults");
    myth_jout_array(&j);
    const myth_status st = myth_journal_each(r->journal, print_fault, &list, err);
    myth_jout_end(&j);
    myth_jout_key_u64(&j, "tokens", s->n_token);
    myth_jout_key_u64(&j, "run_tokens", r->n_tok);
    myth_jout_key_f64(&j, "run_seconds", r->seconds);
    myth_jout_key_u64(&j, "step_rows", r->p.eo.n_ubatch);
    myth_jout_key_u64(&j, "step_rows_wanted", wanted_rows(&r->p));
    myth_jout_key_str(&j, "output", r->o->output);
    myth_jout_key_str(&j, "rows", r->o->rows.rows);
    myth_residual_out_print_json(&j, &r->out);
    myth_jout_end(&j);
    return st;
}

/* What is no number in the output, and why. */
static void note_empty_labels(const run_state *r)
{
    for (uint32_t k = 0; k < r->p.ro.n_label; k++)
        if (!r->count[k])
            myth_term_note(r->cli->term,
                           "no prompt with the label \"%s\" gives a row: its mean, direction and figures are NaN",
                           r->p.label[k]);
}

/* Metadata says what the numbers are, not how they came about: it is the same for every order and batch. */
static myth_status write_output(run_state *r, myth_error *err)
{
    char hash[20], winsorize[24], stats[32];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)myth_model_hash(&r->model));
    snprintf(winsorize, sizeof(winsorize), "%.9g", (double)r->o->rows.winsorize);
    const myth_safetensor_meta meta[] = {
        {"format", "mythos residuals 1"},
        {"model", myth_model_name(&r->model)},
        {"model_hash", hash},
        {"hook", myth_residual_hook_name[r->o->rows.hook]},
        {"position", r->o->rows.position},
        {"winsorize", winsorize},
        {"base", r->p.label[r->p.base]},
        {"stats", stats},
    };
    const size_t n_meta = sizeof(meta) / sizeof(meta[0]) - (r->p.ro.stats == 0);
    myth_residual_plan_stats(&r->p, stats);
    r->out.label = r->p.label;
    r->out.layer = r->p.layer;
    r->out.n_label = r->p.ro.n_label;
    r->out.n_layer = r->p.ro.n_layer;
    r->out.dim = r->model.config.d_model;
    r->out.base = r->p.base;
    r->out.stats = r->p.ro.stats;
    r->out.sums = myth_residual_run_sums(r->run);
    r->out.is_f64 = r->o->type == 1;
    r->out.mean = myth_residual_run_mean;
    r->out.user = r->run;
    r->out.count = r->count;
    r->out.figure = r->figure;
    return myth_residual_out_write(&r->out, r->cli->mem, r->o->output, meta, n_meta, err);
}

static bool has_journal(const char *output)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%.4000s.journal", output) > 0 && access(path, F_OK) == 0;
}

/* Before anything is computed: whether the folder of rows, which shares fill last, can be this job's. */
static myth_status rows_are_free(const run_state *r, myth_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%.4000s.journal", r->o->output);
    return myth_residual_rows_check(r->o->rows.rows, r->p.layer, r->p.ro.n_layer, path, err);
}

static myth_status compute(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_journal_fact fact[FACT_N];
    myth_expectation expected;
    myth_pace pace = {0};
    myth_engine_opts eo;
    char path[PATH_MAX];
    const char *kept = myth_shares_output(path, r->cli, r->o->output);
    const myth_residual_ask ask = {
        .flags = &r->o->rows, .prompt = &r->o->prompts, .prompts = r->cli->arg[0], .base = r->o->base};
    MYTH_TRY(myth_cli_model_open(r->cli, &r->model, &r->o->model, &r->o->engine,
                                 r->o->dry_run ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_cli_engine_opts(r->cli, &eo, &r->o->engine, err));
    MYTH_TRY(myth_residual_plan_make(&r->p, r->cli, &r->model, &ask, &eo, err));
    if (r->o->dry_run) {
        MYTH_TRY(myth_expect(&expected, r->cli, &r->model, &r->p.eo, NULL, NULL, err));
        dry_run(r, &expected);
        return MYTH_OK;
    }
    if (r->p.n_good == 0)
        return myth_fail(err, MYTH_EFORMAT, "%.100s: none of %llu line%s is a prompt; %.120s", r->cli->arg[0],
                         (unsigned long long)r->p.survey.n_item, myth_s(r->p.survey.n_item), r->p.first_fault);
    r->p.po.is_done = is_done;
    r->p.po.user = r;
    r->had_journal = has_journal(kept);
    snprintf(r->journal_path, sizeof(r->journal_path), "%.4000s.journal", kept);
    r->p.ro.job = r->journal_path;
    if (r->o->rows.rows)
        MYTH_TRY(rows_are_free(r, err));
    MYTH_TRY(
        myth_journal_open(&r->journal, kept, fact, list_facts(r, fact), r->o->resume == 0 || r->cli->goes_on, err));
    r->cli->has_journal = 1;
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &r->p.eo, err));
    r->figure = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "figures", (size_t)r->p.ro.n_label * r->p.ro.n_layer,
                             sizeof(*r->figure));
    if (!r->figure)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the figures of %u labels", r->p.ro.n_label);
    MYTH_TRY(myth_residual_run_open(&r->run, r->cli, r->engine, r->p.prompts, r->journal, &r->p.ro, &r->p.survey, err));
    MYTH_TRY(run_all(r, err));
    if (myth_shares_is_part(r->cli))
        return myth_journal_complete(r->journal, err);
    MYTH_TRY(myth_residual_run_finish(r->run, err));
    MYTH_TRY(write_output(r, err));
    if (r->o->report)
        MYTH_TRY(myth_residual_out_report(&r->out, r->o->report, myth_model_name(&r->model), err));
    pace.n_tok[MYTH_PREFILL][0] = (double)r->n_tok;
    pace.seconds[MYTH_PREFILL][0] = r->seconds;
    myth_expect_keep(r->cli, &r->model, &r->p.eo, r->engine, &pace);
    note_empty_labels(r);
    MYTH_TRY(print_summary(r, err));
    myth_journal_remove(r->journal);
    r->journal = NULL;
fail:
    return st;
}

static void release(run_state *r)
{
    r->cli->has_journal = 0;
    const bool has_done = r->run && (myth_residual_run_state(r->run)->next || myth_shares_is_part(r->cli));
    if (!r->had_journal && !has_done)
        myth_journal_remove(r->journal); /* nothing is done: nothing to go on from */
    else
        myth_journal_close(r->journal);
    myth_residual_run_close(r->run);
    myth_engine_close(r->engine);
    myth_residual_plan_close(&r->p);
    myth_free(r->cli->mem, r->figure);
    myth_model_close(&r->model);
}

/* Whether the index of --rows is the file of prompts. */
static bool overwrites_prompts(const char *rows, const char *prompts)
{
    char path[PATH_MAX];
    return rows && snprintf(path, sizeof(path), "%s/rows.jsonl", rows) < (int)sizeof(path) && access(path, F_OK) == 0 &&
           myth_hint_is_same_file(path, prompts);
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    static run_state state; /* labels and layers are too large for a stack */
    run_state *r = &state;
    *r = (run_state){.cli = cli, .o = opts};
    if (!r->o->output && !r->o->dry_run)
        return myth_cli_failf(cli, MYTH_EARG, "residuals: -o FILE is missing; name a .safetensors file for the means");
    if (myth_hint_check_file("-o", r->o->output, &err) != MYTH_OK ||
        myth_hint_check_output("--report", r->o->report, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    struct stat info;
    if (overwrites_prompts(r->o->rows.rows, cli->arg[0]))
        return myth_cli_failf(cli, MYTH_EARG,
                              "--rows %.100s: would overwrite %.100s, which is read; give another folder",
                              r->o->rows.rows, cli->arg[0]);
    if (r->o->rows.rows && stat(r->o->rows.rows, &info) == 0 && !S_ISDIR(info.st_mode))
        return myth_cli_failf(cli, MYTH_ECREATE, "--rows %.160s: is no folder; name one, or one to make",
                              r->o->rows.rows);
    const bool goes_on = r->o->resume == 0 || cli->goes_on;
    const uint32_t n_gone =
        r->o->rows.rows && !r->o->dry_run ? myth_shares_forgotten(&r->o->shares, r->o->output, goes_on) : 0;
    if (n_gone && myth_journal_remove_all(r->o->output, n_gone, &err) != MYTH_OK) /* of shares that still run: none */
        return myth_cli_fail(cli, &err);
    if (n_gone)
        myth_residual_rows_remove(r->o->rows.rows, n_gone);
    if (myth_shares_begin(cli, &r->o->shares, cli->arg[0], r->o->output, goes_on, r->o->dry_run, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const myth_status st = compute(r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (st == MYTH_OK && !r->o->dry_run && r->run && myth_residual_run_state(r->run)->n_fault)
        code = MYTH_EXIT_INCOMPLETE;
    release(r);
    return code;
}

const myth_command myth_cmd_residuals = {
    .name = "residuals",
    .args = "PROMPTS",
    .help = "write the means of residuals by label and layer, and the directions between labels",
    .detail =
        "PROMPTS is a file of JSON lines (- is standard input), each a text or an object with \"text\", \"ids\" or "
        "\"messages\", and optionally \"label\" and \"id\". A line that cannot be a prompt is listed and left out "
        "(exit 3). Lines without a label have the label \"unlabelled\", or \"all\" where no line has one. The means "
        "are "
        "the same to the bit for every order of the prompts and every --batch; for that values are summed in steps of "
        "2^-24 (6e-8), so that means of values as small have few digits, also with --type f64. There may be 64 "
        "labels.\n"
        "Progress is kept in FILE.journal: the same command goes on where it was stopped, also by kill -9, and "
        "gives the same bytes. Another model, other flags or other prompts are refused; --resume off begins anew.\n"
        "--stats adds tensors of the same rows, with the same promise: norm_mean.LABEL, norm_min.LABEL, norm_max.LABEL "
        "[residuals], the lengths of the rows; min.LABEL, max.LABEL, variance.LABEL [residuals, d_model], of each "
        "value. "
        "The variance is that of the population: the mean square of a row's distance from the mean, for n/(n-1) see "
        "count.LABEL. The rows then come to the host, as with --rows.\n"
        "--winsorize Q cuts each row before it is summed: its values to at most the Q-quantile of their "
        "magnitudes, between order statistics linearly. --exact computes in float32 in the reference order.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(residual_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run,
};
