/* cmd_inspect_diff.c - inspects a change: the definitions that contain changed lines, with the code around them, their
 * callers and their tests. */
#include "select_run.h"

#include "frontend/inspect/report/outputs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    myth_inspect_flags inspect;
    myth_select_flags select;
    const char *patch;
    int filter;
    bool staged, all_lines, untracked, summary, generated;
} diff_opts;

static const myth_option options[] = {
    {"staged", "--cached", MYTH_OPT_FLAG, NULL, offsetof(diff_opts, staged), NULL, 0, 0,
     "inspect what is staged in git's index, compared with HEAD (or REV)"},
    {"diff", NULL, MYTH_OPT_TEXT, "FILE", offsetof(diff_opts, patch), NULL, 0, 0,
     "inspect this unified diff, whose new side must be in the directory; - reads standard input"},
    {"untracked", NULL, MYTH_OPT_FLAG, NULL, offsetof(diff_opts, untracked), NULL, 0, 0,
     "inspect files that git does not track as new ones; without it they are named and left out"},
    {"generated", NULL, MYTH_OPT_FLAG, NULL, offsetof(diff_opts, generated), NULL, 0, 0,
     "inspect generated files, lock files and minified ones, too; without it they are named and left out"},
    {"filter-mode", NULL, MYTH_OPT_CHOICE, MYTH_FILTERS, offsetof(diff_opts, filter), "changed", 0, 0,
     "which findings to keep: in changed lines and next to removed ones, and regressions wherever the code is that "
     "relied on the change; in changed lines only; in changed definitions and lines that the diff shows; in changed "
     "files; anywhere"},
    {"all-lines", NULL, MYTH_OPT_FLAG, NULL, offsetof(diff_opts, all_lines), NULL, 0, 0,
     "also report findings about lines that the change did not touch: the same as --filter-mode nofilter"},
    {"summary", NULL, MYTH_OPT_FLAG, NULL, offsetof(diff_opts, summary), NULL, 0, 0,
     "also say what the change does, in at most six sentences that cite its lines"},
};
static const myth_option_group groups[] = {
    MYTH_GROUPS_INSPECT(diff_opts, inspect),
    MYTH_GROUP_SELECT(diff_opts, select),
    MYTH_GROUP("diff", diff_opts, options),
};

enum { TASK_BYTES = 16 << 10, TASK_RANGES = 64, SAID_FILES = 8 };

typedef struct {
    myth_select_run run; /* first: see select_run.h */
    const diff_opts *o;
    myth_diff diff;
    myth_changes changes;
    uint32_t n_moved; /* lines that the change only moved */
    char title[160], task[TASK_BYTES], summary_task[TASK_BYTES];
    myth_summary_opts summary;
} diff_job;

/* Whether the paths of a patch begin at the top of the repository, as git writes them, though -C names a folder below
 * it: when its first file is there and not below the folder. */
static bool is_from_top(const diff_job *j)
{
    const myth_place *at = &j->run.place;
    for (uint32_t i = 0; i < j->diff.n_file; i++) {
        const myth_diff_file *f = &j->diff.file[i];
        char below[3 * PATH_MAX], top[3 * PATH_MAX];
        if (f->skipped || f->kind == MYTH_DIFF_DELETED)
            continue;
        snprintf(below, sizeof(below), "%s/%s%s", at->root, at->path, f->path);
        snprintf(top, sizeof(top), "%s/%s", at->root, f->path);
        return access(below, F_OK) != 0 && access(top, F_OK) == 0;
    }
    return false;
}

static myth_status read_diff(diff_job *j, myth_error *err)
{
    char *text = NULL;
    unsigned char *bytes = NULL;
    size_t n = 0;
    myth_status st;
    if (j->o->patch) {
        st = myth_cli_read(&bytes, &n, j->run.mem, j->o->patch, MYTH_DIFF_BYTES, err);
        text = (char *)bytes;
    } else {
        st = myth_revision_diff(j->run.side, &text, &n, err);
    }
    if (st == MYTH_OK)
        myth_runlog_input_bytes(j->run.log, "diff", text, n);
    if (st == MYTH_OK)
        st = myth_diff_parse(&j->diff, j->run.mem, text, n, err);
    if (st == MYTH_OK && j->o->patch && !is_from_top(j))
        st = myth_diff_put_below(&j->diff, j->run.place.path, err);
    if (st == MYTH_OK)
        st = myth_diff_mark_moved(&j->diff, &j->n_moved, err);
    myth_free(j->run.mem, text);
    return st;
}

/* Whether some output of the run has a place for a summary. */
static bool shows_summary(const myth_inspect_flags *f)
{
    for (int i = 0; i < MYTH_FORM_N; i++)
        if (myth_form_has_summary((myth_form)i) && (f->format == i || myth_outputs_have(&f->output, (myth_form)i)))
            return true;
    return false;
}

static myth_status begin(void *user, myth_cli *cli, myth_error *err)
{
    diff_job *j = user;
    const char *spec = cli->n_arg ? cli->arg[0] : NULL;
    struct stat info;
    myth_status st;
    if (spec && *spec && strcmp(spec, ".") != 0 && strcmp(spec, "..") != 0 && stat(spec, &info) == 0 &&
        S_ISDIR(info.st_mode) && strcmp(j->o->select.dir, ".") == 0)
        return myth_fail(err, MYTH_EARG, "%.100s is a directory, not a revision; the directory is given by -C %.100s",
                         spec, spec);
    if (j->o->all_lines && j->o->filter != MYTH_FILTER_CHANGED && j->o->filter != MYTH_FILTER_NONE)
        return myth_fail(err, MYTH_EARG, "--all-lines keeps every finding and --filter-mode only some; leave out one");
    if (j->o->patch && (spec || j->o->staged))
        return myth_fail(err, MYTH_EARG, "--diff reads the changes from a file; leave out %s",
                         spec ? "the revision" : "--staged");
    if (j->o->summary && !shows_summary(&j->o->inspect))
        return myth_fail(err, MYTH_EARG,
                         "--summary: %s has no place for one; choose another --format, or add --output text=FILE",
                         myth_form_name((myth_form)j->o->inspect.format));
    if (spec && !*spec)
        return myth_fail(err, MYTH_EARG, "an empty revision; expected a commit, A..B, or nothing for the working tree");
    MYTH_TRY(myth_select_run_open(
        &j->run, cli, &j->o->select,
        &(myth_revision_opts){
            .spec = spec, .is_staged = j->o->staged, .is_patch = j->o->patch != NULL, .is_untracked = j->o->untracked},
        err));
    if (j->o->untracked && (j->o->patch || !myth_revision_is_worktree(j->run.side)))
        MYTH_TRY(myth_fail(err, MYTH_EARG, "--untracked: only a change of the working tree has untracked files"));
    myth_select_set_generated(j->run.select, j->o->generated);
    MYTH_TRY(read_diff(j, err));
    if (j->o->patch)
        snprintf(j->title, sizeof(j->title), "diff of %.140s", j->o->patch);
    else
        snprintf(j->title, sizeof(j->title), "diff %s%s%.120s", j->o->staged ? "staged" : "",
                 j->o->staged && spec ? " beside " : "",
                 spec           ? spec
                 : j->o->staged ? ""
                                : "of the working tree");
fail:
    return st;
}

/* Writes the task, or that of the summary, with as many changed ranges as its tokens allow. */
static myth_status make_task(char task[TASK_BYTES], const diff_job *j, bool is_summary, const myth_model *model,
                             const myth_inspect_opts *io, myth_error *err)
{
    uint32_t most = io->task_tokens ? io->task_tokens : MYTH_INSPECT_TASK_TOKENS, n_tok = UINT32_MAX;
    for (uint32_t ranges = TASK_RANGES;; ranges /= 2) {
        size_t n = myth_changes_task(task, TASK_BYTES, &j->changes, is_summary, ranges);
        if (n < TASK_BYTES) {
            myth_status st = myth_inspect_count(&n_tok, model, task, n, err);
            if (st != MYTH_OK)
                return st;
        }
        if (n_tok <= most || ranges == 0)
            return MYTH_OK; /* if even the shortest task is too long, the pipeline refuses it with the numbers */
    }
}

/* Asks for the summary, if the model can write one. */
static myth_status ask_summary(diff_job *j, const myth_model *model, const myth_material *m, myth_inspect_opts *io,
                               myth_error *err)
{
    myth_status st;
    io->summary = &j->summary;
    if (!myth_prompt_is_full(io->style)) {
        j->summary.why_none = "this model writes no summary, it was trained to find defects in single definitions: -m "
                              "names one that does";
        return MYTH_OK;
    }
    MYTH_TRY(myth_changes_places(&j->changes, m, err));
    MYTH_TRY(make_task(j->summary_task, j, true, model, io, err));
    j->summary.place = j->changes.place;
    j->summary.n_place = j->changes.n_place;
    j->summary.task = j->summary_task;
fail:
    return st;
}

static void print_changes(const diff_job *j, const myth_cli *cli)
{
    const myth_changes *c = &j->changes;
    const char *names;
    uint32_t n_said = 0, n_untracked = myth_revision_untracked(j->run.side, &names);
    myth_error line = {0};
    myth_term_note(cli->term,
                   "%u of %u file%s shown, %u changed definition%s; %u line%s added, %u removed, %u file%s deleted",
                   c->n_shown, c->n_file, myth_s(c->n_file), c->n_definition, myth_s(c->n_definition), c->lines_added,
                   myth_s(c->lines_added), c->lines_removed + c->lines_deleted, c->n_deleted, myth_s(c->n_deleted));
    for (uint32_t i = 0; i < c->n_file; i++) {
        const myth_changed_file *f = &c->file[i];
        if (!f->skipped || (n_said++ >= SAID_FILES && !f->is_missed))
            continue;
        if (f->is_gone)
            myth_fail(&line, MYTH_OK,
                      "%.140s is deleted; its lines are shown as removed, with %u place%s that still use%s it", f->path,
                      f->n_gone_use, myth_s(f->n_gone_use), f->n_gone_use == 1 ? "s" : "");
        else
            myth_fail(&line, MYTH_OK, "not shown: %.140s: %s", f->path, f->skipped);
        myth_term_note(cli->term, "%s", line.msg);
    }
    if (j->n_moved)
        myth_term_note(cli->term, "%u line%s moved from another place of the change, not new", j->n_moved,
                       j->n_moved == 1 ? " was" : "s were");
    if (n_untracked) {
        myth_fail(&line, MYTH_OK, "%u untracked file%s not inspected (%.160s%s); --untracked inspects %s", n_untracked,
                  myth_s(n_untracked), names, n_untracked > 3 ? ", ..." : "", n_untracked == 1 ? "it" : "them");
        myth_term_note(cli->term, "%s", line.msg);
    }
    if (n_said > SAID_FILES)
        myth_term_note(cli->term, "%u file%s not shown", c->n_skipped, c->n_skipped == 1 ? " is" : "s are");
}

static myth_status fill(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err)
{
    diff_job *j = user;
    myth_select_counts counts;
    io->title = j->title;
    if (io->style == MYTH_PROMPT_FULL)
        io->style = MYTH_PROMPT_CHANGE;
    myth_select_run_rank(&j->run, &j->o->select, &j->o->inspect, model);
    myth_status st =
        myth_select_diff(&j->changes, j->run.select, m, &j->diff, myth_prompt_is_full(io->style), &counts, err);
    if (st != MYTH_OK)
        return st;
    if ((st = myth_select_run_end(&j->run, io, &counts, err)) != MYTH_OK)
        return st;
    print_changes(j, cli);
    /* else rules look at them */
    const bool is_asked = myth_judged_find(&j->o->inspect.judged, j->o->inspect.model.model) != MYTH_FIND_CANDIDATES;
    if (is_asked && !myth_prompt_is_full(io->style) && j->changes.lines_removed)
        myth_term_note(cli->term, "%u removed line%s not shown to this model, which was trained without any",
                       j->changes.lines_removed, j->changes.lines_removed == 1 ? " is" : "s are");
    if (myth_prompt_is_full(io->style) &&
        counts.n_subject) { /* a compact model knows only the task it was trained for */
        st = make_task(j->task, j, false, model, io, err);
        io->task = j->task;
        if (st == MYTH_OK)
            st = myth_select_run_map(&j->run, io, model, err);
    }
    return st == MYTH_OK && j->o->summary ? ask_summary(j, model, m, io, err) : st;
}

static bool wants(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c)
{
    const diff_job *j = user;
    const myth_filter filter = j->o->all_lines ? MYTH_FILTER_NONE : (myth_filter)j->o->filter;
    const bool is_of_change = f->is_brought || (f->rule >= MYTH_RULE_CODE_N && f->rule < MYTH_RULE_ANSWER_N);
    (void)c;
    return myth_changes_want(&j->changes, filter, is_of_change, src->path, f->first, f->last);
}

/* Whether all that the report lacks are build files and scripts of shells. No rules read them, and a change touches
 * them beside the program, whose every line was read; the report names them. */
static bool lacks_scripts(const myth_report *r)
{
    bool are_all = true;
    for (uint32_t i = 0; i < r->n_missed && are_all; i++) {
        const myth_source *src = NULL;
        for (uint32_t k = 0; k < r->n_file && !src; k++)
            src = strcmp(r->file[k].src->path, r->missed[i].path) == 0 ? r->file[k].src : NULL;
        const myth_language *l =
            myth_language_get(myth_detect_language(r->missed[i].path, src ? src->bytes : NULL, src ? src->len : 0));
        are_all = l->family == MYTH_FAMILY_SHELL || (l->family == MYTH_FAMILY_CONFIG && !l->is_data);
    }
    return are_all;
}

static int run_inspect_diff(myth_cli *cli, const void *opts)
{
    diff_job j = {.o = opts};
    j.run.can_lack_index = true;
    myth_select_run_place(&j.run, &j.o->select, !j.o->patch);
    const myth_revision_opts side = {
        .root = j.run.place.root,
        .spec = cli->n_arg ? cli->arg[0] : NULL,
        .is_staged = j.o->staged,
    };
    const myth_inspect_job job = {
        .root = j.run.place.root,
        .side = &side,
        .index = &j.run.known,
        .begin = begin,
        .fill = fill,
        .on_context = myth_select_run_context,
        .wants = wants,
        .may_lack = lacks_scripts,
        .is_change = true,
        .unwanted = "about lines that the change did not touch; --all-lines reports them",
        .user = &j,
    };
    int code = myth_inspect_command(cli, &j.o->inspect, &job);
    myth_changes_free(&j.changes);
    myth_diff_free(&j.diff);
    myth_select_run_close(&j.run);
    return code;
}

const myth_command myth_cmd_inspect_diff = {
    .name = "inspect-diff",
    .args = "[REV|A..B]",
    .help = "inspect a change: the working tree, the index, two commits, or a patch",
    .detail =
        "Without an argument, inspects the working tree compared with HEAD; with REV, compared with that commit; "
        "with A..B, commit B compared with A; with A...B, B compared with the common ancestor of both; with REV^!, "
        "that commit compared with its first parent, which for a merge is all that it brought (REV^-N: with parent "
        "N).\n"
        "Files that git does not track are named, and inspected with --untracked. So are, with --generated, files that "
        "a tool wrote, as their name or their head says: lock files, generated and minified code.\n"
        "The changed definitions are inspected; their callers and tests are context. Line numbers are those of "
        "the new side. Findings about lines that the change did not touch are counted and not reported, but for "
        "those of the rule regression: what the change removed or altered that other code relies on, cited where "
        "that code is. Rules (--find candidates) also look for what the change took away: the test of a value that is "
        "still used behind it, a bound, a release, a lock, a look at a result; the finding quotes the removed line. No "
        "code of the repository is executed.\n"
        "With --summary the report begins with what the change does, in at most six sentences; each cites lines of "
        "the new side with a quote of them, and other citations cannot be written. It is made from one prompt, "
        "with as much of the change as fits, and the report says how much that was. Whether a sentence is true is "
        "the model's opinion. The exit code is 1 when the model says that what it saw does not tell, 3 when the "
        "model, as the one that ships, writes no summary.\n"
        "A changed file that cannot be shown (unreadable, too large, zero bytes in code, or not the version of the "
        "diff) is listed in every output format, and the exit code is 3. The lines of a patch that are its new "
        "side must be in the file, and a file that it changes more than once, as a patch of several commits does, "
        "is of no one version: git diff A...B makes a patch that fits. A diff with nothing to inspect is exit "
        "0. Where rules find, code in languages without rules is listed, too; where that is build files and shell "
        "scripts alone, the exit code is that of a complete report.\n"
        "Where the index has no place, because no folder for caches can be made or written, the change is "
        "inspected without callers and tests as context, and a note says so. " MYTH_INSPECT_FINDS,
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(diff_opts),
    .max_arg = 1,
    .run = run_inspect_diff,
};
