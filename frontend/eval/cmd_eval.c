/* cmd_eval.c - the command `eval`: measures search and the inspector on questions with known answers. */
#include "eval.h"

#include "retrieval/retrieval.h"

#include <string.h>

static const myth_option options[] = {
    {"data", NULL, MYTH_OPT_TEXT, "DIR", offsetof(myth_eval_flags, data), "(shop: the shipped one)", 0, 0,
     "where the questions are; only those of shop are shipped"},
    {"repos", NULL, MYTH_OPT_TEXT, "DIR", offsetof(myth_eval_flags, repos), NULL, 0, 0,
     "swe-lite, c-commits: clones of the repositories, as DIR/OWNER+NAME or DIR/NAME"},
    {"top", "-k", MYTH_OPT_U32, "N", offsetof(myth_eval_flags, k), "(12 chunks, 20 files, 100 functions)", 1, 1000,
     "answers that are asked for"},
    {"part", NULL, MYTH_OPT_CHOICE, "all|retrieval|answers", offsetof(myth_eval_flags, part), "all", 0, 0,
     "shop: the questions, the planted defects (runs the inspector), or both"},
    {"against", NULL, MYTH_OPT_LIST, "WHAT", offsetof(myth_eval_flags, against), NULL, 0, 0,
     "compare with this, question by question: lexical, base (a plain full-text index over files), topic (what "
     "inspect-topic shows), or weights as name=value,...; several times"},
    {"embed", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_eval_flags, embed), NULL, 0, 0,
     "search by meaning too, with vectors of the embedder that is shipped; else by words alone"},
    {"embed-model", NULL, MYTH_OPT_TEXT, "M", offsetof(myth_eval_flags, embed_model), NULL, 0, 0,
     "the same with this EmbeddingGemma model"},
    {"weights", NULL, MYTH_OPT_TEXT, "LIST", offsetof(myth_eval_flags, weights), NULL, 0, 0,
     "name=value,... over the defaults, of every configuration"},
    {"every", NULL, MYTH_OPT_U32, "N", offsetof(myth_eval_flags, every), "1", 1, 1000000,
     "one question of so many, evenly"},
    {"gate", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_eval_flags, gate), NULL, 0, 0,
     "exit 1 when a measure is below its floor in this file"},
    {"model", "-m", MYTH_OPT_TEXT, "MODEL", offsetof(myth_eval_flags, model), "(the shipped model)", 0, 0,
     "the inspector's, and whose tokens are counted"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_eval_flags, json), NULL, 0, 0,
     "print {\"eval\",\"n\",\"k\",\"configurations\":[..],\"tasks\":[..],\"metrics\":{..}}"},
};
static const myth_option_group groups[] = {MYTH_GROUP("eval", myth_eval_flags, options),
                                           MYTH_GROUP_JUDGED(myth_eval_flags, judged)};

static myth_status measure(myth_eval *ev, myth_error *err)
{
    myth_status st = MYTH_OK;
    bool is_shop = ev->set == MYTH_EVAL_SHOP;
    if (is_shop && ev->flags->part != MYTH_EVAL_ANSWERS)
        MYTH_TRY(myth_eval_shop(ev, err));
    if (is_shop && ev->flags->part != MYTH_EVAL_RETRIEVAL)
        MYTH_TRY(myth_eval_inspect(ev, err));
    if (is_shop && ev->flags->part != MYTH_EVAL_RETRIEVAL && ev->changes.n_defect &&
        myth_eval_has_command("inspect-diff"))
        MYTH_TRY(myth_eval_regression(ev, err));
    if (ev->set == MYTH_EVAL_COSQA)
        MYTH_TRY(myth_eval_cosqa(ev, err));
    if (ev->set == MYTH_EVAL_SWE || ev->set == MYTH_EVAL_COMMITS)
        MYTH_TRY(myth_eval_repos(ev, err));
fail:
    myth_term_progress_end(ev->cli->term);
    return st;
}

static int run_eval(myth_cli *cli, const void *opts)
{
    const myth_eval_flags *o = opts;
    myth_eval_set set;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_gate gate = {0};
    if (!myth_eval_set_of(&set, cli->arg[0]))
        return myth_cli_failf(cli, MYTH_EARG, "eval: got \"%s\", expected shop, cosqa, swe-lite or c-commits",
                              cli->arg[0]);
    if (set == MYTH_EVAL_SHOP && o->repos)
        return myth_cli_failf(cli, MYTH_EARG, "eval: --repos is for swe-lite and c-commits; shop has its repository");
    if (set != MYTH_EVAL_SHOP && o->part != MYTH_EVAL_ALL)
        return myth_cli_failf(cli, MYTH_EARG, "eval: --part is for shop; %s has questions only", cli->arg[0]);
    myth_eval *ev = myth_alloc(cli->mem, MYTH_MEM_OTHER, "eval", sizeof(*ev));
    if (!ev)
        return myth_cli_failf(cli, MYTH_ENOMEM, "eval: no memory for %zu bytes", sizeof(*ev));
    if (o->weights)
        MYTH_TRY(myth_search_check(&(myth_search_opts){.weights = o->weights}, &err));
    for (int i = 0; i < o->against.n; i++)
        if (strchr(o->against.item[i], '='))
            MYTH_TRY(myth_search_check(&(myth_search_opts){.weights = o->against.item[i]}, &err));
    if (o->gate) { /* read now, so that a mistake in it shows before hours of work, not after */
        json_t *floors;
        MYTH_TRY(myth_eval_json(&floors, o->gate, &err));
        json_decref(floors);
    }
    MYTH_TRY(myth_eval_open(ev, cli, set, o, &err));
    MYTH_TRY(measure(ev, &err));
    if (o->gate)
        MYTH_TRY(myth_gate_read(&gate, ev, o->gate, &err));
    if (o->json)
        myth_eval_print_json(ev, &gate);
    else
        myth_eval_print_text(ev, &gate);
fail:
    myth_eval_close(ev);
    myth_free(cli->mem, ev);
    return st != MYTH_OK ? myth_cli_fail(cli, &err) : gate.n_below ? MYTH_EXIT_FINDINGS : MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_eval = {
    .name = "eval",
    .args = "NAME",
    .help = "measure search and the inspector on questions with known answers",
    .detail = "NAME is shop (a repository that is shipped with its questions and planted defects), cosqa, swe-lite or "
              "c-commits. Every measure has its "
              "95 % bootstrap interval; a comparison is paired. Exits with 1 when --gate is given and something is "
              "below its floor.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(myth_eval_flags),
    .min_arg = 1,
    .max_arg = 1,
    .run = run_eval,
};
