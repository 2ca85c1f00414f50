/* cmd_inspect_symbol.c - inspects the definitions of a name, with callers, callees, tests and re-exports as context. */
#include "select_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    myth_inspect_flags inspect;
    myth_select_flags select;
} symbol_opts;

static const myth_option_group groups[] = {MYTH_GROUPS_INSPECT(symbol_opts, inspect),
                                           MYTH_GROUP_SELECT(symbol_opts, select)};

typedef struct {
    myth_select_run run; /* first: see select_run.h */
    const symbol_opts *o;
    char title[160], task[512];
} symbol_job;

static myth_status begin(void *user, myth_cli *cli, myth_error *err)
{
    symbol_job *j = user;
    return myth_select_run_open(&j->run, cli, &j->o->select, &(myth_revision_opts){.is_patch = true}, err);
}

static myth_status fill(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err)
{
    symbol_job *j = user;
    myth_select_counts counts;
    char called[MYTH_SELECT_CALLED];
    myth_select_run_rank(&j->run, &j->o->select, &j->o->inspect, model);
    myth_status st = myth_select_symbol(j->run.select, m, cli->arg[0], called, &counts, err);
    if ((st == MYTH_OK || st == MYTH_ENOTFOUND) && j->run.index) {
        myth_error ignored; /* err says what became of the name */
        (void)myth_cli_note_unparsed(NULL, cli, j->run.index, &ignored);
    }
    if (st != MYTH_OK)
        return st;
    snprintf(j->title, sizeof(j->title), "symbol %.140s", cli->arg[0]);
    io->title = j->title;
    if (io->style == MYTH_PROMPT_FULL) { /* a compact model knows only the task it was trained for */
        snprintf(j->task, sizeof(j->task),
                 "Inspect the definition of %.140s. Its callers, what it calls, and its tests are context: report what "
                 "is wrong in the definition, and "
                 "where its users rely on what it does not do.",
                 called);
        io->task = j->task;
    }
    if ((st = myth_select_run_end(&j->run, io, &counts, err)) != MYTH_OK)
        return st;
    io->is_context_asked = true;
    return myth_select_run_map(&j->run, io, model, err);
}

static int run_inspect_symbol(myth_cli *cli, const void *opts)
{
    symbol_job j = {.o = opts};
    if (!cli->arg[0][0])
        return myth_cli_failf(cli, MYTH_EARG,
                              "inspect-symbol: NAME is empty; the command is mythos inspect-symbol NAME");
    if (strchr(cli->arg[0], '/') && !strstr(cli->arg[0], "::") && access(cli->arg[0], F_OK) == 0)
        return myth_cli_failf(cli, MYTH_EARG, "inspect-symbol: %.80s is a file, not a name; mythos inspect-file %.80s",
                              cli->arg[0], cli->arg[0]);
    myth_select_run_place(&j.run, &j.o->select, false);
    const myth_revision_opts side = {.root = j.run.place.root};
    const myth_inspect_job job = {
        .root = j.run.place.root,
        .side = &side,
        .index = &j.run.known,
        .begin = begin,
        .fill = fill,
        .on_context = myth_select_run_context,
        .user = &j,
    };
    int code = myth_inspect_command(cli, &j.o->inspect, &job);
    myth_select_run_close(&j.run);
    return code;
}

const myth_command myth_cmd_inspect_symbol = {
    .name = "inspect-symbol",
    .args = "NAME",
    .help = "inspect a definition together with its callers, callees and tests",
    .detail =
        "NAME is a name as it is defined, or qualified: Type.method, path/file.py::Type.method. The context is what "
        "`mythos symbols` "
        "lists, the most certain first, as far as it fits into the prompt; what does not fit is listed, and the "
        "run is incomplete (exit 3). For an unknown name the most similar names are printed (exit "
        "66). " MYTH_INSPECT_FINDS,
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(symbol_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run_inspect_symbol,
};
