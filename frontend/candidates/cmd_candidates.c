/* cmd_candidates.c - lists the places that the rules of retrieval/candidates find worth a judgement, with the facts
 * that speak for and against each. They are no findings. */
#include "engine/base/thread.h"
#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "frontend/inspect/select/files.h"
#include "retrieval/retrieval.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    myth_opt_list include, exclude;
    const char *rules;
    int format;
} candidates_opts;

enum { FORM_TEXT, FORM_JSON, FORM_JSONL, MOST_THREADS = 16, FILE_BYTES_MAX = 64 << 20 };

static const myth_option candidates_options[] = {
    {"format", NULL, MYTH_OPT_CHOICE, "text|json|jsonl", offsetof(candidates_opts, format), "text", 0, 0,
     "how places are printed; jsonl: a line for each"},
    {"rules", NULL, MYTH_OPT_TEXT, "ID[,ID...]", offsetof(candidates_opts, rules), NULL, 0, 0,
     "only places of these rules"},
    {"include", NULL, MYTH_OPT_LIST, "GLOB", offsetof(candidates_opts, include), NULL, 0, 0,
     "of directories, read only files that match GLOB; may be given several times"},
    {"exclude", NULL, MYTH_OPT_LIST, "GLOB", offsetof(candidates_opts, exclude), NULL, 0, 0,
     "leave out files of directories that match GLOB; may be given several times"},
};
static const myth_option_group groups[] = {MYTH_GROUP("candidates", candidates_opts, candidates_options)};

/* What one file gave. */
typedef struct {
    myth_candidates found;
    unsigned char *text; /* until it is printed: lines are shown */
    size_t n_text;
    myth_status st;
    myth_error err;
    bool is_done, is_skipped; /* skipped: no rules for its language */
} file_result;

typedef struct {
    myth_cli *cli;
    const candidates_opts *o;
    myth_files files;
    file_result *result; /* [files.n] */
    char worker[PATH_MAX];
    bool has_worker;
    char rule[MYTH_ARGS_NAMES][MYTH_CANDIDATES_NAME]; /* [n_rule] where some were chosen: a bit of `wanted` each */
    uint32_t n_rule;
    uint64_t wanted;
    uint32_t next;
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    myth_json_out json;
    uint64_t n_line, n_place, n_function, n_file, n_failed, n_skipped;
} job;

static void read_one(job *j, myth_chunker *chunker, uint32_t i)
{
    const myth_file *f = &j->files.file[i];
    file_result *r = &j->result[i];
    r->st = myth_cli_read(&r->text, &r->n_text, j->cli->mem, f->open, FILE_BYTES_MAX, &r->err);
    const char *language = myth_detect_language(f->name, r->text, r->st == MYTH_OK ? r->n_text : 0);
    r->is_skipped = r->st == MYTH_OK && !myth_candidates_has(language);
    if (r->st == MYTH_OK && !r->is_skipped)
        r->st = myth_candidates_find(&r->found, chunker, language, f->name, r->text, r->n_text, &r->err);
}

static void *work(void *arg)
{
    job *j = arg;
    myth_chunker *chunker = NULL;
    myth_error err = {0};
    const myth_status st = myth_chunker_open(&chunker, j->cli->mem, j->has_worker ? j->worker : NULL, &err);
    for (;;) {
        pthread_mutex_lock(&j->mutex);
        const uint32_t i = j->next < j->files.n ? j->next++ : UINT32_MAX;
        pthread_mutex_unlock(&j->mutex);
        if (i == UINT32_MAX)
            break;
        if (st != MYTH_OK) {
            j->result[i].st = st;
            j->result[i].err = err;
        } else if (!(j->cli->cancel && *j->cli->cancel))
            read_one(j, chunker, i);
        pthread_mutex_lock(&j->mutex);
        j->result[i].is_done = true;
        pthread_cond_signal(&j->ready);
        pthread_mutex_unlock(&j->mutex);
    }
    myth_chunker_close(chunker);
    return NULL;
}

/* ---- printing ---- */

static bool is_wanted(const job *j, const char *rule)
{
    for (uint32_t i = 0; i < j->n_rule; i++)
        if (strcmp(j->rule[i], rule) == 0)
            return j->wanted >> i & 1;
    return true;
}

/* A rule that does not exist is a mistake, and not a list without places. */
static myth_status choose_rules(job *j, myth_error *err)
{
    const char *name[MYTH_ARGS_NAMES];
    j->wanted = UINT64_MAX;
    if (!j->o->rules)
        return MYTH_OK;
    j->n_rule = myth_candidates_rules(j->rule, MYTH_ARGS_NAMES);
    for (uint32_t i = 0; i < j->n_rule; i++)
        name[i] = j->rule[i];
    return j->n_rule ? myth_args_read_names(&j->wanted, "--rules", "rule", j->o->rules, name, j->n_rule, err) : MYTH_OK;
}

static void print_json(myth_json_out *out, const char *path, const myth_candidates *k, const myth_candidate_place *c)
{
    myth_jout_object(out);
    myth_jout_key_str(out, "file", path);
    myth_jout_key_u64(out, "line", c->line0);
    myth_jout_key_u64(out, "end_line", c->line1);
    myth_jout_key_str(out, "rule", k->names + c->rule);
    myth_jout_key_str(out, "row", k->names + c->row);
    myth_jout_key_str(out, "function", k->names + c->function);
    myth_jout_key_u64(out, "function_line", c->function_line0);
    myth_jout_key_u64(out, "function_end_line", c->function_line1);
    myth_jout_key_str(out, "path", k->names + c->path);
    myth_jout_key_str(out, "callee", k->names + c->callee);
    if (c->about_line)
        myth_jout_key_u64(out, "about_line", c->about_line);
    myth_jout_key_str(out, "why", k->names + c->say);
    myth_jout_key(out, "facts");
    myth_jout_object(out);
    for (const char *p = k->names + c->facts; *p;) {
        char name[32], value[160];
        const size_t n = strcspn(p, "="), m = p[n] ? strcspn(p + n + 1, " ") : 0;
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        snprintf(value, sizeof(value), "%.*s", (int)m, p[n] ? p + n + 1 : "");
        myth_jout_key_str(out, name, value);
        p += n + (p[n] != '\0') + m;
        p += *p == ' ';
    }
    myth_jout_end(out);
    myth_jout_end(out);
}

static void print_text(const char *path, const file_result *r, const myth_candidate_place *c)
{
    const myth_candidates *k = &r->found;
    myth_term_path(stdout, path);
    printf(":%u: ", c->line0);
    myth_term_path(stdout, k->names + c->rule);
    fputs(": ", stdout);
    myth_term_path(stdout, k->names + c->say);
    putchar('\n');
    const unsigned char *line = r->text + c->off, *end = r->text + r->n_text;
    while (line > r->text && line[-1] != '\n')
        line--;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    char shown[160];
    size_t n = 0;
    while (line < end && *line != '\n' && *line != '\r' && n + 1 < sizeof(shown))
        shown[n++] = (char)*line++;
    shown[n] = '\0';
    printf("    %u | ", c->line0);
    myth_term_path(stdout, shown);
    fputs("\n    ", stdout);
    myth_term_path(stdout, k->names + c->facts);
    putchar('\n');
}

static void print_file(job *j, uint32_t i)
{
    const char *path = j->files.file[i].name;
    file_result *r = &j->result[i];
    if (r->st == MYTH_OK && r->found.note[0] && !r->is_skipped) {
        j->n_failed++;
        myth_term_note(j->cli->term, "%s: not read: %s", path, r->found.note);
    }
    j->n_file += r->st == MYTH_OK && !r->is_skipped && !r->found.note[0];
    j->n_skipped += r->is_skipped;
    j->n_function += r->found.n_function;
    for (size_t b = 0; b < r->n_text && !r->is_skipped; b++)
        j->n_line += r->text[b] == '\n';
    for (uint32_t c = 0; c < r->found.n; c++) {
        const myth_candidate_place *k = &r->found.candidate[c];
        if (!is_wanted(j, r->found.names + k->rule))
            continue;
        j->n_place++;
        if (j->o->format == FORM_TEXT)
            print_text(path, r, k);
        else {
            if (j->o->format == FORM_JSONL)
                myth_jout_start(&j->json, stdout);
            print_json(&j->json, path, &r->found, k);
        }
    }
    myth_candidates_free(&r->found, j->cli->mem);
    myth_free(j->cli->mem, r->text);
    r->text = NULL;
}

/* Prints the files in their order, each as soon as it was read. The first that failed ends the run. */
static myth_status print_all(job *j, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (j->o->format == FORM_JSON) {
        myth_jout_start(&j->json, stdout);
        myth_jout_object(&j->json);
        myth_jout_key(&j->json, "candidates");
        myth_jout_array(&j->json);
    }
    for (uint32_t i = 0; i < j->files.n; i++) {
        pthread_mutex_lock(&j->mutex);
        while (!j->result[i].is_done)
            pthread_cond_wait(&j->ready, &j->mutex);
        pthread_mutex_unlock(&j->mutex);
        if (j->result[i].st != MYTH_OK && st == MYTH_OK) {
            st = j->result[i].st;
            *err = j->result[i].err;
        }
        print_file(j, i);
    }
    if (j->o->format == FORM_JSON) {
        myth_jout_end(&j->json);
        myth_jout_key_u64(&j->json, "files", j->n_file);
        myth_jout_key_u64(&j->json, "not_read", j->n_failed + j->files.missed.n);
        myth_jout_key_u64(&j->json, "functions", j->n_function);
        myth_jout_key_u64(&j->json, "lines", j->n_line);
        myth_jout_end(&j->json);
    }
    return st;
}

static myth_status run_job(job *j, myth_error *err)
{
    myth_thread thread[MOST_THREADS];
    const long n_core = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = j->cli->global->n_threads ? j->cli->global->n_threads : n_core > 0 ? (uint32_t)n_core : 1, running = 0;
    j->result = myth_alloc_n(j->cli->mem, MYTH_MEM_OTHER, "files with candidates", j->files.n, sizeof(*j->result));
    if (!j->result)
        return myth_fail(err, MYTH_ENOMEM, "%u files", j->files.n);
    n = n > MOST_THREADS ? MOST_THREADS : n;
    n = n > j->files.n ? j->files.n : n;
    pthread_mutex_init(&j->mutex, NULL);
    pthread_cond_init(&j->ready, NULL);
    while (running < n && myth_thread_start(&thread[running], work, j))
        running++;
    if (running == 0 && j->files.n > 0)
        work(j);
    const myth_status st = print_all(j, err);
    for (uint32_t i = 0; i < running; i++)
        myth_thread_join(&thread[i]);
    pthread_cond_destroy(&j->ready);
    pthread_mutex_destroy(&j->mutex);
    myth_free(j->cli->mem, j->result);
    return st;
}

static int run_candidates(myth_cli *cli, const void *opts)
{
    job j = {.cli = cli, .o = opts};
    myth_error err = {0};
    const myth_files_opts fo = {
        .path = (const char *const *)cli->arg,
        .n_path = (uint32_t)cli->n_arg,
        .include = j.o->include.item,
        .n_include = (uint32_t)j.o->include.n,
        .exclude = j.o->exclude.item,
        .n_exclude = (uint32_t)j.o->exclude.n,
        .cancel = cli->cancel,
    };
    j.has_worker = myth_cli_self(j.worker, sizeof(j.worker));
    myth_status st = choose_rules(&j, &err);
    if (st == MYTH_OK)
        st = myth_files_find(&j.files, cli->mem, &fo, &err);
    if (st == MYTH_OK)
        st = run_job(&j, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (st == MYTH_OK && (j.n_failed || j.files.missed.n || (cli->cancel && *cli->cancel)))
        code = MYTH_EXIT_INCOMPLETE;
    if (st == MYTH_OK)
        myth_term_note(cli->term, "%llu place%s in %llu line%s of %llu file%s", (unsigned long long)j.n_place,
                       myth_s(j.n_place), (unsigned long long)j.n_line, myth_s(j.n_line), (unsigned long long)j.n_file,
                       myth_s(j.n_file));
    if (st == MYTH_OK && j.n_skipped)
        myth_term_note(cli->term, "%llu file%s of languages without rules", (unsigned long long)j.n_skipped,
                       myth_s(j.n_skipped));
    myth_files_close(&j.files);
    return code;
}

const myth_command myth_cmd_candidates = {
    .name = "candidates",
    .args = "PATH...",
    .help = "list places of code that are worth a judgement, with the facts about each; no model is asked",
    .detail = "Rules about what happens in a function (which value comes from where, what is tested before it is used, "
              "what is released on which path) find places in C, C++, Python, JavaScript, TypeScript, Go, Java and "
              "Rust. Most of the places are harmless: they are no findings, and the exit code does not depend on how "
              "many there are. Files are named as for mythos inspect. Exit 3 when a file could not be read.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(*groups),
    .opts_bytes = sizeof(candidates_opts),
    .min_arg = 1,
    .max_arg = 4096,
    .run = run_candidates,
};
