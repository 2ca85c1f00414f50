/* cmd_index.c - makes or updates the index of a directory, or checks it. */
#include "../retrieval/retrieval.h"
#include "json_out.h"
#include "main.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LISTED_MAX = 20 };       /* lines of one kind on a terminal; --json has all */

typedef struct {
    const char *embed_model;
    bool json, check, no_embed;
} index_opts;

static const myth_option index_options[] = {
    { "json", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, json), NULL, 0, 0,
      "print {\"files\",\"chunks\",\"bytes\",\"seconds\",\"skipped\":{reason:n},...}" },
    { "check", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, check), NULL, 0, 0,
      "compare everything that the index holds, instead of an update; where there is none it is made first" },
    { "no-embed", NULL, MYTH_OPT_FLAG, NULL, offsetof(index_opts, no_embed), NULL, 0, 0, "words, symbols and history alone, no vectors" },
    { "embed-model", NULL, MYTH_OPT_TEXT, "M", offsetof(index_opts, embed_model), NULL, 0, 0, "the model that makes the vectors" },
};
static const myth_option_group index_groups[] = { MYTH_GROUP("index", index_opts, index_options) };

/* Lines that a check gives, for JSON behind the numbers. */
typedef struct {
    myth_cli *cli;
    char *text;
    size_t n, cap;
    uint64_t n_line;
    bool is_full;
} lines;

static void on_problem(void *arg, const char *line)
{
    lines *l = arg;
    size_t n = strlen(line) + 1;
    if (l->n_line++ < LISTED_MAX)
        myth_term_error(l->cli->term, line);
    if (l->cap - l->n < n) {
        char *text = myth_realloc(l->cli->mem, MYTH_MEM_OTHER, "lines", l->text, 2 * l->cap + n + 256);
        l->is_full = l->is_full || !text;
        if (!text)
            return;
        l->text = text;
        l->cap = 2 * l->cap + n + 256;
    }
    memcpy(l->text + l->n, line, n);
    l->n += n;
}

static void on_progress(void *arg, uint64_t done, uint64_t all, uint64_t n_file)
{
    (void)n_file;
    myth_term_progress(arg, "index, KiB", done >> 10, all >> 10);
}

/* Files that were cut by their text though there is a grammar, and why. */
static uint64_t list_unstructured(myth_cli *cli, myth_index *x, myth_json_out *j)
{
    uint64_t n = 0;
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT path, note FROM files WHERE note IS NOT NULL ORDER BY path", -1, &q, NULL) != SQLITE_OK)
        return 0;
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
            myth_error line;            /* the path may hold anything: as an error it is safe to print */
            myth_fail(&line, MYTH_ELIMIT, "%.*s: %s", n_path, path, note ? note : "");
            myth_term_note(cli->term, "%s", line.msg);
        }
    }
    sqlite3_finalize(q);
    if (!j && n > LISTED_MAX)
        myth_term_note(cli->term, "and %llu more files cut by their text; --json lists them", (unsigned long long)(n - LISTED_MAX));
    return n;
}

static void print_json(myth_cli *cli, myth_index *x, const myth_index_stats *s, const lines *problems, bool is_check)
{
    const struct { const char *name; uint64_t n; } number[] = {
        { "files", s->n_file }, { "chunks", s->n_chunk }, { "bytes", s->bytes }, { "symbols", s->n_symbol }, { "refs", s->n_ref },
        { "added", s->n_added }, { "changed", s->n_changed }, { "removed", s->n_removed },
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
    myth_jout_key_str(&j, "history", s->history_note[0] ? s->history_note : "read");
    myth_jout_key_str(&j, "semantic", "off: this version makes no vectors");
    myth_jout_key_str(&j, "index", myth_index_path(x));
    myth_jout_end(&j);
}

static void print_text(myth_cli *cli, const myth_index_stats *s, const lines *problems, bool is_check)
{
    char size[24];
    printf("%llu files, %llu chunks, %llu symbols, %s\n", (unsigned long long)s->n_file, (unsigned long long)s->n_chunk,
           (unsigned long long)s->n_symbol, myth_size_text(size, s->bytes));
    if (is_check)
        myth_term_note(cli->term, "check: %llu problems in %.2f s", (unsigned long long)problems->n_line, s->seconds);
    else
        myth_term_note(cli->term, "%llu added, %llu changed, %llu removed in %.2f s", (unsigned long long)s->n_added, (unsigned long long)s->n_changed,
                       (unsigned long long)s->n_removed, s->seconds);
    if (s->history_note[0])
        myth_term_note(cli->term, "%s", s->history_note);
}

static int run_index(myth_cli *cli, const void *opts)
{
    const index_opts *o = opts;
    char self[PATH_MAX];
    myth_error err = { 0 };
    myth_status st = MYTH_OK;
    myth_index *x = NULL;
    myth_index_stats stats = { 0 };
    lines problems = { .cli = cli };
    uint64_t n_problem = 0;
    int code = MYTH_EXIT_CLEAN;
    bool is_check = o->check;
    if (o->embed_model)
        return myth_cli_failf(cli, MYTH_EUNSUPPORTED, "index: --embed-model: vectors are not made yet; --no-embed makes the rest");
    signal(SIGXFSZ, SIG_IGN);                   /* a limit on file sizes is an error of the write, as a full disk is */
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    myth_index_opts io = { .root = cli->n_arg ? cli->arg[0] : ".", .worker_path = n > 0 ? self : NULL, .n_threads = cli->global->n_threads,
                           .is_read_only = o->check };
    st = myth_index_open(&x, cli->mem, &io, &err);
    if (st == MYTH_OK && o->check)
        st = myth_index_last(x, &stats, &err);
    if (o->check && (st == MYTH_ENOTFOUND || (st == MYTH_OK && stats.n_file == 0))) {      /* none, or a first run that was ended */
        myth_index_close(x);
        x = NULL;
        io.is_read_only = false;
        st = myth_index_open(&x, cli->mem, &io, &err);
    }
    if (st == MYTH_OK && !io.is_read_only) {
        myth_index_update_opts uo = { .progress = cli->term->has_progress ? on_progress : NULL, .progress_arg = cli->term, .is_cancelled = cli->cancel };
        st = myth_index_update(x, &uo, &stats, &err);
        myth_term_progress_end(cli->term);
    }
    if (st == MYTH_OK && is_check) {
        struct timespec start, end;
        MYTH_TRY(myth_index_last(x, &stats, &err));
        clock_gettime(CLOCK_MONOTONIC, &start);
        MYTH_TRY(myth_index_check(x, on_problem, &problems, &n_problem, &err));
        clock_gettime(CLOCK_MONOTONIC, &end);
        stats.seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    }
fail:
    if (st != MYTH_OK) {
        code = myth_cli_fail(cli, &err);
    } else {
        if (n_problem)
            code = myth_exit_worse(code, myth_cli_failf(cli, MYTH_EFORMAT, "%s: %llu problems; remove this file and run mythos index", myth_index_path(x),
                                                        (unsigned long long)n_problem));
        else if (stats.n_out[MYTH_SCAN_UNREADABLE] || stats.n_out[MYTH_SCAN_LARGE] || list_unstructured(cli, x, NULL))
            code = MYTH_EXIT_INCOMPLETE;
        if (o->json)
            print_json(cli, x, &stats, &problems, is_check);
        else
            print_text(cli, &stats, &problems, is_check);
    }
    myth_free(cli->mem, problems.text);
    myth_index_close(x);
    return code;
}

const myth_command myth_cmd_index = {
    .name = "index", .args = "[DIR]", .help = "make or update the index of a directory: words, symbols, uses, history",
    .detail = "The index is one file below $XDG_CACHE_HOME/mythos (or ~/.cache/mythos), never in the directory. Only what changed is read again. "
              "Exits with 3 when files could not be read or were cut by their text instead of their structure (they are listed), 65 when the index is "
              "damaged, 66 when there is no file to index, 74 when the disk is full (the index stays as it was), 75 while another process updates it.",
    .group = index_groups, .n_group = 1, .opts_bytes = sizeof(index_opts), .max_arg = 1, .run = run_index
};
