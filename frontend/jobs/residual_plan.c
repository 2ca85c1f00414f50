/* residual_plan.c - see residual_plan.h. */
#include "residual_plan.h"

#include "shares.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROWS = 512, STAT_N = 3 };

/* ---- flags ---- */

const char *const myth_residual_hook_name[MYTH_HOOK_N] = {"resid", "attn_out", "mlp_out", "attn_in", "mlp_in"};

static myth_status parse_layers(myth_residual_plan *p, myth_error *err)
{
    const uint32_t n_layer = p->model->config.n_layer, low = p->flags->hook ? 1 : 0;
    bool wanted[MYTH_ROW_FILE_MAX] = {false};
    const char *s = p->flags->layers;
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
                             p->flags->layers);
        if (to > n_layer || from > to || from < low)
            return myth_fail(err, MYTH_EARG,
                             "--layers: no layers %lu to %lu of %s; there are %s to %u (the last layer)", from, to,
                             myth_residual_hook_name[p->flags->hook], low ? "1" : "0 (the embedding)", n_layer);
        for (unsigned long l = from; l <= to; l++)
            wanted[l] = true;
        s += has_more;
    }
    const bool all = strcmp(p->flags->layers, "all") == 0;
    for (uint32_t l = low; l <= n_layer; l++)
        if (all || wanted[l])
            p->layer[p->ro.n_layer++] = l;
    p->ro.layer = p->layer;
    return MYTH_OK;
}

static myth_status parse_position(myth_residual_plan *p, myth_error *err)
{
    const char *s = p->flags->position;
    char *end = NULL;
    if (strcmp(s, "every") == 0 || strcmp(s, "mean") == 0) {
        p->ro.position = *s == 'e' ? MYTH_POSITION_EVERY : MYTH_POSITION_MEAN;
        return MYTH_OK;
    }
    const long at = strtol(s, &end, 10);
    if (end == s || *end || isspace((unsigned char)*s) || at > INT32_MAX || at < -INT32_MAX)
        return myth_fail(err, MYTH_EARG, "--position: got \"%.40s\", expected a number such as -1, every or mean", s);
    p->ro.at = (int32_t)at;
    return MYTH_OK;
}

static const char *const stat_name[STAT_N] = {"norms", "minmax", "variance"}; /* in the order of their bits */

static myth_status parse_stats(myth_residual_plan *p, myth_error *err)
{
    const char *s = p->flags->stats;
    bool has_more = s && strcmp(s, "all") != 0;
    p->ro.stats = s && !has_more ? MYTH_STAT_ALL : 0;
    while (has_more) {
        const size_t n = strcspn(s, ",");
        uint32_t k = 0;
        while (k < STAT_N && (strlen(stat_name[k]) != n || memcmp(stat_name[k], s, n) != 0))
            k++;
        if (k == STAT_N)
            return myth_fail(err, MYTH_EARG, "--stats: got \"%.40s\", expected all, or some of norms,minmax,variance",
                             p->flags->stats);
        p->ro.stats |= 1u << k;
        has_more = s[n] == ',';
        s += n + has_more;
    }
    return MYTH_OK;
}

void myth_residual_plan_stats(const myth_residual_plan *p, char text[32])
{
    int n = 0;
    snprintf(text, 32, "none");
    for (uint32_t k = 0; k < STAT_N; k++)
        if (p->ro.stats >> k & 1)
            n += snprintf(text + n, 32 - (size_t)n, "%s%s", n ? "," : "", stat_name[k]);
}

/* ---- the first pass ---- */

/* The place of a label among all, in the order of their bytes; a new one is put there. The list has room for it. */
static uint32_t place_label(myth_residual_plan *p, const char *label)
{
    uint32_t k = 0;
    while (k < p->ro.n_label && strcmp(p->label[k], label) < 0)
        k++;
    if (k < p->ro.n_label && strcmp(p->label[k], label) == 0)
        return k;
    memmove(p->label[k + 1], p->label[k], (p->ro.n_label - k) * sizeof(p->label[0]));
    memmove(&p->n_of_label[k + 1], &p->n_of_label[k], (p->ro.n_label - k) * sizeof(p->n_of_label[0]));
    snprintf(p->label[k], MYTH_LABEL_BYTES, "%s", label);
    p->n_of_label[k] = 0;
    p->ro.n_label++;
    return k;
}

/* Labels of prompts that give no row count, too: so that the base is not another one because of a bad line. */
static myth_status add_label(myth_residual_plan *p, const myth_job_prompt *it, bool has_row, myth_error *err)
{
    char label[MYTH_LABEL_BYTES] = "";
    if (!it->label.text) {
        p->has_unlabelled |= it->ids != NULL;
        p->n_unlabelled += has_row;
        return MYTH_OK;
    }
    memcpy(label, it->label.text, it->label.len);
    const uint32_t was = p->ro.n_label, k = place_label(p, label);
    if (p->ro.n_label > MYTH_LABEL_MAX)
        return myth_fail(err, MYTH_ELIMIT, "line %llu: \"%.60s\" is label %u; there may be %d",
                         (unsigned long long)it->line, label, was + 1, MYTH_LABEL_MAX);
    p->n_of_label[k] += has_row;
    return MYTH_OK;
}

static myth_status visit(void *user, const myth_job_prompt *it, myth_error *err)
{
    myth_residual_plan *p = user;
    char fault[MYTH_PROMPT_FAULT_BYTES];
    snprintf(fault, sizeof(fault), "%s", it->fault);
    const bool has_row = it->ids && myth_residual_has_row(&p->ro, it->n_ids, fault);
    if (myth_shares_has(p->cli, it->index))
        p->ro.n_row += p->ro.position != MYTH_POSITION_EVERY ? 1 : it->ids ? it->n_ids : 0;
    if (it->ids && !has_row) {
        p->survey.n_fault++; /* look adds its own */
        p->survey.n_token -= it->n_ids;
    }
    if (!has_row) {
        if (!p->first_fault[0])
            snprintf(p->first_fault, sizeof(p->first_fault), "line %llu: %s", (unsigned long long)it->line, fault);
        return add_label(p, it, false, err);
    }
    if (p->most) { /* window[i % (batch + 1)]: tokens of the first i prompts */
        const uint64_t n = p->flags->batch + 1u, i = ++p->n_good;
        p->window[i % n] = p->window[(i - 1) % n] + it->n_ids;
        for (uint64_t b = 1; b < n && b <= i; b++) {
            const uint64_t sum = p->window[i % n] - p->window[(i - b) % n];
            p->most[b] = sum > p->most[b] ? sum : p->most[b];
        }
    } else {
        p->n_good++;
    }
    return add_label(p, it, true, err);
}

/* Lines without a label have one of their own, which a line may also name. */
static void name_unlabelled(myth_residual_plan *p)
{
    if (!p->has_unlabelled && p->ro.n_label)
        return;
    const char *name = p->ro.n_label ? "unlabelled" : "all";
    uint32_t k = 0;
    while (k < p->ro.n_label && strcmp(p->label[k], name) != 0)
        k++;
    if (k == p->ro.n_label) { /* behind the others, so that it is not the base by default */
        snprintf(p->label[k], MYTH_LABEL_BYTES, "%s", name);
        p->n_of_label[p->ro.n_label++] = 0;
    }
    p->n_of_label[k] += p->n_unlabelled;
    p->ro.unlabelled = k;
}

static myth_status look(myth_residual_plan *p, const char *prompts, const char *base, myth_error *err)
{
    myth_status st = MYTH_OK;
    const uint32_t n_ctx = myth_prompts_most(p->model, &p->eo);
    p->po.n_most = p->eo.n_ubatch && p->eo.n_ubatch < n_ctx ? p->eo.n_ubatch : n_ctx;
    if (p->flags->batch) {
        p->window =
            myth_alloc_n(p->cli->mem, MYTH_MEM_STAGING, "windows", 2 * (p->flags->batch + 1u), sizeof(*p->window));
        if (!p->window)
            return myth_fail(err, MYTH_ENOMEM, "out of memory for --batch %u", p->flags->batch);
        p->most = p->window + p->flags->batch + 1;
    }
    MYTH_TRY(myth_prompts_open(&p->prompts, p->cli, p->model, prompts, &p->po, err));
    MYTH_TRY(myth_prompts_look(p->prompts, &p->survey, visit, p, err));
    name_unlabelled(p);
    p->ro.label = p->label;
    for (p->base = 0; base && p->base < p->ro.n_label; p->base++)
        if (strcmp(base, p->label[p->base]) == 0)
            break;
    if (p->base == p->ro.n_label)
        return myth_fail(err, MYTH_EARG, "--base: no prompt has the label \"%.60s\"; the first of %u is \"%.60s\"",
                         base, p->ro.n_label, p->label[0]);
    if (p->n_good && !p->n_of_label[p->base])
        return myth_fail(
            err, MYTH_EARG,
            "no prompt with the label \"%.60s\" gives a row, so no direction can begin at it; name another "
            "with --base, or see that its lines are prompts",
            p->label[p->base]);
fail:
    return st;
}

/* ---- the plan ---- */

myth_residual_shape myth_residual_plan_shape(const myth_residual_plan *p)
{
    return (myth_residual_shape){p->ro.n_label, p->ro.n_layer, p->model->config.d_model, p->ro.stats};
}

/* What this command takes beside the engine: the prompts' reader, the batch, the means. */
static myth_plan_extra extra_of(const myth_residual_plan *p, uint32_t batch, uint32_t rows)
{
    const myth_config *c = &p->model->config;
    myth_residual_opts ro = p->ro;
    ro.batch = batch;
    const myth_residual_shape is = myth_residual_plan_shape(p);
    const uint64_t own = myth_residual_run_bytes(&ro, c, rows) + myth_residual_out_bytes(&is) +
                         sizeof(myth_residual_figure) * p->ro.n_label * p->ro.n_layer;
    return (myth_plan_extra){.bytes[MYTH_MEM_STAGING] = myth_cli_staging(p->cli) + own};
}

static bool fits(const myth_residual_plan *p, const myth_mem_limits *limits, uint32_t batch, uint32_t rows)
{
    myth_plan plan;
    myth_engine_opts eo = p->eo;
    const myth_plan_extra extra = extra_of(p, batch, rows);
    eo.n_ubatch = rows;
    return myth_plan_make(&plan, p->model, &eo, &extra, limits, false, NULL) == MYTH_OK && plan.fits;
}

/* The largest number of rows, low <= rows <= high, that fits; low when not even that does. */
static uint32_t most_rows(const myth_residual_plan *p, const myth_mem_limits *limits, uint32_t low, uint32_t high)
{
    if (fits(p, limits, p->ro.batch, high))
        return high;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (fits(p, limits, p->ro.batch, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether a step can have the rows of the longest b prompts in a row. */
static bool batch_fits(const myth_residual_plan *p, const myth_mem_limits *limits, uint32_t b)
{
    return p->most[b] <= (p->eo.n_ubatch ? p->eo.n_ubatch : 65536) && fits(p, limits, b, (uint32_t)p->most[b]);
}

static myth_status refuse_batch(const myth_residual_plan *p, const myth_mem_limits *limits, uint64_t need,
                                myth_error *err)
{
    uint32_t low = 1, high = p->flags->batch;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (batch_fits(p, limits, middle))
            low = middle;
        else
            high = middle;
    }
    const uint32_t given = p->eo.n_ubatch, rows = given ? given : 65536;
    if (need > rows)
        return myth_fail_option(
            err, MYTH_EARG, "n_ubatch",
            "--batch %u: its longest %u prompts in a row have %llu tokens, and a step at most %u rows%s; "
            "give --batch %u, the largest that fits",
            p->flags->batch, p->flags->batch, (unsigned long long)need, rows, given ? " (-ub)" : "", low);
    return myth_fail(
        err, MYTH_ENOFIT,
        "--batch %u: its longest %u prompts in a row have %llu tokens, and a step of as many rows passes the "
        "memory limit, or what is left; give --batch %u, the largest that fits, or a higher --mem-limit",
        p->flags->batch, p->flags->batch, (unsigned long long)need, low);
}

/* The limits, and of the host's memory no more than is left of it: as the plan of the run has them. */
static myth_status limits_here(const myth_residual_plan *p, myth_mem_limits *out, myth_error *err)
{
    const uint64_t left = myth_cli_host_budget(p->cli);
    uint64_t *limit = &out->bytes[MYTH_MEM_HOST];
    const myth_status st = myth_cli_limits(p->cli, out, &p->eo, err);
    if (left != UINT64_MAX && (!*limit || *limit > left))
        *limit = left;
    return st;
}

/* Chooses the rows of a step. */
static myth_status choose_rows(myth_residual_plan *p, myth_error *err)
{
    myth_mem_limits limits;
    const uint32_t longest = p->survey.longest ? p->survey.longest : 1, given = p->eo.n_ubatch;
    const uint64_t n_good = p->n_good ? p->n_good : 1,
                   b = p->flags->batch && p->flags->batch < n_good ? p->flags->batch : n_good,
                   need = p->most ? (p->most[b] ? p->most[b] : 1) : 0;
    const myth_status st = limits_here(p, &limits, err);
    if (st != MYTH_OK)
        return st;
    p->eo.n_ctx = p->eo.n_ctx ? p->eo.n_ctx : longest;
    /* a refusal proposes no fewer rows than --batch or the longest prompt has: fewer leave prompts out */
    p->eo.fixed |= need || given <= longest ? MYTH_CHANGE_UBATCH : 0;
    if (need) {
        if (!batch_fits(p, &limits, (uint32_t)b) && b > 1 && batch_fits(p, &limits, 1))
            return refuse_batch(p, &limits, need, err);
        p->eo.n_ubatch = given ? given : (uint32_t)need;
        return MYTH_OK;
    }
    if (!given) {
        const uint64_t all = p->survey.n_token ? p->survey.n_token : 1;
        uint32_t rows = longest > DEFAULT_ROWS ? longest : DEFAULT_ROWS;
        rows = all < rows ? (uint32_t)all : rows;
        p->n_wanted = rows;
        p->eo.n_ubatch = most_rows(p, &limits, longest, rows);
    }
    return MYTH_OK;
}

myth_status myth_residual_plan_make(myth_residual_plan *p, myth_cli *cli, const myth_model *model,
                                    const myth_residual_ask *ask, const myth_engine_opts *eo, myth_error *err)
{
    static const char *const no_keys[] = {NULL};
    const myth_residual_flags *f = ask->flags;
    myth_status st = MYTH_OK;
    *p = (myth_residual_plan){
        .cli = cli,
        .model = model,
        .flags = f,
        .eo = *eo,
        .po = {.is_chat = ask->prompt->chat,
               .system = ask->prompt->system,
               .label_most = MYTH_LABEL_BYTES - 1,
               .keys = no_keys},
        .ro = {.hook = (myth_hook)f->hook,
               .winsorize = (double)f->winsorize,
               .batch = f->batch,
               .rows = f->rows,
               .adds_shares = cli->merges_shares},
    };
    MYTH_TRY(parse_layers(p, err));
    MYTH_TRY(parse_position(p, err));
    MYTH_TRY(parse_stats(p, err));
    MYTH_TRY(look(p, ask->prompts, ask->base, err));
    myth_residual_needs(&p->eo, &p->ro);
    MYTH_TRY(choose_rows(p, err));
    const myth_plan_extra extra = extra_of(p, p->ro.batch, p->eo.n_ubatch);
    st = myth_cli_plan(cli, model, &p->eo, &extra, err);
fail:
    return st;
}

void myth_residual_plan_close(myth_residual_plan *p)
{
    if (!p->cli)
        return;
    myth_prompts_close(p->prompts);
    myth_free(p->cli->mem, p->window);
}
