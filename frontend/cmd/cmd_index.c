/* cmd_index.c - creates, updates or checks the index of a directory; lists and deletes indexes (index_places.h).
 *
 * Vectors   are made only when --embed or --embed-model asks for them, because a model is slow. Once an index has
 *           vectors, every run without --no-embed updates them. Words are written first, so that they can be searched
 *           while the model still works */
#include "frontend/common/embedding.h"
#include "index_places.h"
#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/program.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LISTED_MAX = 20 }; /* most lines of one kind that are printed; --json has all */

typedef struct {
    const char *embed_model;
    uint32_t days;
    bool json, check, embed, no_embed, rebuild, dry_run;
} index_opts;

static const myth_option index_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, json), NULL, 0, 0,
     "print {\"files\",\"chunks\",\"bytes\",\"seconds\",\"skipped\":{reason:n},\"lost\",\"unread\":[..],...}"},
    {"check", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, check), NULL, 0, 0,
     "check that all parts of the index agree, instead of updating it; without an index, create it first"},
    {"rebuild", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, rebuild), NULL, 0, 0,
     "delete the index and create it again; the vectors of texts are kept"},
    {"embed", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, embed), NULL, 0, 0,
     "also make vectors, with the shipped embedder; later runs update them"},
    {"embed-model", NULL, MYTH_OPT_TEXT, "M", offsetof(index_opts, embed_model), NULL, 0, 0,
     "also make vectors, with this EmbeddingGemma model"},
    {"no-embed", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, no_embed), NULL, 0, 0,
     "update words, symbols and history only; existing vectors stay as they are"},
    {"older-than", NULL, MYTH_OPT_U32, "DAYS", offsetof(index_opts, days), "(any age)", 0, 100000,
     "prune: also delete indexes that were not used for DAYS days"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, dry_run), NULL, 0, 0,
     "prune: say what would be deleted, and delete nothing"},
};
static const myth_option_group index_groups[] = {MYTH_GROUP("index", index_opts, index_options)};

/* A list of texts that callbacks collect for the JSON output: the problems of a check, or files that could not be read.
 */
typedef struct {
    myth_cli *cli;
    char *text; /* zero-terminated texts, one after the other */
    size_t n, cap;
    uint64_t n_line, n_vectors; /* n_vectors: problems of vectors, which any update repairs */
} lines;

/* Makes room for n more bytes; false when there is none. The run goes on then, and the text is missing in the JSON. */
static bool reserve(lines *l, size_t n)
{
    return MYTH_ARRAY_MORE(l->cli->mem, MYTH_MEM_OTHER, "lines", &l->text, l->n, n, &l->cap);
}

static void put_line(lines *l, const char *line)
{
    memcpy(l->text + l->n, line, strlen(line) + 1);
    l->n += strlen(line) + 1;
}

static void on_problem(void *arg, const char *line)
{
    lines *l = arg;
    l->n_vectors += strncmp(line, "vectors: ", 9) == 0;
    if (l->n_line++ < LISTED_MAX)
        myth_term_error(l->cli->term, line);
    if (reserve(l, strlen(line) + 1))
        put_line(l, line);
}

/* Adds three texts: path, reason, why. */
static void put_unread(lines *l, const char *path, const char *name, const char *why)
{
    if (l->n_line++ < LISTED_MAX) {
        myth_error line; /* the path may hold anything: as an error it is safe to print */
        myth_fail(&line, MYTH_ELIMIT, "%.160s: %s: %s", path, name, why);
        myth_term_note(l->cli->term, "%s", line.msg);
    }
    if (reserve(l, strlen(path) + strlen(name) + strlen(why) + 3)) {
        put_line(l, path);
        put_line(l, name);
        put_line(l, why);
    }
}

static void on_unread(void *arg, const char *path, myth_scan_reason reason, const char *why)
{
    put_unread(arg, path, myth_scan_reason_name(reason), why ? why : "changed while it was read");
}

static void on_progress(void *arg, uint64_t done, uint64_t all, uint64_t n_file)
{
    (void)n_file;
    myth_term_progress(arg, "index, KiB", done >> 10, all >> 10);
}

/* Lists the files that have a note: no parser could handle them although their language has a grammar, or some of their
 * words are not in the index. */
static void list_unstructured(myth_cli *cli, myth_index *x, myth_json_out *j)
{
    uint64_t n = 0;
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(myth_store_db(myth_index_store(x)),
                           "SELECT path, note FROM files WHERE note IS NOT NULL ORDER BY path", -1, &q,
                           NULL) != SQLITE_OK)
        return;
    for (; sqlite3_step(q) == SQLITE_ROW; n++) {
        const char *path = sqlite3_column_blob(q, 0), *note = (const char *)sqlite3_column_text(q, 1);
        int n_path = sqlite3_column_bytes(q, 0);
        if (j) {
            myth_jout_object(j);
            myth_jout_key(j, "path");
            myth_jout_text(j, path, (size_t)n_path);
            myth_jout_key_str(j, "note", note);
            myth_jout_end(j);
        } else if (n < LISTED_MAX) {
            myth_error line; /* the path may hold anything: as an error it is safe to print */
            myth_fail(&line, MYTH_ELIMIT, "%.*s: %s", n_path, path, note ? note : "");
            myth_term_note(cli->term, "%s", line.msg);
        }
    }
    sqlite3_finalize(q);
    if (!j && n > LISTED_MAX)
        myth_term_note(cli->term, "%llu more file%s cut by their text or lacking words; --json lists them",
                       (unsigned long long)(n - LISTED_MAX), myth_s(n - LISTED_MAX));
}

/* ---- vectors ---- */

typedef struct {
    myth_vectors_stats stats;
    bool has;                                /* the index has vectors, of this many */
    char off[256], model[MYTH_VECTORS_NAME]; /* why there are none, or some wait; "" = none to say */
} semantic;

static void on_embedded(void *arg, uint64_t done, uint64_t all, double seconds)
{
    char what[64];
    snprintf(what, sizeof(what), "embed, %.0f texts/s", seconds > 0 ? (double)done / seconds : 0.0);
    myth_term_progress(arg, what, done, all);
}

/* Counts the vectors that the index has, without making any. */
static void count_vectors(myth_index *x, semantic *s)
{
    myth_vectors *v = NULL;
    myth_error why = {0};
    if (myth_vectors_open(&v, x, &why) != MYTH_OK) {
        myth_cli_spell(s->off, sizeof(s->off), &why);
        return;
    }
    const myth_vectors_info *about = myth_vectors_about(v);
    s->has = true;
    s->stats.n_vector = about->n_row;
    s->stats.kind = about->kind;
    snprintf(s->model, sizeof(s->model), "%s", about->name);
    if (about->is_behind)
        snprintf(s->off, sizeof(s->off), "the index changed after its vectors were made; mythos index updates them");
    myth_vectors_close(v);
}

/* Opens the model for texts without a vector: the one that a flag names, else the one that made the index's vectors.
 * *out NULL: it is not needed, or not found, and `why` has the reason. */
static myth_status choose_model(myth_embedding **out, myth_cli *cli, myth_index *x, const index_opts *o, char why[256],
                                myth_error *err)
{
    unsigned char model[16];
    char name[MYTH_VECTORS_NAME], spec[PATH_MAX];
    myth_error no = {0};
    myth_status st = MYTH_OK;
    *out = NULL;
    if (o->embed || o->embed_model) {
        MYTH_TRY(myth_cli_embedder_spec(o->embed_model, spec, sizeof(spec), err));
        return myth_embedding_open(out, cli, spec, err);
    }
    MYTH_TRY(myth_vectors_model(x, model, name, err));
    st = myth_semantic_model(out, cli, model, name, NULL, &no);
    if (st == MYTH_OK || st == MYTH_ECANCEL || st == MYTH_ENOMEM)
        return st == MYTH_OK ? st : myth_fail_as(err, &no);
    myth_cli_spell(why, 256, &no); /* vectors that are kept for known texts can still be used */
    return MYTH_OK;
fail:
    return st;
}

static myth_status make_vectors(myth_cli *cli, myth_index *x, const index_opts *o, semantic *s, myth_error *err)
{
    myth_embedding *model = NULL;
    myth_vectors_work work = {0};
    myth_status st = MYTH_OK;
    myth_vectors_update_opts uo = {
        .n_threads = cli->global->n_threads,
        .is_cancelled = cli->cancel,
        .progress_arg = cli->term,
        .progress = cli->term->has_progress ? on_embedded : NULL,
    };
    MYTH_TRY(choose_model(&model, cli, x, o, s->off, err));
    if (model)
        MYTH_TRY(myth_vectors_measure(&work, x, myth_embedding_face(model), err));
    if (work.n_missing)
        MYTH_TRY(myth_embedding_start(model, work.peak_bytes, err));
    if (work.n_missing && !myth_embedding_has_dense(model))
        myth_term_note(cli->term, "%s lacks the dense layers of the full model: vectors of the two cannot be compared",
                       myth_embedding_face(model)->name);
    uo.embedder = model ? myth_embedding_face(model) : NULL;
    st = myth_vectors_update(x, &uo, &s->stats, err);
    myth_term_progress_end(cli->term);
    s->has = st == MYTH_OK && s->stats.n_vector > 0;
    snprintf(s->model, sizeof(s->model), "%s", st == MYTH_OK && model ? myth_embedding_face(model)->name : "");
    const uint64_t n_cut = st == MYTH_OK && model ? myth_embedding_n_cut(model) : 0;
    if (n_cut)
        myth_term_note(cli->term, "%llu chunk%s longer than the model can read; only the beginning is in the vector",
                       (unsigned long long)n_cut, n_cut == 1 ? " is" : "s are");
fail:
    myth_embedding_close(model);
    return st;
}

/* Makes or updates the vectors. When no flag asked for them, a missing model or a memory limit is not an error: the
 * vectors are then made by a later run. */
static myth_status run_vectors(myth_cli *cli, myth_index *x, const index_opts *o, semantic *s, myth_error *err)
{
    const bool is_asked = o->embed || o->embed_model;
    myth_error why = {0};
    myth_status st = MYTH_OK;
    if (!myth_vectors_is_built()) {
        st = myth_fail(&why, MYTH_EUNSUPPORTED, "this build has no FAISS");
    } else if (!o->no_embed && !o->check) {
        if (!is_asked && myth_vectors_is_in_step(x))
            count_vectors(x, s);
        if (s->has)
            return MYTH_OK;
        *s = (semantic){0};
        st = make_vectors(cli, x, o, s, &why);
    }
    if (st != MYTH_OK && (is_asked || st == MYTH_ECANCEL || st == MYTH_EIO || st == MYTH_ENOMEM))
        return myth_fail_as(err, &why);
    const myth_vectors_stats made = s->stats;
    char waiting[256];
    if (st == MYTH_OK)
        snprintf(waiting, sizeof(waiting), "%s", s->off);
    else
        myth_cli_spell(waiting, sizeof(waiting), &why);
    if (s->model[0])
        return MYTH_OK; /* the vectors are up to date and already counted */
    if (myth_vectors_is_built())
        count_vectors(x, s);
    else
        myth_cli_spell(s->off, sizeof(s->off), &why);
    s->stats.n_embedded = made.n_embedded;
    s->stats.n_missing = made.n_missing;
    s->stats.seconds = made.seconds;
    if (s->has && waiting[0] && (made.n_missing || st != MYTH_OK))
        snprintf(s->off, sizeof(s->off), "%s", waiting);
    return MYTH_OK;
}

static void print_semantic(myth_json_out *j, const semantic *s)
{
    char text[300];
    snprintf(text, sizeof(text), "%s%s%s", s->has ? "on" : "off", s->off[0] ? ": " : "", s->off);
    myth_jout_key_str(j, "semantic", text);
    if (!s->has)
        return;
    myth_jout_key(j, "vectors");
    myth_jout_object(j);
    myth_jout_key_u64(j, "chunks", s->stats.n_vector);
    myth_jout_key_u64(j, "embedded", s->stats.n_embedded);
    myth_jout_key_u64(j, "missing", s->stats.n_missing);
    myth_jout_key_str(j, "kind", myth_vectors_kind_name(s->stats.kind));
    myth_jout_key_str(j, "model", s->model);
    myth_jout_key_f64(j, "seconds", s->stats.seconds);
    myth_jout_end(j);
}

static void note_semantic(myth_cli *cli, const semantic *s)
{
    if (!s->has)
        myth_term_note(cli->term, "semantic: off, because %s", s->off);
    else
        myth_term_note(cli->term, "semantic: %llu chunk%s with a vector, %llu text%s embedded in %.2f s%s%s",
                       (unsigned long long)s->stats.n_vector, myth_s(s->stats.n_vector),
                       (unsigned long long)s->stats.n_embedded, myth_s(s->stats.n_embedded), s->stats.seconds,
                       s->off[0] ? "; " : "", s->off);
}

/* ---- output ---- */

static void print_json(myth_cli *cli, myth_index *x, const myth_index_stats *s, const lines *problems,
                       const lines *unread, const semantic *vectors, bool is_check)
{
    const struct {
        const char *name;
        uint64_t n;
    } number[] = {
        {"files", s->n_file}, {"chunks", s->n_chunk}, {"bytes", s->bytes},       {"symbols", s->n_symbol},
        {"refs", s->n_ref},   {"added", s->n_added},  {"changed", s->n_changed}, {"removed", s->n_removed},
    };
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
        myth_jout_key_u64(&j, number[i].name, number[i].n);
        if (i == 2)
            myth_jout_key_f64(&j, "seconds", s->seconds);
    }
    myth_jout_key(&j, "skipped");
    myth_jout_object(&j);
    for (int r = MYTH_SCAN_IN + 1; r < MYTH_SCAN_REASON_N; r++)
        if (s->n_out[r])
            myth_jout_key_u64(&j, myth_scan_reason_name((myth_scan_reason)r), s->n_out[r]);
    myth_jout_end(&j);
    myth_jout_key_u64(&j, "lost", s->n_lost);
    myth_jout_key(&j, "unread");
    myth_jout_array(&j);
    for (size_t at = 0; at < unread->n;) {
        static const char *const key[] = {"path", "reason", "why"};
        myth_jout_object(&j);
        for (int i = 0; i < 3; i++, at += strlen(unread->text + at) + 1)
            myth_jout_key_str(&j, key[i], unread->text + at);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_jout_key(&j, "unstructured");
    myth_jout_array(&j);
    list_unstructured(cli, x, &j);
    myth_jout_end(&j);
    if (is_check) {
        myth_jout_key(&j, "problems");
        myth_jout_array(&j);
        for (size_t at = 0; at < problems->n; at += strlen(problems->text + at) + 1)
            myth_jout_str(&j, problems->text + at);
        myth_jout_end(&j);
    }
    myth_jout_key_str(&j, "rebuilt", s->rebuilt);
    myth_jout_key_str(&j, "history", s->history_note[0] ? s->history_note : "read");
    print_semantic(&j, vectors);
    myth_jout_key_str(&j, "index", myth_index_path(x));
    myth_jout_end(&j);
}

static void print_text(myth_cli *cli, const myth_index_stats *s, const lines *problems, bool is_check)
{
    char size[24];
    const unsigned long long n_file = s->n_file, n_chunk = s->n_chunk, n_symbol = s->n_symbol;
    printf("%llu file%s, %llu chunk%s, %llu symbol%s, %s\n", n_file, myth_s(n_file), n_chunk, myth_s(n_chunk), n_symbol,
           myth_s(n_symbol), myth_size_text(size, s->bytes));
    if (is_check)
        myth_term_note(cli->term, "check: %llu problem%s in %.2f s", (unsigned long long)problems->n_line,
                       myth_s(problems->n_line), s->seconds);
    else
        myth_term_note(cli->term, "%llu added, %llu changed, %llu removed in %.2f s", (unsigned long long)s->n_added,
                       (unsigned long long)s->n_changed, (unsigned long long)s->n_removed, s->seconds);
    if (s->rebuilt[0])
        myth_term_note(cli->term, "the index was rebuilt: %s", s->rebuilt);
    if (s->history_note[0])
        myth_term_note(cli->term, "%s", s->history_note);
}

/* Runs list or prune. A directory of that name is ./list. */
static int run_places(myth_cli *cli, const index_opts *o, bool is_prune)
{
    static const char *const other[] = {"check", "rebuild", "embed", "embed-model", "no-embed"};
    const char *verb = is_prune ? "prune" : "list";
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (myth_args_is_flag(cli->parsed, other[i]))
            return myth_cli_failf(cli, MYTH_EARG,
                                  "index %s: --%s is for the index of one directory; leave it out, or give ./%s", verb,
                                  other[i], verb);
    return myth_index_places_run(cli, &(myth_index_places_opts){
                                          .is_prune = is_prune,
                                          .json = o->json,
                                          .is_dry = o->dry_run,
                                          .has_days = myth_args_is_given(cli->parsed, "older-than"),
                                          .days = o->days,
                                      });
}

typedef struct {
    myth_cli *cli;
    const index_opts *o;
    myth_index *x;
    myth_index_opts open;
    myth_index_stats stats;
    lines problems, unread; /* of the check; what could not be read */
    uint64_t n_problem;
    semantic vectors;
} index_run;

/* Opens the index. A check reads it as it is, but makes it where there is none, or where its first run was
 * interrupted. */
static myth_status open_index(index_run *r, myth_error *err)
{
    myth_status st = myth_hint_check_dir(r->open.root, err);
    if (st == MYTH_OK)
        st = myth_index_open(&r->x, r->cli->mem, &r->open, err);
    if (st == MYTH_OK && r->o->check)
        st = myth_index_last(r->x, &r->stats, err);
    if (!r->o->check || (st != MYTH_ENOTFOUND && (st != MYTH_OK || r->stats.n_file != 0)))
        return st;
    myth_index_close(r->x);
    r->x = NULL;
    r->open.is_read_only = false;
    return myth_index_open(&r->x, r->cli->mem, &r->open, err);
}

static myth_status update_index(index_run *r, myth_error *err)
{
    const myth_index_update_opts uo = {
        .progress = r->cli->term->has_progress ? on_progress : NULL,
        .progress_arg = r->cli->term,
        .is_cancelled = r->cli->cancel,
        .unread = on_unread,
        .unread_arg = &r->unread,
    };
    const myth_status st = myth_index_update(r->x, &uo, &r->stats, err);
    myth_term_progress_end(r->cli->term);
    return st;
}

static myth_status check_index(index_run *r, myth_error *err)
{
    myth_status st = myth_index_last(r->x, &r->stats, err);
    const double start = myth_seconds();
    if (st == MYTH_OK)
        st = myth_index_check(r->x, on_problem, &r->problems, &r->n_problem, err);
    r->stats.seconds = myth_seconds() - start;
    return st;
}

/* Prints what was done and found; returns the exit code. */
static int report_index(index_run *r)
{
    myth_cli *cli = r->cli;
    int code = MYTH_EXIT_CLEAN;
    char damage[MYTH_DAMAGE_BYTES];
    const bool is_vectors = r->problems.n_vectors == r->n_problem;
    if (myth_git_damage(damage, cli->mem, r->open.root)) {
        put_unread(&r->unread, ".git", "damaged", damage);
        r->stats.n_lost++;
    }
    if (r->n_problem)
        code = myth_exit_worse(code, myth_cli_failf(cli, MYTH_EFORMAT, "%s: %llu problem%s; %s mythos index%s",
                                                    myth_index_path(r->x), (unsigned long long)r->n_problem,
                                                    myth_s(r->n_problem),
                                                    is_vectors ? "repair its vectors with" : "rebuild it with",
                                                    is_vectors ? "" : " --rebuild"));
    else if (r->stats.n_lost)
        code = MYTH_EXIT_INCOMPLETE;
    list_unstructured(cli, r->x, NULL);
    if (r->unread.n_line > LISTED_MAX)
        myth_term_note(cli->term, "%llu more could not be read; --json lists them",
                       (unsigned long long)(r->unread.n_line - LISTED_MAX));
    if (r->o->json)
        print_json(cli, r->x, &r->stats, &r->problems, &r->unread, &r->vectors, r->o->check);
    else
        print_text(cli, &r->stats, &r->problems, r->o->check);
    note_semantic(cli, &r->vectors);
    return code;
}

static int run_index(myth_cli *cli, const void *opts)
{
    const index_opts *o = opts;
    char self[PATH_MAX];
    myth_error err = {0};
    const bool is_list = cli->n_arg && strcmp(cli->arg[0], "list") == 0,
               is_prune = cli->n_arg && strcmp(cli->arg[0], "prune") == 0;
    const char *stray = myth_args_is_flag(cli->parsed, "older-than") ? "older-than" : o->dry_run ? "dry-run" : NULL;
    if (stray && !is_prune)
        return myth_cli_failf(cli, MYTH_EARG, "index: --%s belongs to index prune; leave it out", stray);
    if (is_list || is_prune)
        return run_places(cli, o, is_prune);
    if (o->no_embed && (o->embed || o->embed_model))
        return myth_cli_failf(cli, MYTH_EARG, "index: --no-embed and %s exclude each other",
                              o->embed ? "--embed" : "--embed-model");
    if (o->rebuild && o->check)
        return myth_cli_failf(cli, MYTH_EARG, "index: --rebuild and --check exclude each other");
    signal(SIGXFSZ,
           SIG_IGN); /* let a limit on file sizes fail the write, as a full disk does, instead of ending the process */
    index_run r = {
        .cli = cli,
        .o = o,
        .open = {.root = myth_cli_dir(cli, 0),
                 .cache_dir = myth_env_cache_dir(),
                 .worker_path = myth_program_start(self, sizeof(self)) ? self : NULL,
                 .n_threads = cli->global->n_threads,
                 .is_read_only = o->check,
                 .rebuild = o->rebuild},
        .problems = {.cli = cli},
        .unread = {.cli = cli},
    };
    myth_status st = open_index(&r, &err);
    if (st == MYTH_OK && !r.open.is_read_only)
        st = update_index(&r, &err);
    if (st == MYTH_OK)
        st = run_vectors(cli, r.x, o, &r.vectors, &err);
    if (st == MYTH_OK && o->check)
        st = check_index(&r, &err);
    const int code = st == MYTH_OK ? report_index(&r) : myth_cli_fail(cli, &err);
    myth_free(cli->mem, r.problems.text);
    myth_free(cli->mem, r.unread.text);
    myth_index_close(r.x);
    return code;
}

const myth_command myth_cmd_index = {
    .name = "index",
    .args = "[list|prune] [DIR]",
    .help = "create or update the index of a directory: words, symbols, uses, history, vectors; list or prune indexes",
    .detail =
        "The index is one file below $XDG_CACHE_HOME/mythos (or ~/.cache/mythos), never in the directory itself. Only "
        "files that changed are read again. "
        "index list prints the indexes of all directories, with size and last use. index prune deletes those whose "
        "directory is gone (one on a disk that is not mounted is gone, too), and with --older-than those that were not "
        "used for so long; --dry-run shows them. "
        "Vectors, for search by meaning, are made when --embed or --embed-model asks for them, because a model "
        "is slow; once an index has vectors, every run without --no-embed updates them. "
        "A text is embedded only once, even if several files have it; an interrupted run keeps what is "
        "done, and the next run continues.\n"
        "Exits with 3 when the index is incomplete: a file could not be read or is over 64 MiB, the repository is "
        "damaged "
        "(its HEAD, index or a pack, so that it is not known which files belong to it), a directory has "
        "more than 65,536 names, "
        "a source file is binary or not a regular file, the parser ran out of time or cannot handle the "
        "code (its definitions are not known), or a line of more than 64 KiB, not in data or a test, has words that "
        "were left out. "
        "These "
        "files are listed (\"unread\", \"unstructured\"). Files that a rule leaves out (ignored, links, media, "
        "minified, other repositories), and data files without a parser, do not make it incomplete; mythos scan "
        "--explain lists them. A damaged index is rebuilt, with a note; --rebuild rebuilds it in any case. "
        "Exits with 65 when --check finds damage, 66 when "
        "there is no file to index (one that never had any leaves no index), 74 when the disk is full (the index stays "
        "as it was), 75 while another "
        "process updates it.",
    .group = index_groups,
    .n_group = 1,
    .opts_bytes = sizeof(index_opts),
    .max_arg = 1,
    .run = run_index,
};
