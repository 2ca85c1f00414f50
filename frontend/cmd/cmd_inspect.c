/* cmd_inspect.c - inspects many files in one run: those that paths, directories and patterns name. Each file is cut
 * into the parts and prompts that inspect-file makes of it, and all findings are in one report. */
#include "engine/base/program.h"
#include "frontend/candidates/inspect_base.h"
#include "frontend/inspect/prompt/nearby.h"
#include "frontend/inspect/report/edition.h"
#include "frontend/inspect/select/files.h"
#include "inspect_run.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    myth_opt_list include, exclude;
    const char *stdin_name;
    bool allow_empty;
    myth_inspect_flags inspect;
} many_opts;

static const myth_option file_options[] = {
    {"include", NULL, MYTH_OPT_LIST, "GLOB", offsetof(many_opts, include), NULL, 0, 0,
     "of directories, inspect only files that match GLOB (*.{c,h}), also when they are no code; may be given several "
     "times"},
    {"exclude", NULL, MYTH_OPT_LIST, "GLOB", offsetof(many_opts, exclude), NULL, 0, 0,
     "leave out files of directories that match GLOB; may be given several times"},
    {"allow-empty", NULL, MYTH_OPT_FLAG, NULL, offsetof(many_opts, allow_empty), NULL, 0, 0,
     "a directory without a file gives an empty report, exit 0; it is an error otherwise, exit 66"},
    MYTH_OPTION_STDIN(many_opts, stdin_name),
};

static const myth_option_group groups[] = {MYTH_GROUPS_INSPECT(many_opts, inspect),
                                           MYTH_GROUP("files", many_opts, file_options)};

/* near: answers requests of the model around the file that it was asked about last. */
typedef struct {
    const many_opts *o;
    myth_files files;
    myth_nearby *near;
    char near_path[PATH_MAX], worker[PATH_MAX], title[64];
    bool has_worker;
    myth_revision_opts side;
    myth_looks looks;
    myth_inspect_job job;
} many;

static myth_status read_file(myth_cli *cli, const myth_file *f, unsigned char **bytes, size_t *len, myth_error *err)
{
    myth_status st = myth_cli_read(bytes, len, cli->mem, f->open, MYTH_SOURCE_MAX, err);
    if (st != MYTH_OK || !myth_detect_pointer(*bytes, *len))
        return st;
    myth_free(cli->mem, *bytes);
    *bytes = NULL;
    return myth_fail(err, MYTH_ENOTFOUND, "%.160s: " MYTH_DETECT_POINTER, f->name);
}

/* A damaged repository changes nothing about the files that are there, but nobody knows whether they are all. It is
 * said each time, also by a run that repeats another. */
static void note_damage(const many *m, myth_cli *cli)
{
    char say[MYTH_DAMAGE_BYTES];
    if (m->files.root[0] && myth_git_damage(say, cli->mem, m->files.root))
        myth_term_note(cli->term,
                       "the repository is damaged: %s; which files belong to it, and which it ignores, may be unknown",
                       say);
}

static myth_status begin(void *user, myth_cli *cli, myth_error *err)
{
    many *m = user;
    const myth_files_opts opts = {
        .path = (const char *const *)cli->arg,
        .n_path = (uint32_t)cli->n_arg,
        .include = m->o->include.item,
        .n_include = (uint32_t)m->o->include.n,
        .exclude = m->o->exclude.item,
        .n_exclude = (uint32_t)m->o->exclude.n,
        .stdin_name = m->o->stdin_name,
        .allow_empty = m->o->allow_empty,
        .cancel = cli->cancel,
    };
    myth_status st = myth_files_find(&m->files, cli->mem, &opts, err);
    /* A file that was named and cannot be read ends the run before the model is opened. */
    for (uint32_t i = 0; i < m->files.n && st == MYTH_OK; i++) {
        unsigned char *bytes = NULL;
        size_t len;
        if (!m->files.file[i].is_named || !strcmp(m->files.file[i].open, "-"))
            continue;
        st = read_file(cli, &m->files.file[i], &bytes, &len, err);
        myth_free(cli->mem, bytes);
    }
    if (m->files.root[0])
        m->job.root = m->side.root = m->files.root;
    m->has_worker = myth_program_start(m->worker, sizeof(m->worker));
    if (st == MYTH_OK)
        note_damage(m, cli);
    return st;
}

static myth_status add_input(myth_cli *cli, const myth_file *f, myth_kept *key, int64_t *newest_ns, myth_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    myth_kept_add(key, f->name, strlen(f->name));
    myth_kept_add(key, &f->is_test, sizeof(f->is_test));
    if (newest_ns)
        return myth_base_stat(key, f->open, newest_ns, err);
    myth_status st = read_file(cli, f, &bytes, &n, err);
    if (st == MYTH_OK)
        myth_kept_add(key, bytes, n);
    myth_free(cli->mem, bytes);
    return st;
}

/* The names and bytes of all files, in order. */
static myth_status inputs(void *user, myth_cli *cli, myth_kept *key, int64_t *newest_ns, myth_error *err)
{
    many *m = user;
    const uint32_t count[] = {m->files.n, m->files.missed.n};
    myth_kept_add(key, count, sizeof(count));
    myth_kept_add(key, &m->files.left_out, sizeof(m->files.left_out));
    char source[MYTH_EDITION_SOURCE];
    myth_edition_source(source, (myth_form)m->o->inspect.format, &m->o->inspect.output, m->side.root ? &m->side : NULL);
    myth_kept_add(key, source, strlen(source));
    for (uint32_t i = 0; i < m->files.n; i++) {
        const myth_file *f = &m->files.file[i];
        if (!strcmp(f->open, "-"))
            return myth_fail(err, MYTH_EARG, "standard input is read once");
        myth_status st = add_input(cli, f, key, newest_ns, err);
        if (st != MYTH_OK)
            return st;
    }
    for (uint32_t i = 0; i < m->files.missed.n; i++) {
        myth_kept_add(key, m->files.missed.row[i].path, strlen(m->files.missed.row[i].path));
        myth_kept_add(key, m->files.missed.row[i].why, strlen(m->files.missed.row[i].why));
    }
    return MYTH_OK;
}

static void on_look(void *user, const char *path, bool is_folder)
{
    many *m = user;
    myth_looks_add(&m->looks, path, is_folder);
}

static uint32_t on_context(void *user, const char *request, myth_material *mat, uint32_t of, char *near,
                           size_t near_cap)
{
    many *m = user;
    myth_error err = {0};
    const char *path = myth_material_of(mat, myth_material_piece(mat, of)->source)->path;
    if (!m->near || strcmp(m->near_path, path) != 0) {
        myth_nearby_close(m->near);
        m->near = NULL;
        if (myth_nearby_open(&m->near, m->files.root, path, m->has_worker ? m->worker : NULL, &err) != MYTH_OK)
            return 0;
        myth_nearby_watch(m->near, on_look, m);
        snprintf(m->near_path, sizeof(m->near_path), "%s", path);
    }
    return myth_nearby_context(m->near, request, mat, of, near, near_cap);
}

/* Adds a file as a subject. What a directory holds and cannot be inspected is missed; what was named is an error. */
static myth_status add_file(many *m, myth_cli *cli, const myth_file *f, myth_material *mat, myth_error *err)
{
    unsigned char *bytes = NULL;
    size_t len = 0;
    uint32_t source;
    myth_error own = {0};
    myth_status st;
    MYTH_TRY(read_file(cli, f, &bytes, &len, &own));
    MYTH_TRY(myth_material_put(mat, &source, f->name, bytes, len, &own));
    if (f->is_test)
        myth_material_is_test(mat, source);
    MYTH_TRY(myth_material_add(
        mat, NULL, &(myth_piece){.source = source, .first = 1, .last = UINT32_MAX, .is_subject = true}, &own));
fail:
    myth_free(cli->mem, bytes);
    if (st != MYTH_OK && !f->is_named && (st == MYTH_EIO || st == MYTH_ENOTFOUND || st == MYTH_ELIMIT))
        return myth_missed_add(&m->files.missed, f->name, 0, 0, own.msg, err);
    if (st != MYTH_OK && err)
        *err = own;
    return st;
}

static myth_status fill(void *user, myth_cli *cli, const myth_model *model, myth_material *mat, myth_inspect_opts *io,
                        myth_error *err)
{
    many *m = user;
    const myth_files *f = &m->files;
    char left[MYTH_LEFT_OUT_CAP];
    (void)model;
    for (uint32_t i = 0; i < f->n; i++) {
        myth_status st = add_file(m, cli, &f->file[i], mat, err);
        if (st != MYTH_OK)
            return st;
    }
    myth_left_out_text(&f->left_out, left);
    if (left[0])
        myth_term_note(cli->term, "%s", left);
    snprintf(m->title, sizeof(m->title), "%u files", f->n);
    io->title = f->n == 1 ? f->file[0].name : m->title;
    io->is_local = true;
    io->missed = f->missed.row;
    io->n_missed = f->missed.n;
    return MYTH_OK;
}

static int run_inspect(myth_cli *cli, const void *opts)
{
    many m = {.o = opts};
    m.job = (myth_inspect_job){.side = &m.side, /* begin sets the roots */
                               .begin = begin,
                               .fill = fill,
                               .on_context = on_context,
                               .inputs = inputs,
                               .looks = &m.looks,
                               .left_out = &m.files.left_out,
                               .user = &m};
    int code = myth_inspect_command(cli, &m.o->inspect, &m.job);
    myth_nearby_close(m.near);
    myth_files_close(&m.files);
    return code;
}

const myth_command myth_cmd_inspect = {
    .name = "inspect",
    .args = "PATH...",
    .help = "inspect files, directories and patterns of files, and print one report",
    .detail =
        "Of a directory, the files that are code are inspected, as mythos scan lists them: ignored, generated, "
        "binary and hidden ones are not, and neither are copies of other projects (vendor, third_party), "
        "documents and data, unless --include names them. A directory without any file, and a bare repository, are an "
        "error (exit 66), because a checkout that failed would pass as clean otherwise; --allow-empty takes them. A "
        "pattern that the shell left alone (\"src/**/*.c\") means files below the current directory, without "
        "generated ones and copies; - is standard input (--stdin-filename names it). All files must be of one "
        "repository. Each file is inspected as inspect-file does it, with the same prompts; the findings are in "
        "one report, in the order of the files. An interrupt (SIGINT) or --time-limit ends the run with the findings "
        "so "
        "far (exit 3). " MYTH_INSPECT_FINDS,
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(many_opts),
    .min_arg = 1,
    .max_arg = 4096,
    .run = run_inspect,
};
