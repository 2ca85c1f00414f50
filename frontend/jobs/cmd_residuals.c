/* cmd_residuals.c - means of the residuals of prompts, by label and layer, and the directions between labels.
 *
 * Passes    the prompts are read twice: once to count tokens and labels, so that the plan is exact, then to run them
 * Batches   --batch N prompts at a time need a step of as many rows as the N longest in a row have tokens; without the
 *           flag a step has DEFAULT_ROWS rows, or what fits
 * Break     a journal beside the output (frontend/jobs/journal.h); SIGTERM ends after the present batch
 * Memory    does not grow with the number of prompts */
#include "residual_run.h"

#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/plan_out.h"
#include "frontend/rates/expect.h"
#include "frontend/rates/progress.h"

#include "engine/base/hash.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_ROWS = 512, FACT_N = 13, STAT_N = 3 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    const char *output, *layers, *position, *rows, *base, *system, *report, *stats;
    uint32_t batch;
    float winsorize;
    int type, resume, hook;
    bool chat, json, dry_run;
} residual_opts;

#define AT(field) offsetof(residual_opts, field)
static const myth_option options[] = {
    {"output", "-o", MYTH_OPT_TEXT, "FILE", AT(output), NULL, 0, 0,
     "write the means to FILE, as .safetensors: mean.LABEL, count.LABEL, direction.LABEL, ..."},
    {"layers", NULL, MYTH_OPT_TEXT, "all|LIST", AT(layers), "all", 0, 0,
     "residuals to take, as in 3,7-12: 0 is the scaled embedding, N the residual after layer N"},
    {"hook", NULL, MYTH_OPT_CHOICE, "resid|attn_out|mlp_out", AT(hook), "resid", 0, 0,
     "what to take: the residual, or what a layer's attention or feed-forward network adds to it, before its post "
     "norm"},
    {"position", NULL, MYTH_OPT_TEXT, "P", AT(position), "-1", 0, 0,
     "token of each prompt: a number, from the end below 0; every: each token is a row; mean: a prompt's row is the "
     "mean "
     "over its tokens"},
    {"batch", NULL, MYTH_OPT_U32, "N", AT(batch), "(as many as fit 512 rows)", 1, MYTH_RESIDUAL_BATCH_MAX,
     "prompts at a time; the means do not depend on it"},
    {"winsorize", NULL, MYTH_OPT_F32, "Q", AT(winsorize), "1", 0, 1,
     "first cut each row's values to at most the Q-quantile of their magnitudes (1 = not)"},
    {"stats", NULL, MYTH_OPT_TEXT, "all|LIST", AT(stats), "(means alone)", 0, 0,
     "more of each label and layer, as in norms,variance: norms (mean, least and greatest length of its rows), minmax "
     "(least and greatest of each value), variance (of each value)"},
    {"base", NULL, MYTH_OPT_TEXT, "LABEL", AT(base), "(first in order of bytes)", 0, 0,
     "label that the directions of the others begin at"},
    {"rows", NULL, MYTH_OPT_TEXT, "DIR", AT(rows), NULL, 0, 0,
     "also write every row: DIR/layer-NNN.npy, and DIR/rows.jsonl with the ids"},
    {"type", NULL, MYTH_OPT_CHOICE, "f32|f64", AT(type), "f32", 0, 0, "element type of means and directions"},
    {"chat", NULL, MYTH_OPT_FLAG, NULL, AT(chat), NULL, 0, 0, "a \"text\" is a user's turn of a chat"},
    {"system-prompt", "-sys", MYTH_OPT_TEXT, "TEXT", AT(system), NULL, 0, 0,
     "system text of chats that begin with none"},
    {"report", NULL, MYTH_OPT_TEXT, "FILE", AT(report), NULL, 0, 0,
     "also write a page with plots by layer (HTML, no scripts)"},
    {"resume", NULL, MYTH_OPT_CHOICE, "on|off", AT(resume), "on", 0, 0,
     "go on where the same command was stopped; off: begin anew"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, AT(dry_run), NULL, 0, 0,
     "count tokens, bytes and expected seconds, and run nothing"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, AT(json), NULL, 0, 0,
     "print {\"prompts\",\"done\",\"faults\",\"tokens\",\"labels\",\"layers\",...}"},
};
static const myth_option_group groups[] = {MYTH_GROUP("residuals", residual_opts, options),
                                           MYTH_GROUP_MODEL(residual_opts, model),
                                           MYTH_GROUP_ENGINE(residual_opts, engine)};

typedef struct {
    myth_cli *cli;
    const residual_opts *o;
    myth_model model;
    myth_prompts_opts po;
    myth_prompts *prompts;
    myth_prompts_survey survey;
    uint32_t layer[MYTH_ROW_FILE_MAX];
    char label[MYTH_LABEL_MAX + 1][MYTH_LABEL_BYTES];
    bool has_unlabelled;
    uint64_t *window, *most; /* [batch + 1] tokens up to the last prompts; [batch + 1] of that many in a row, at most */
    uint64_t n_good;         /* prompts without a fault */
    myth_residual_opts ro;
    myth_engine_opts eo;
    myth_engine *engine;
    myth_journal *journal;
    myth_residual_run *run;
    myth_residual_out out;
    myth_residual_figure *figure;
    uint64_t count[MYTH_LABEL_MAX + 1];
    bool had_journal;
    char first_fault[MYTH_PROMPT_FAULT_BYTES + 32];
    double seconds;
    uint64_t n_tok; /* of this run, in these seconds */
} run_state;

/* ---- flags ---- */

static const char *const hook_name[] = {"resid", "attn_out", "mlp_out"};

static myth_status parse_layers(run_state *r, myth_error *err)
{
    const uint32_t n_layer = r->model.config.n_layer, low = r->o->hook ? 1 : 0;
    bool wanted[MYTH_ROW_FILE_MAX] = {false};
    const char *s = r->o->layers;
    for (bool has_more = strcmp(s, "all") != 0; has_more;) {
        char *end;
        const unsigned long from = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : ULONG_MAX;
        unsigned long to = from;
        s = from == ULONG_MAX ? s : end;
        if (from != ULONG_MAX && *s == '-') {
            to = isdigit((unsigned char)s[1]) ? strtoul(s + 1, &end, 10) : ULONG_MAX;
            s = to == ULONG_MAX ? s : end;
        }
        has_more = *s == ',';
        if (from == ULONG_MAX || to == ULONG_MAX || (*s && !has_more))
            return myth_fail(err, MYTH_EARG, "--layers: got \"%.40s\", expected all, or residuals such as 0,3,7-12",
                             r->o->layers);
        if (to > n_layer || from > to || from < low)
            return myth_fail(err, MYTH_EARG,
                             "--layers: no layers %lu to %lu of %s; there are %s to %u (the last layer)", from, to,
                             hook_name[r->o->hook], low ? "1" : "0 (the embedding)", n_layer);
        for (unsigned long l = from; l <= to; l++)
            wanted[l] = true;
        s += has_more;
    }
    const bool all = strcmp(r->o->layers, "all") == 0;
    for (uint32_t l = low; l <= n_layer; l++)
        if (all || wanted[l])
            r->layer[r->ro.n_layer++] = l;
    r->ro.layer = r->layer;
    return MYTH_OK;
}

static myth_status parse_position(run_state *r, myth_error *err)
{
    const char *s = r->o->position;
    char *end = NULL;
    if (strcmp(s, "every") == 0 || strcmp(s, "mean") == 0) {
        r->ro.position = *s == 'e' ? MYTH_POSITION_EVERY : MYTH_POSITION_MEAN;
        return MYTH_OK;
    }
    const long at = strtol(s, &end, 10);
    if (end == s || *end || isspace((unsigned char)*s) || at > INT32_MAX || at < -INT32_MAX)
        return myth_fail(err, MYTH_EARG, "--position: got \"%.40s\", expected a number such as -1, every or mean", s);
    r->ro.at = (int32_t)at;
    return MYTH_OK;
}

static const char *const stat_name[STAT_N] = {"norms", "minmax", "variance"}; /* in the order of their bits */

static myth_status parse_stats(run_state *r, myth_error *err)
{
    const char *s = r->o->stats;
    bool has_more = s && strcmp(s, "all") != 0;
    r->ro.stats = s && !has_more ? MYTH_STAT_ALL : 0;
    while (has_more) {
        const size_t n = strcspn(s, ",");
        uint32_t k = 0;
        while (k < STAT_N && (strlen(stat_name[k]) != n || memcmp(stat_name[k], s, n) != 0))
            k++;
        if (k == STAT_N)
            return myth_fail(err, MYTH_EARG, "--stats: got \"%.40s\", expected all, or some of norms,minmax,variance",
                             r->o->stats);
        r->ro.stats |= 1u << k;
        has_more = s[n] == ',';
        s += n + has_more;
    }
    return MYTH_OK;
}

/* The stats in one order, whatever the flag's. */
static void name_stats(const run_state *r, char text[32])
{
    int n = 0;
    snprintf(text, 32, "none");
    for (uint32_t k = 0; k < STAT_N; k++)
        if (r->ro.stats >> k & 1)
            n += snprintf(text + n, 32 - (size_t)n, "%s%s", n ? "," : "", stat_name[k]);
}

/* ---- the first pass ---- */

static int compare_labels(const void *a, const void *b) { return strcmp(a, b); }

static myth_status add_label(run_state *r, const myth_job_prompt *it, myth_error *err)
{
    const myth_str label = it->label;
    if (!label.text) {
        r->has_unlabelled = true;
        return MYTH_OK;
    }
    if (label.len == 0 || label.len >= MYTH_LABEL_BYTES || memchr(label.text, '\0', label.len))
        return myth_fail(err, MYTH_ELIMIT, "line %llu: a label of %zu bytes; 1 to %d expected, and none of them 0",
                         (unsigned long long)it->line, label.len, MYTH_LABEL_BYTES - 1);
    for (uint32_t k = 0; k < r->ro.n_label; k++)
        if (strlen(r->label[k]) == label.len && memcmp(r->label[k], label.text, label.len) == 0)
            return MYTH_OK;
    if (r->ro.n_label == MYTH_LABEL_MAX)
        return myth_fail(err, MYTH_ELIMIT, "line %llu: \"%.*s\" is one label more than %d",
                         (unsigned long long)it->line, (int)(label.len < 60 ? label.len : 60), label.text,
                         MYTH_LABEL_MAX);
    memcpy(r->label[r->ro.n_label], label.text, label.len);
    r->label[r->ro.n_label++][label.len] = '\0';
    return MYTH_OK;
}

static myth_status visit(void *user, const myth_job_prompt *it, myth_error *err)
{
    run_state *r = user;
    if (!it->ids) {
        if (!r->first_fault[0])
            snprintf(r->first_fault, sizeof(r->first_fault), "line %llu: %.*s", (unsigned long long)it->line,
                     MYTH_PROMPT_FAULT_BYTES - 1, it->fault);
        return MYTH_OK;
    }
    if (r->most) { /* window[i % (batch + 1)]: tokens of the first i prompts */
        const uint64_t n = r->o->batch + 1u, i = ++r->n_good;
        r->window[i % n] = r->window[(i - 1) % n] + it->n_ids;
        for (uint64_t b = 1; b < n && b <= i; b++) {
            const uint64_t sum = r->window[i % n] - r->window[(i - b) % n];
            r->most[b] = sum > r->most[b] ? sum : r->most[b];
        }
    } else {
        r->n_good++;
    }
    return add_label(r, it, err);
}

static bool is_done(void *user, uint64_t index)
{
    const run_state *r = user;
    return r->run && index < myth_residual_run_state(r->run)->next;
}

static myth_status look(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_config *c = &r->model.config;
    const uint32_t n_ctx = r->eo.n_ctx ? r->eo.n_ctx : c->n_ctx_train;
    r->po = (myth_prompts_opts){
        .is_done = is_done,
        .user = r,
        .is_chat = r->o->chat,
        .system = r->o->system,
        .n_most = r->eo.n_ubatch && r->eo.n_ubatch < n_ctx ? r->eo.n_ubatch : n_ctx,
    };
    if (r->o->batch) {
        r->window = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "windows", 2 * (r->o->batch + 1u), sizeof(*r->window));
        if (!r->window)
            return myth_fail(err, MYTH_ENOMEM, "out of memory for --batch %u", r->o->batch);
        r->most = r->window + r->o->batch + 1;
    }
    MYTH_TRY(myth_prompts_open(&r->prompts, r->cli, &r->model, r->cli->arg[0], &r->po, err));
    MYTH_TRY(myth_prompts_look(r->prompts, &r->survey, visit, r, err));
    if (r->survey.n_item == 0)
        return myth_fail(err, MYTH_EFORMAT,
                         "%.200s has no prompts; each line is an object such as {\"text\":\"hello\"}", r->cli->arg[0]);
    qsort(r->label, r->ro.n_label, sizeof(r->label[0]), compare_labels);
    r->ro.has_unlabelled = r->has_unlabelled || r->ro.n_label == 0;
    if (r->ro.has_unlabelled)
        snprintf(r->label[r->ro.n_label], MYTH_LABEL_BYTES, "%s", r->ro.n_label ? "unlabelled" : "all");
    r->ro.n_label += r->ro.has_unlabelled;
    r->ro.label = r->label;
    for (r->out.base = 0; r->o->base && r->out.base < r->ro.n_label; r->out.base++)
        if (strcmp(r->o->base, r->label[r->out.base]) == 0)
            break;
    if (r->out.base == r->ro.n_label)
        return myth_fail(err, MYTH_EARG, "--base: no prompt has the label \"%.60s\"; the first of %u is \"%.60s\"",
                         r->o->base, r->ro.n_label, r->label[0]);
fail:
    return st;
}

/* ---- the plan ---- */

static myth_residual_shape shape_of(const run_state *r)
{
    return (myth_residual_shape){r->ro.n_label, r->ro.n_layer, r->model.config.d_model, r->ro.stats};
}

/* What this command takes beside the engine: the prompts' reader, the batch, the means. */
static myth_plan_extra extra_of(const run_state *r, uint32_t batch, uint32_t rows)
{
    const myth_config *c = &r->model.config;
    myth_residual_opts ro = r->ro;
    ro.batch = batch;
    const myth_residual_shape is = shape_of(r);
    const uint64_t own = myth_residual_run_bytes(&ro, c, rows) + myth_residual_out_bytes(&is) +
                         sizeof(*r->figure) * r->ro.n_label * r->ro.n_layer;
    return (myth_plan_extra){.bytes[MYTH_MEM_STAGING] = myth_cli_staging(r->cli) + own};
}

static bool fits(const run_state *r, const myth_mem_limits *limits, uint32_t batch, uint32_t rows)
{
    myth_plan p;
    myth_engine_opts eo = r->eo;
    const myth_plan_extra extra = extra_of(r, batch, rows);
    eo.n_ubatch = rows;
    return myth_plan_make(&p, &r->model, &eo, &extra, limits, false, NULL) == MYTH_OK && p.fits;
}

/* The largest number of rows, low <= rows <= high, that fits; low when not even that does. */
static uint32_t most_rows(const run_state *r, const myth_mem_limits *limits, uint32_t low, uint32_t high)
{
    if (fits(r, limits, r->ro.batch, high))
        return high;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (fits(r, limits, r->ro.batch, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether a step can have the rows of the longest b prompts in a row. */
static bool batch_fits(const run_state *r, const myth_mem_limits *limits, uint32_t b)
{
    return r->most[b] <= (r->eo.n_ubatch ? r->eo.n_ubatch : 65536) && fits(r, limits, b, (uint32_t)r->most[b]);
}

static myth_status refuse_batch(const run_state *r, const myth_mem_limits *limits, uint64_t need, myth_error *err)
{
    uint32_t low = 1, high = r->o->batch;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (batch_fits(r, limits, middle))
            low = middle;
        else
            high = middle;
    }
    const uint32_t given = r->eo.n_ubatch, rows = given ? given : 65536;
    if (need > rows)
        return myth_fail_option(
            err, MYTH_EARG, "n_ubatch",
            "--batch %u: its longest %u prompts in a row have %llu tokens, and a step at most %u rows%s; "
            "give --batch %u, the largest that fits",
            r->o->batch, r->o->batch, (unsigned long long)need, rows, given ? " (-ub)" : "", low);
    return myth_fail(
        err, MYTH_ENOFIT,
        "--batch %u: its longest %u prompts in a row have %llu tokens, and a step of as many rows passes the "
        "memory limit; give --batch %u, the largest that fits, or a higher --mem-limit",
        r->o->batch, r->o->batch, (unsigned long long)need, low);
}

/* Chooses the rows of a step. */
static myth_status choose_rows(run_state *r, myth_error *err)
{
    myth_mem_limits limits;
    const uint32_t longest = r->survey.longest ? r->survey.longest : 1, given = r->eo.n_ubatch;
    const uint64_t n_good = r->n_good ? r->n_good : 1, b = r->o->batch && r->o->batch < n_good ? r->o->batch : n_good,
                   need = r->most ? (r->most[b] ? r->most[b] : 1) : 0;
    const myth_status st = myth_cli_limits(r->cli, &limits, &r->eo, err);
    if (st != MYTH_OK)
        return st;
    r->eo.n_ctx = r->eo.n_ctx ? r->eo.n_ctx : longest;
    if (need) {
        if (!batch_fits(r, &limits, (uint32_t)b) && b > 1 && batch_fits(r, &limits, 1))
            return refuse_batch(r, &limits, need, err);
        r->eo.n_ubatch = given ? given : (uint32_t)need;
        return MYTH_OK;
    }
    if (!given) {
        const uint64_t all = r->survey.n_token ? r->survey.n_token : 1;
        uint32_t rows = longest > DEFAULT_ROWS ? longest : DEFAULT_ROWS;
        rows = all < rows ? (uint32_t)all : rows;
        r->eo.n_ubatch = most_rows(r, &limits, longest, rows);
    }
    return MYTH_OK;
}

static myth_status make_plan(run_state *r, myth_error *err)
{
    myth_residual_needs(&r->eo, &r->ro);
    myth_status st = choose_rows(r, err);
    if (st != MYTH_OK)
        return st;
    const myth_plan_extra extra = extra_of(r, r->ro.batch, r->eo.n_ubatch);
    return myth_cli_plan(r->cli, &r->model, &r->eo, &extra, err);
}

/* ---- the dry run ---- */

static void dry_run(run_state *r, const myth_expectation *e)
{
    const myth_prompts_survey *s = &r->survey;
    const myth_residual_shape is = shape_of(r);
    const uint64_t n_row = r->ro.position == MYTH_POSITION_EVERY ? s->n_token : s->n_item, d = r->model.config.d_model,
                   bytes = myth_residual_out_data_bytes(&is, r->o->type == 1),
                   row_bytes = r->ro.rows ? n_row * d * 4 * r->ro.n_layer : 0;
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
        myth_jout_key_u64(&j, "labels", r->ro.n_label);
        myth_jout_key_u64(&j, "layers", r->ro.n_layer);
        myth_jout_key_u64(&j, "step_rows", r->eo.n_ubatch);
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
           "labels           %u\nresiduals        %u of %u\nrows a step      %u\n",
           (unsigned long long)s->n_item, (unsigned long long)s->n_fault, (unsigned long long)s->n_token, s->longest,
           r->ro.n_label, r->ro.n_layer, r->model.config.n_layer + 1, r->eo.n_ubatch);
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
    for (size_t i = 0; i < sizeof(r->survey.hash); i++)
        snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", r->survey.hash[i]);
    print_fact(&f[n++], "text of the prompts", text);
    print_fact(&f[n++], "--layers", r->o->layers);
    print_fact(&f[n++], "--hook", hook_name[r->o->hook]);
    print_fact(&f[n++], "--position", r->o->position);
    snprintf(text, sizeof(text), "%.9g", (double)r->o->winsorize);
    print_fact(&f[n++], "--winsorize", text);
    name_stats(r, text);
    print_fact(&f[n++], "--stats", text);
    print_fact(&f[n++], "--rows", r->o->rows ? r->o->rows : "none");
    print_fact(&f[n++], "--chat", r->o->chat ? "on" : "off");
    print_fact(&f[n++], "--system-prompt", r->o->system ? r->o->system : "none");
    snprintf(text, sizeof(text), "%u", r->po.n_most);
    print_fact(&f[n++], "-c", text);
    snprintf(text, sizeof(text), "%.40s%s", r->eo.device, r->eo.is_exact ? ", exact" : "");
    print_fact(&f[n++], "--device", text);
    snprintf(text, sizeof(text), "%s, %s", myth_dtype_get(r->eo.type_k)->name, myth_dtype_get(r->eo.type_v)->name);
    print_fact(&f[n++], "-ctk", text);
    return n;
}

static void show_progress(run_state *r, myth_progress *p)
{
    char line[160], left[32];
    const myth_residual_state *s = myth_residual_run_state(r->run);
    const double rate = r->seconds > 0 ? (double)r->n_tok / r->seconds : 0;
    const uint64_t todo = r->survey.n_token - s->n_token;
    if (!myth_progress_is_due(p, r->cli->term->has_progress, myth_expect_now()))
        return;
    int n = snprintf(line, sizeof(line), "residuals: %llu/%llu prompts", (unsigned long long)s->next,
                     (unsigned long long)r->survey.n_item);
    if (rate > 0)
        snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f tok/s, %s left", rate,
                 myth_seconds_text(left, (double)todo / rate));
    if (r->cli->term->has_progress)
        myth_term_progress_line(r->cli->term, line);
    else
        myth_term_note(r->cli->term, "%s", line);
}

static myth_status run_all(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_progress progress;
    const uint64_t n_item = r->survey.n_item;
    bool has_more = myth_residual_run_state(r->run)->next < n_item;
    if (myth_residual_run_state(r->run)->next)
        myth_term_note(r->cli->term, "going on after %llu of %llu prompts",
                       (unsigned long long)myth_residual_run_state(r->run)->next, (unsigned long long)n_item);
    myth_progress_begin(&progress, 1, r->survey.n_token, myth_expect_now());
    while (has_more && !*r->cli->cancel) {
        uint32_t n_tok = 0;
        double seconds = 0;
        MYTH_TRY(myth_residual_run_step(r->run, &has_more, &n_tok, &seconds, err));
        r->n_tok += n_tok;
        r->seconds += seconds;
        show_progress(r, &progress);
    }
    if (has_more && myth_residual_run_state(r->run)->next < n_item) {
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
        printf("\nrows a step      %u\n", r->eo.n_ubatch);
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
    myth_jout_key_u64(&j, "step_rows", r->eo.n_ubatch);
    myth_jout_key_str(&j, "output", r->o->output);
    myth_jout_key_str(&j, "rows", r->o->rows);
    myth_residual_out_print_json(&j, &r->out);
    myth_jout_end(&j);
    return st;
}

/* Metadata says what the numbers are, not how they came about: it is the same for every order and batch. */
static myth_status write_output(run_state *r, myth_error *err)
{
    char hash[20], winsorize[24], stats[32];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)myth_model_hash(&r->model));
    snprintf(winsorize, sizeof(winsorize), "%.9g", (double)r->o->winsorize);
    const myth_safetensor_meta meta[] = {
        {"format", "mythos residuals 1"},
        {"model", myth_weights_name(r->model.weights)},
        {"model_hash", hash},
        {"hook", hook_name[r->o->hook]},
        {"position", r->o->position},
        {"winsorize", winsorize},
        {"base", r->label[r->out.base]},
        {"stats", stats},
    };
    const size_t n_meta = sizeof(meta) / sizeof(meta[0]) - (r->ro.stats == 0);
    name_stats(r, stats);
    r->out.label = r->label;
    r->out.layer = r->layer;
    r->out.n_label = r->ro.n_label;
    r->out.n_layer = r->ro.n_layer;
    r->out.dim = r->model.config.d_model;
    r->out.stats = r->ro.stats;
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

static myth_status compute(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_journal_fact fact[FACT_N];
    myth_expectation expected;
    myth_pace pace = {0};
    MYTH_TRY(myth_cli_model_open(r->cli, &r->model, &r->o->model,
                                 r->o->dry_run ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(parse_layers(r, err));
    MYTH_TRY(parse_stats(r, err));
    MYTH_TRY(myth_cli_engine_opts(r->cli, &r->eo, &r->o->engine, err));
    MYTH_TRY(look(r, err));
    MYTH_TRY(make_plan(r, err));
    if (r->o->dry_run) {
        MYTH_TRY(myth_expect(&expected, r->cli, &r->model, &r->eo, NULL, NULL, err));
        dry_run(r, &expected);
        return MYTH_OK;
    }
    if (r->n_good == 0)
        return myth_fail(err, MYTH_EFORMAT, "%.100s: none of %llu line%s is a prompt; %.120s", r->cli->arg[0],
                         (unsigned long long)r->survey.n_item, myth_s(r->survey.n_item), r->first_fault);
    r->had_journal = has_journal(r->o->output);
    MYTH_TRY(myth_journal_open(&r->journal, r->o->output, fact, list_facts(r, fact), r->o->resume == 0, err));
    MYTH_TRY(myth_engine_open(&r->engine, &r->model, &r->eo, err));
    r->figure = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "figures", (size_t)r->ro.n_label * r->ro.n_layer,
                             sizeof(*r->figure));
    if (!r->figure)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the figures of %u labels", r->ro.n_label);
    MYTH_TRY(myth_residual_run_open(&r->run, r->cli, r->engine, r->prompts, r->journal, &r->ro, &r->survey, err));
    MYTH_TRY(run_all(r, err));
    MYTH_TRY(myth_residual_run_finish(r->run, err));
    MYTH_TRY(write_output(r, err));
    if (r->o->report)
        MYTH_TRY(myth_residual_out_report(&r->out, r->o->report, myth_weights_name(r->model.weights), err));
    pace.n_tok[MYTH_PREFILL][0] = (double)r->n_tok;
    pace.seconds[MYTH_PREFILL][0] = r->seconds;
    myth_expect_keep(r->cli, &r->model, &r->eo, myth_engine_device(r->engine), &pace);
    MYTH_TRY(print_summary(r, err));
    myth_journal_remove(r->journal);
    r->journal = NULL;
fail:
    return st;
}

static void release(run_state *r)
{
    if (!r->had_journal && (!r->run || myth_residual_run_state(r->run)->next == 0))
        myth_journal_remove(r->journal); /* nothing is done: nothing to go on from */
    else
        myth_journal_close(r->journal);
    myth_residual_run_close(r->run);
    myth_engine_close(r->engine);
    myth_prompts_close(r->prompts);
    myth_free(r->cli->mem, r->figure);
    myth_free(r->cli->mem, r->window);
    myth_model_close(&r->model);
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    static run_state state; /* labels and layers: too large for a stack */
    run_state *r = &state;
    *r = (run_state){.cli = cli, .o = opts};
    r->ro = (myth_residual_opts){
        .hook = (myth_hook)r->o->hook, .winsorize = (double)r->o->winsorize, .batch = r->o->batch, .rows = r->o->rows};
    if (!r->o->output && !r->o->dry_run)
        return myth_cli_failf(cli, MYTH_EARG, "residuals: -o FILE is missing; name a .safetensors file for the means");
    if (parse_position(r, &err) != MYTH_OK || myth_hint_check_file("-o", r->o->output, &err) != MYTH_OK ||
        myth_hint_check_output("--report", r->o->report, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    struct stat info;
    if (r->o->rows && stat(r->o->rows, &info) == 0 && !S_ISDIR(info.st_mode))
        return myth_cli_failf(cli, MYTH_ECREATE, "--rows %.160s: is no folder; name one, or one to make", r->o->rows);
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
        "(exit 3). The means are the same to the bit for every order of the prompts and every --batch.\n"
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
    .n_group = 3,
    .opts_bytes = sizeof(residual_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run,
};
