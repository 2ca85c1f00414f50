/* cmd_inspect_file.c - inspects one whole file. Context that an answer asks for is looked up in the files around it. */
#include "engine/base/program.h"
#include "frontend/candidates/inspect_base.h"
#include "frontend/inspect/prompt/nearby.h"
#include "frontend/inspect/report/edition.h"
#include "frontend/inspect/select/files.h"
#include "inspect_run.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *stdin_name;
    myth_inspect_flags inspect;
} file_opts;

static const myth_option input_options[] = {MYTH_OPTION_STDIN(file_opts, stdin_name)};

static const myth_option_group groups[] = {MYTH_GROUPS_INSPECT(file_opts, inspect),
                                           MYTH_GROUP("input", file_opts, input_options)};

/* place: what the file is called in the prompt and in the report. bytes: until the material takes them over. */
typedef struct {
    myth_place place;
    unsigned char *bytes;
    size_t len;
    myth_nearby *nearby;
    myth_looks looks;
    const file_opts *o;
} file;

static void on_look(void *user, const char *path, bool is_folder)
{
    file *f = user;
    myth_looks_add(&f->looks, path, is_folder);
}

static myth_status begin(void *user, myth_cli *cli, myth_error *err)
{
    file *f = user;
    char worker[PATH_MAX];
    myth_status st = myth_cli_read(&f->bytes, &f->len, cli->mem, cli->arg[0], MYTH_SOURCE_MAX, err);
    if (st != MYTH_OK)
        return st;
    if (myth_detect_pointer(f->bytes, f->len))
        return myth_fail(err, MYTH_ENOTFOUND, "%.160s: " MYTH_DETECT_POINTER, f->place.path);
    st = myth_nearby_open(&f->nearby, f->place.root, f->place.path,
                          myth_program_start(worker, sizeof(worker)) ? worker : NULL, err);
    if (st == MYTH_OK)
        myth_nearby_watch(f->nearby, on_look, f);
    return st;
}

static myth_status inputs(void *user, myth_cli *cli, myth_kept *key, int64_t *newest_ns, myth_error *err)
{
    const file *f = user;
    if (!strcmp(cli->arg[0], "-"))
        return myth_fail(err, MYTH_EARG, "standard input is read once");
    myth_kept_add(key, f->place.path, strlen(f->place.path));
    const myth_revision_opts side = {.root = f->place.root};
    char source[MYTH_EDITION_SOURCE];
    myth_edition_source(source, (myth_form)f->o->inspect.format, &f->o->inspect.output, side.root[0] ? &side : NULL);
    myth_kept_add(key, source, strlen(source));
    if (newest_ns)
        return myth_base_stat(key, cli->arg[0], newest_ns, err);
    myth_kept_add(key, f->bytes, f->len);
    return MYTH_OK;
}

static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    const file *f = user;
    return myth_nearby_context(f->nearby, request, m, of, near, near_cap);
}

static myth_status fill(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err)
{
    file *f = user;
    uint32_t source;
    myth_status st;
    (void)model;
    io->title = f->place.path;
    io->is_local = true;
    MYTH_TRY(myth_material_put(m, &source, f->place.path, f->bytes, f->len, err));
    myth_free(cli->mem, f->bytes);
    f->bytes = NULL;
    MYTH_TRY(myth_material_add(
        m, NULL, &(myth_piece){.source = source, .first = 1, .last = UINT32_MAX, .is_subject = true}, err));
fail:
    return st;
}

static int run_inspect_file(myth_cli *cli, const void *opts)
{
    const file_opts *o = opts;
    file f = {.o = o};
    struct stat is;
    myth_error err = {0};
    if (stat(cli->arg[0], &is) == 0 && S_ISDIR(is.st_mode))
        return myth_cli_failf(
            cli, MYTH_EARG,
            "inspect-file: %s is a directory; give one of its files, or ask about the whole directory with "
            "mythos inspect-topic \"QUESTION\" -C %s",
            cli->arg[0], cli->arg[0]);
    const bool is_stdin = strcmp(cli->arg[0], "-") == 0;
    if (o->stdin_name && !is_stdin)
        return myth_cli_failf(cli, MYTH_EARG, "--stdin-filename: give - in place of %s: it is about standard input",
                              cli->arg[0]);
    if (!o->stdin_name)
        myth_place_find(&f.place, cli->arg[0]);
    else if (myth_files_stdin(&f.place, o->stdin_name, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const char *root = f.place.root[0] ? f.place.root : NULL;
    const myth_revision_opts side = {.root = root};
    const myth_inspect_job job = {.root = root,
                                  .side = &side,
                                  .begin = begin,
                                  .fill = fill,
                                  .on_context = on_context,
                                  .inputs = inputs,
                                  .looks = &f.looks,
                                  .user = &f};
    int code = myth_inspect_command(cli, &o->inspect, &job);
    myth_nearby_close(f.nearby);
    myth_free(cli->mem, f.bytes);
    return code;
}

const myth_command myth_cmd_inspect_file = {
    .name = "inspect-file",
    .args = "PATH",
    .help = "inspect a source file and print findings",
    .detail =
        "The tokens of a model's prompt are counted before anything is generated. A file that is too long for one "
        "prompt (--max-prompt-tokens, and what the model can read) is cut into parts where definitions end, and each "
        "part has a prompt of its own; with --no-split it is refused (exit 3) with the count, the limit and what to "
        "do. The answer is generated under a grammar that allows only existing files, lines and quotes, and every "
        "finding is checked against the bytes of the file. An interrupt (SIGINT) ends the run with the findings so far "
        "(exit 3); a second one ends it at once. " MYTH_INSPECT_FINDS,
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(file_opts),
    .min_arg = 1,
    .max_arg = 1,
    .run = run_inspect_file,
};
