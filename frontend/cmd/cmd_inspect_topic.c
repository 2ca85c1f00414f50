/* cmd_inspect_topic.c - inspect-topic and ask: answers a question from the chunks of code that it is about, or reports
 * the findings in them. */
#include "frontend/cli/json_out.h"
#include "frontend/common/embedding.h"
#include "select_run.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    myth_inspect_flags inspect;
    myth_select_flags select;
    const char *embed_model;
    uint32_t chunks;
    bool lexical, findings;
} topic_opts;

static const myth_option options[] = {
    {"chunks", NULL, MYTH_OPT_U32, "N", offsetof(topic_opts, chunks), "12", MYTH_TOPIC_MIN, MYTH_TOPIC_MAX,
     "most chunks to inspect; chunks with much weaker evidence than the best are left out, so there can be fewer"},
    {"lexical", NULL, MYTH_OPT_FLAG, NULL, offsetof(topic_opts, lexical), NULL, 0, 0,
     "search by words only, without vectors"},
    {"findings", NULL, MYTH_OPT_FLAG, NULL, offsetof(topic_opts, findings), NULL, 0, 0,
     "report the defects in these chunks in place of an answer"},
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

static void places_text(const myth_material *m)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (!p->is_subject)
            continue;
        myth_term_path(stdout, myth_material_of(m, p->source)->path);
        printf(":%u-%u", p->first, p->last);
        if (p->symbol && p->symbol[0]) {
            fputs("  ", stdout);
            myth_term_safe(stdout, p->symbol, strlen(p->symbol));
        }
        fputc('\n', stdout);
    }
}

static void places_json(const myth_material *m)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_bool(&j, "complete", false);
    myth_jout_key_bool(&j, "answered", false);
    myth_jout_key(&j, "places");
    myth_jout_array(&j);
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (!p->is_subject)
            continue;
        myth_jout_object(&j);
        myth_jout_key_str(&j, "file", myth_material_of(m, p->source)->path);
        myth_jout_key_lines(&j, p->first, p->last);
        myth_jout_key_str(&j, "symbol", p->symbol ? p->symbol : "");
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_jout_end(&j);
}

/* Prints the places that were found, for a model that cannot say what is in them: less than was asked for. */
static myth_status refuse(const topic_job *j, const myth_model *model, const myth_material *m, myth_error *err)
{
    if (j->o->inspect.format == MYTH_FORM_JSON)
        places_json(m);
    else if (j->o->inspect.format == MYTH_FORM_TEXT)
        places_text(m);
    return myth_fail(
        err, MYTH_ELIMIT,
        "%s answers no questions, it was trained to find defects in single definitions; text and json show "
        "the places that the question is about. -m names a model that answers, --findings reports defects "
        "in them",
        myth_weights_name(model->weights));
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
    if (!j->o->findings && io->style == MYTH_PROMPT_COMPACT)
        return refuse(j, model, m, err);
    if (!j->o->findings) {
        io->style = MYTH_PROMPT_QUESTION;
        snprintf(j->task, sizeof(j->task), "Question: %s", cli->arg[0]);
        io->task = j->task;
    } else if (io->style == MYTH_PROMPT_FULL) { /* a compact model knows only the task it was trained for */
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

/* The first flag that is about findings and stands on the command line, of those that a user may have set for all runs;
 * NULL = none. */
static const char *flag_of_judging(const myth_inspect_flags *f, const myth_parsed *parsed)
{
    const struct {
        const char *flag;
        bool is_chosen;
    } row[] = {
        {"--find", f->judged.find == MYTH_FIND_CANDIDATES || f->judged.find == MYTH_FIND_BOTH},
        {"--judge-model", true},
        {"--confidence", true},
        {"--explain", !f->judged.explain},
        {"--fail-level", f->fail_level != MYTH_SEVERITY_HIGH},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (row[i].is_chosen && myth_args_find(parsed, row[i].flag + 2)->source == MYTH_FROM_FLAG)
            return row[i].flag;
    return NULL;
}

/* The first flag that is about findings, where an answer is asked for; NULL = none. */
static const char *flag_of_findings(const topic_opts *o, const myth_parsed *parsed)
{
    const myth_inspect_flags *f = &o->inspect;
    for (int i = 0; i < MYTH_FORM_N; i++)
        if (i != MYTH_FORM_TEXT && i != MYTH_FORM_JSON && i != MYTH_FORM_HTML &&
            (f->format == i || myth_outputs_have(&f->output, (myth_form)i)))
            return myth_form_name((myth_form)i);
    return f->two_pass                           ? "--two-pass"
         : f->patch                              ? "--patch"
         : f->baseline                           ? "--baseline"
         : f->since                              ? "--since"
         : f->rules                              ? "--rules"
         : f->skip_rules                         ? "--skip-rules"
         : f->min_severity != MYTH_SEVERITY_INFO ? "--min-severity"
                                                 : flag_of_judging(f, parsed);
}

static int run_inspect_topic(myth_cli *cli, const void *opts)
{
    topic_job j = {.o = opts};
    const char *of_findings = j.o->findings ? NULL : flag_of_findings(j.o, cli->parsed);
    if (of_findings)
        return myth_cli_failf(cli, MYTH_EARG,
                              "%s is about findings; add --findings, or leave it out: an answer has the "
                              "formats text, json and html",
                              of_findings);
    if (!cli->arg[0][strspn(cli->arg[0], " \t\n")])
        return myth_cli_failf(cli, MYTH_EARG,
                              "%s: QUESTION is empty; ask in words: mythos %s \"where is input checked\"",
                              cli->command->name, cli->command->name);
    if (j.o->lexical && j.o->embed_model)
        return myth_cli_failf(cli, MYTH_EARG, "%s: --lexical and --embed-model exclude each other; leave one out",
                              cli->command->name);
    myth_select_run_place(&j.run, &j.o->select, false);
    const myth_revision_opts side = {.root = j.run.place.root};
    const myth_inspect_job job = {
        .root = j.run.place.root,
        .side = &side,
        .index = &j.run.known,
        .begin = begin,
        .fill = fill,
        .on_context = myth_select_run_context,
        .is_question = !j.o->findings,
        .user = &j,
    };
    const int code = myth_inspect_command(cli, &j.o->inspect, &job);
    myth_semantic_close(&j.semantic, cli);
    myth_select_run_close(&j.run);
    return code;
}

#define DETAIL                                                                                                         \
    "Searches as `mythos search QUESTION` does and shows the model the chunks up to the place where the evidence "     \
    "becomes clearly weaker; when a chunk is one part of a definition, the rest of it is added. The model answers in " \
    "at most six sentences for each prompt. Each cites lines that it was shown, with a quote of them; other "          \
    "citations cannot be "                                                                                             \
    "written. Or it says that what it was shown does not answer, and what would. Whether a sentence is true is the "   \
    "model's opinion. The model that ships answers no questions: it gets the places only, and the exit code is 3. "    \
    "With --findings the defects in these chunks are reported in place of an answer. " MYTH_INSPECT_FINDS              \
    " The exit code is 1 when the "                                                                                    \
    "question is not answered, 66 when nothing is found."

#define TOPIC_COMMAND(called, about)                                                                                 \
    {                                                                                                                \
        .name = called, .args = "QUESTION", .help = about, .detail = DETAIL, .group = groups,                        \
        .n_group = sizeof(groups) / sizeof(groups[0]), .opts_bytes = sizeof(topic_opts), .min_arg = 1, .max_arg = 1, \
        .run = run_inspect_topic,                                                                                    \
    }

const myth_command myth_cmd_inspect_topic = TOPIC_COMMAND(
    "inspect-topic", "answer a question about a directory, with citations (as ask), or inspect the code it is about");
const myth_command myth_cmd_ask =
    TOPIC_COMMAND("ask", "answer a question about a directory in sentences that cite its lines");
