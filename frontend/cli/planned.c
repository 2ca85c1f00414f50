/* planned.c - the plan of a run: the limits that it has, what the machine has left, a division of the layers by them,
 * and the refusal of what does not fit. */
#include "cli.h"
#include "live.h"
#include "plan_out.h"
#include "engine/run/devices.h"
#include "engine/run/host_memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool myth_cli_read_limit(char text[MYTH_LIMIT_TEXT], const char *path)
{
    static const char blanks[] = " \t\r\n";
    FILE *f = fopen(path, "re");
    text[0] = '\0';
    while (f && !text[0] && fgets(text, MYTH_LIMIT_TEXT, f)) {
        size_t n = strcspn(text, "#");
        while (n > 0 && strchr(blanks, text[n - 1]))
            n--;
        text[n] = '\0';
        n = strspn(text, blanks);
        memmove(text, text + n, strlen(text + n) + 1);
    }
    if (f)
        fclose(f);
    return text[0];
}

myth_status myth_cli_limit_text(const char **out, char room[MYTH_LIMIT_TEXT], const char *flag, myth_error *err)
{
    *out = flag;
    if (!flag || flag[0] != '@')
        return MYTH_OK;
    *out = room;
    if (access(flag + 1, R_OK) != 0)
        return myth_fail(err, MYTH_ENOTFOUND, "--mem-limit %.200s: %s", flag, strerror(errno));
    return myth_cli_read_limit(room, flag + 1)
             ? MYTH_OK
             : myth_fail(err, MYTH_EARG, "--mem-limit %.200s: the file has no limit", flag);
}

myth_status myth_cli_limits(const myth_cli *cli, myth_mem_limits *out, const myth_engine_opts *opts, myth_error *err)
{
    myth_status st = myth_devices_limits(out, cli->mem, opts->device, err);
    if (cli->is_elsewhere)
        out->host_and = 0;
    out->bytes[MYTH_MEM_HOST] = cli->limits.bytes[MYTH_MEM_HOST]; /* without a plan, plan and info run unlimited */
    return st;
}

void myth_cli_mem_mode(const myth_cli *cli)
{
    if (cli->global->mem_mode == 1)
        myth_mem_reserve(cli->mem, myth_host_left);
}

uint64_t myth_cli_host_budget(const myth_cli *cli)
{
    const uint64_t mapped = myth_mem_get(cli->mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS_MAPPED).live,
                   left = cli->is_elsewhere ? UINT64_MAX : myth_host_left_without(cli->reads_later ? mapped : 0),
                   live = myth_mem_total(cli->mem, MYTH_MEM_HOST).live;
    return left > UINT64_MAX - live ? UINT64_MAX : live + left;
}

void myth_cli_divide(const myth_cli *cli, myth_engine_opts *opts, const myth_model *m, const myth_plan_extra *extra,
                     const myth_mem_limits *limits)
{
    myth_plan p;
    bool is_given = false;
    for (int i = 0; i < MYTH_SPLIT_MAX; i++)
        is_given |= opts->split[i] > 0.0f;
    if (is_given || !opts->device || !strchr(opts->device, ',') ||
        myth_plan_make(&p, m, opts, extra, limits, false, NULL) != MYTH_OK || p.fits)
        return;
    for (uint32_t i = 0; i < p.n_suggestion; i++)
        if (p.suggestion[i].changes == MYTH_CHANGE_SPLIT) {
            char text[MYTH_SUGGESTION_TEXT];
            myth_suggestion_apply(&p.suggestion[i], opts, NULL);
            myth_suggestion_print(text, sizeof(text), &p.suggestion[i]);
            myth_term_note(cli->term, "the layers are divided by what each device may have: %s", text);
            return;
        }
}

/* Takes out the suggestions of a limit that the machine cannot keep. */
static void drop_beyond(myth_plan *p, uint64_t budget)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_suggestion; i++)
        if (!(p->suggestion[i].changes & MYTH_CHANGE_LIMIT) || p->suggestion[i].limit_bytes <= budget)
            p->suggestion[n++] = p->suggestion[i];
    p->n_suggestion = n;
}

myth_status myth_cli_plan_here(myth_cli *cli, myth_plan *out, const myth_model *m, myth_engine_opts *opts,
                               const myth_plan_extra *extra, myth_error *err)
{
    myth_mem_limits limits;
    uint64_t *limit = &limits.bytes[MYTH_MEM_HOST];
    cli->limit_is_left = false;
    myth_status st = myth_cli_limits(cli, &limits, opts, err);
    const uint64_t budget = myth_cli_host_budget(cli); /* behind the limits: a driver that is asked takes memory */
    if (st == MYTH_OK)
        myth_cli_divide(cli, opts, m, extra, &limits);
    if (st == MYTH_OK)
        st = myth_plan_make(out, m, opts, extra, &limits, true, err);
    if (st == MYTH_OK && out->device[0].total_bytes > budget && (!*limit || *limit > budget)) {
        *limit = budget;
        cli->limit_is_left = true;
        st = myth_plan_make(out, m, opts, extra, &limits, true, err);
    }
    if (st == MYTH_OK)
        drop_beyond(out, budget);
    return st;
}

/* The commands that `mythos plan` plans, with bars between them: the words of its --for. */
static const char *planned_commands(void)
{
    for (int i = 0; myth_commands[i]; i++)
        for (size_t k = 0; strcmp(myth_commands[i]->name, "plan") == 0 && k < myth_commands[i]->group[0].n_opt; k++)
            if (strcmp(myth_commands[i]->group[0].opt[k].name, "for") == 0)
                return myth_commands[i]->group[0].opt[k].value;
    return "";
}

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == n && memcmp(at, word, n) == 0)
            return true;
    return false;
}

myth_status myth_cli_refuse(const myth_cli *cli, const myth_plan *plan, myth_error *err)
{
    char line[sizeof(err->msg)], more[64] = "";
    const char *whose = cli->limit_is_left ? "; " MYTH_LIMIT_IS_LEFT : "";
    if (has_word(planned_commands(), cli->command->name))
        snprintf(more, sizeof(more), "; mythos plan --for %s lists more", cli->command->name);
    myth_plan_refusal_print(line, sizeof(line) - strlen(whose), plan, more);
    return myth_fail(err, MYTH_ENOFIT, "%s%s", line, whose);
}

/* For reports, which do without where the plan is not to be divided. */
static void divide_by_layer(myth_cli *cli, const myth_model *m, const myth_engine_opts *opts)
{
    myth_engine_opts o = *opts;
    o.n_ctx = cli->plan.n_ctx;
    o.n_ubatch = cli->plan.n_ubatch;
    o.page_tok = cli->plan.page_tok;
    if (myth_plan_layers(&cli->layers, m, &o, NULL) != MYTH_OK)
        cli->layers.n_layer = 0;
}

myth_status myth_cli_plan(myth_cli *cli, const myth_model *m, myth_engine_opts *opts, const myth_plan_extra *extra,
                          myth_error *err)
{
    myth_plan_extra own = extra ? *extra : (myth_plan_extra){0};
    if (own.bytes[MYTH_MEM_STAGING] == 0)
        own.bytes[MYTH_MEM_STAGING] = myth_cli_staging(cli);
    const myth_status st = myth_cli_plan_here(cli, &cli->plan, m, opts, &own, err);
    if (st != MYTH_OK)
        return st;
    cli->has_plan = true;
    divide_by_layer(cli, m, opts);
    myth_live_planned(cli->live, &cli->plan);
    if (!cli->plan.fits) {
        myth_error why;
        myth_cli_refuse(cli, &cli->plan, &why);
        myth_live_refused(cli->live, why.msg);
        if (err)
            *err = why;
        return why.code;
    }
    if (!opts->n_ctx && cli->plan.n_ctx < MYTH_USUAL_CTX && cli->plan.n_ctx < m->config.n_ctx_train)
        myth_term_note(cli->term, "a context of %u tokens, the most that the memory limit allows", cli->plan.n_ctx);
    opts->n_ctx = cli->plan.n_ctx;
    opts->n_ubatch = cli->plan.n_ubatch;
    opts->page_tok = cli->plan.page_tok;
    opts->type_k = cli->plan.type_k;
    opts->type_v = cli->plan.type_v;
    opts->has_cache_type = true;
    return MYTH_OK;
}
