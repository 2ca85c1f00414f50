/* cmd_inspect_topic.c - inspects the chunks of code that answer a question. */
#include "frontend/common/embedding.h"
#include "select_run.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    myth_inspect_flags inspect;
    myth_select_flags select;
    const char *embed_model;
    uint32_t chunks;
    bool lexical;
} topic_opts;

static const myth_option options[] = {
    {"chunks", NULL, MYTH_OPT_U32, "N", offsetof(topic_opts, chunks), "12", MYTH_TOPIC_MIN, MYTH_TOPIC_MAX,
     "most chunks to inspect; chunks with much weaker evidence than the best are left out, so there can be fewer"},
    {"lexical", NULL, MYTH_OPT_FLAG, NULL, offsetof(topic_opts, lexical), NULL, 0, 0,
     "search by words only, without vectors"},
    {"embed-model", NULL, MYTH_OPT_TEXT, "MODEL", offsetof(topic_opts, embed_model), "(the index's)", 0, 0,
     "the model that made the index's vectors"},
};
static const myth_option_group groups[] = {
    MYTH_GROUPS_INSPECT(topic_opts, inspect),
    MYTH_GROUP_SELECT(topic_opts, select),
    MYTH_GROUP("topic", topic_opts, options),
};

enum { QUESTION_BYTES = 8 << 10 };

typedef struct {
    myth_select_run run; /* first: see select_run.h */
    const topic_opts *o;
    myth_search_opts search;
    myth_semantic semantic;
    char title[160], task[QUESTION_BYTES + 160];
} topic_job;

static myth_status begin(void *user, myth_cli *cli, myth_error *err)
{
    topic_job *j = user;
    size_t n = strlen(cli->arg[0]);
    if (n > QUESTION_BYTES)
        return myth_fail(err, MYTH_EARG, "a question of %zu bytes, expected at most %d", n, (int)QUESTION_BYTES);
    myth_status st = myth_select_run_open(&j->run, cli, &j->o->select, &(myth_revision_opts){.is_patch = true}, err);
    if (st != MYTH_OK)
        return st;
    /* the embedding model is closed before the inspecting model is opened and planned */
    j->search.query = cli->arg[0];
    if (j->o->lexical)
        snprintf(j->semantic.off, sizeof(j->semantic.off), "--lexical was given");
    else
        st = myth_semantic_open(&j->semantic, cli, j->run.index, j->o->embed_model, &j->search, err);
    if (st == MYTH_OK && j->semantic.off[0] && j->o->embed_model && !j->o->lexical)
        st = myth_fail(err, MYTH_ENOTFOUND, "semantic: off, because %.200s", j->semantic.off);
    return st;
}

static myth_status fill(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err)
{
    topic_job *j = user;
    myth_select_counts counts;
    char off[sizeof(j->semantic.off)];
    myth_select_run_rank(&j->run, &j->o->select, &j->o->inspect, model);
    myth_status st = myth_select_topic(j->run.select, m, cli->arg[0], j->o->chunks, &j->search, &counts, err);
    if (st == MYTH_ENOTFOUND)
        myth_fail(err, st, "%.200s; ask with words that the code uses", err->msg);
    snprintf(off, sizeof(off), "%s", j->semantic.off);
    myth_semantic_close(&j->semantic, cli); /* frees its memory before the run is planned */
    if (st != MYTH_OK)
        return st;
    snprintf(j->title, sizeof(j->title), "topic %.140s", cli->arg[0]);
    io->title = j->title;
    if (io->style == MYTH_PROMPT_FULL) { /* a compact model knows only the task it was trained for */
        snprintf(j->task, sizeof(j->task),
                 "Inspect the code below with regard to this question, and report the findings that answer it: %s",
                 cli->arg[0]);
        io->task = j->task;
    }
    if ((st = myth_select_run_end(&j->run, io, &counts, err)) != MYTH_OK)
        return st;
    if (off[0])
        myth_term_note(cli->term, "semantic: off, because %s; the search is by words and names", off);
    return myth_select_run_map(&j->run, io, model, err);
}

static int run_inspect_topic(myth_cli *cli, const void *opts)
{
    topic_job j = {.o = opts};
    if (!cli->arg[0][strspn(cli->arg[0], " \t\n")])
        return myth_cli_failf(cli, MYTH_EARG,
                              "inspect-topic: QUESTION is empty; ask in words: mythos inspect-topic "
                              "\"where is input checked\"");
    if (j.o->lexical && j.o->embed_model)
        return myth_cli_failf(cli, MYTH_EARG,
                              "inspect-topic: --lexical and --embed-model exclude each other; leave one out");
    myth_select_run_place(&j.run, &j.o->select, false);
    const myth_revision_opts side = {.root = j.run.place.root};
    const myth_inspect_job job = {
        .root = j.run.place.root,
        .side = &side,
        .begin = begin,
        .fill = fill,
        .on_context = myth_select_run_context,
        .user = &j,
    };
    int code = myth_inspect_command(cli, &j.o->inspect, &job);
    myth_semantic_close(&j.semantic, cli);
    myth_select_run_close(&j.run);
    return code;
}

const myth_command myth_cmd_inspect_topic = {
    .name = "inspect-topic",
    .args = "QUESTION",
    .help = "inspect the places that a question is about",
    .detail = "Inspects the chunks that `mythos search QUESTION` finds, up to the place where the evidence becomes "
              "clearly weaker. When a chunk is one part of a definition, the rest of the definition is added. A "
              "question that one small file answers shows few chunks. When nothing is found, the exit code is 66.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(topic_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run_inspect_topic,
};
