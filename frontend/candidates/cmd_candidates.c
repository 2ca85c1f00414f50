/* cmd_candidates.c - lists the places that the rules of retrieval/candidates find worth a judgement, with the facts
 * that speak for and against each, and, with --judge, how probable a model finds each to be a fault. They are no
 * findings. */
#include "finder.h"
#include "judge.h"

#include "engine/base/array.h"
#include "engine/base/program.h"
#include "engine/base/thread.h"
#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "frontend/inspect/select/diff.h"
#include "frontend/inspect/select/files.h"
#include "retrieval/retrieval.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    myth_opt_list include, exclude;
    const char *rules, *diff, *stdin_name;
    int format, prompts;
    bool judge, cache;
    uint64_t cache_limit;
    float confidence;
    myth_model_flags model;
    myth_engine_flags engine;
} candidates_opts;

/* FILES_AHEAD: so many files at most are read before they are printed, because a model is slower than the rules. */
enum {
    FORM_TEXT,
    FORM_JSON,
    FORM_JSONL,
    PROMPTS_NONE = 0,
    PROMPTS_FULL,
    PROMPTS_JUDGE,
    FILES_AHEAD = 64,
    OTHER_BYTES = 64 << 10, /* of finders, and what they keep of a file however small */
    FILE_BYTES_MAX = 64 << 20
};

static const myth_option candidates_options[] = {
    {"format", NULL, MYTH_OPT_CHOICE, "text|json|jsonl", offsetof(candidates_opts, format), "text", 0, 0,
     "how places are printed; jsonl: a line for each"},
    {"rules", NULL, MYTH_OPT_TEXT, "ID[,ID...]", offsetof(candidates_opts, rules), NULL, 0, 0,
     "only places of these rules"},
    {"include", NULL, MYTH_OPT_LIST, "GLOB", offsetof(candidates_opts, include), NULL, 0, 0,
     "of directories, read only files that match GLOB, such as *.{c,h}; may be given several times"},
    {"exclude", NULL, MYTH_OPT_LIST, "GLOB", offsetof(candidates_opts, exclude), NULL, 0, 0,
     "leave out files of directories that match GLOB; may be given several times"},
    {"stdin-filename", NULL, MYTH_OPT_TEXT, "FILE", offsetof(candidates_opts, stdin_name), NULL, 0, 0,
     "what - reads from standard input is the text of FILE: its name in the list, and its language"},
    {"cache", NULL, MYTH_OPT_FLAG, NULL, offsetof(candidates_opts, cache), "on", 0, 0,
     "keep the places of each file, and do not read a file of the same content again"},
    {"cache-limit", NULL, MYTH_OPT_SIZE, "SIZE", offsetof(candidates_opts, cache_limit), "1GiB", 0, 0,
     "most bytes of the file of kept places; full of what the last week used, it keeps nothing new"},
    {"judge", NULL, MYTH_OPT_FLAG, NULL, offsetof(candidates_opts, judge), NULL, 0, 0,
     "ask the model of -m, or the judge that ships, about each place, and print the probability that it is a fault"},
    {"confidence", NULL, MYTH_OPT_F32, "P", offsetof(candidates_opts, confidence), "0", 0, 1,
     "with --judge, print only places with at least this probability"},
    {"diff", NULL, MYTH_OPT_TEXT, "FILE", offsetof(candidates_opts, diff), NULL, 0, 0,
     "with --judge, a change that led to these files: a judge that reads what a change removed sees it"},
    {"judge-prompts", NULL, MYTH_OPT_CHOICE, "none|full|judge", offsetof(candidates_opts, prompts), "none", 0, 0,
     "with --judge, print the ids of each place's prompt instead of asking: full for any model that follows "
     "instructions, judge for one that was trained to judge. Needs no weights"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("candidates", candidates_opts, candidates_options),
    MYTH_GROUP_MODEL(candidates_opts, model),
    MYTH_GROUP_ENGINE(candidates_opts, engine),
};

/* What one file gave. */
typedef struct {
    myth_candidates found;
    unsigned char *text; /* until it is printed: lines are shown */
    size_t n_text;
    const char *language;
    myth_status st;
    myth_error err;
    bool is_done;
    bool is_fatal;   /* the failure is not the file's own */
    bool is_left;    /* a signal came before it was read */
    bool is_skipped; /* no rules for its language */
    bool is_kept;    /* its places are of an earlier run */
} file_result;

/* The prompts about a file's places, one after the other. */
typedef struct {
    int32_t *id;
    struct {
        uint32_t place;
        size_t from, n;
    } * prompt;
    size_t n_id, cap_id, n, cap;
} prompt_list;

typedef struct {
    myth_cli *cli;
    const candidates_opts *o;
    myth_files files;
    file_result *result; /* [files.n] */
    bool has_threads;
    char rule[MYTH_ARGS_NAMES][MYTH_CANDIDATES_NAME]; /* [n_rule] where some were chosen: a bit of `wanted` each */
    uint32_t n_rule;
    uint64_t wanted;
    uint32_t next, n_printed;
    pthread_mutex_t mutex;
    pthread_cond_t ready, more; /* ready: a file was read; more: one was printed */
    myth_json_out json;
    uint64_t n_line, n_place, n_function, n_file, n_failed, n_skipped, n_dropped, n_kept, n_left /* by a signal */;
    myth_finder *finder;
    /* with --judge */
    myth_model model;
    myth_judge *judge;
    myth_context *context;
    char worker[PATH_MAX]; /* the parsers' program */
    myth_engine *engine;
    myth_kept *kept;     /* scores of earlier runs */
    myth_diff diff;      /* with --diff */
    prompt_list prompts; /* with --judge-prompts: of the file's places */
    bool is_stopped;     /* by a signal: the rest is not judged, and not printed */
} job;

static void read_one(job *j, myth_chunker *chunker, uint32_t i)
{
    const myth_file *f = &j->files.file[i];
    file_result *r = &j->result[i];
    r->st = myth_cli_read(&r->text, &r->n_text, j->cli->mem, f->open, FILE_BYTES_MAX, &r->err);
    r->language = myth_detect_language(f->name, r->text, r->st == MYTH_OK ? r->n_text : 0);
    r->is_skipped = r->st == MYTH_OK && !myth_candidates_has(r->language);
    if (r->st == MYTH_OK && !r->is_skipped)
        r->st = myth_finder_find(&r->found, &r->is_kept, j->finder, chunker, r->language, f->name, r->text, r->n_text,
                                 &r->err);
}

/* Whether so many files wait to be printed that the next must wait too. A run without threads prints afterwards. */
static bool is_ahead(const job *j)
{
    return j->has_threads && j->next < j->files.n && j->next - j->n_printed >= FILES_AHEAD;
}

static void *work(void *arg)
{
    job *j = arg;
    myth_chunker *chunker = NULL;
    myth_error err = {0};
    const myth_status st = myth_finder_chunker(&chunker, j->finder, &err);
    for (;;) {
        pthread_mutex_lock(&j->mutex);
        while (is_ahead(j))
            pthread_cond_wait(&j->more, &j->mutex);
        const uint32_t i = j->next < j->files.n ? j->next++ : UINT32_MAX;
        pthread_mutex_unlock(&j->mutex);
        if (i == UINT32_MAX)
            break;
        if (st != MYTH_OK) {
            j->result[i].st = st;
            j->result[i].err = err;
            j->result[i].is_fatal = true;
        } else if (myth_cancelled(j->cli->cancel))
            j->result[i].is_left = true;
        else
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

static myth_status keep_prompt(void *user, uint32_t place, const int32_t *ids, size_t n, myth_error *err)
{
    job *j = user;
    prompt_list *l = &j->prompts;
    if (!MYTH_ARRAY_ROOM(j->cli->mem, MYTH_MEM_OTHER, "prompts", &l->prompt, l->n, &l->cap) ||
        !MYTH_ARRAY_MORE(j->cli->mem, MYTH_MEM_OTHER, "prompts", &l->id, l->n_id, n, &l->cap_id))
        return myth_fail(err, MYTH_ENOMEM, "a prompt of %zu tokens", n);
    memcpy(l->id + l->n_id, ids, n * sizeof(*ids));
    l->prompt[l->n].place = place;
    l->prompt[l->n].from = l->n_id;
    l->prompt[l->n++].n = n;
    l->n_id += n;
    return MYTH_OK;
}

/* A place has none where its lines do not fit, and two where it is asked about with comments and without. */
static void print_prompts(myth_json_out *out, const prompt_list *l, uint32_t place)
{
    myth_jout_key(out, "prompts");
    myth_jout_array(out);
    for (size_t i = 0; i < l->n; i++)
        if (l->prompt[i].place == place)
            myth_jout_ids(out, l->id + l->prompt[i].from, l->prompt[i].n);
    myth_jout_end(out);
}

/* score: NULL = no model was asked. */
static void print_json(job *j, const char *path, const myth_candidates *k, const myth_candidate_place *c,
                       const float *score, double probability)
{
    myth_json_out *out = &j->json;
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
    if (c->from != UINT32_MAX)
        myth_jout_key_u64(out, "call_offset", c->from);
    myth_jout_key_str(out, "why", k->names + c->say);
    if (j->o->prompts)
        print_prompts(out, &j->prompts, (uint32_t)(c - k->candidate));
    else if (score) {
        myth_jout_key(out, "probability");
        if (isnan(*score))
            myth_jout_null(out);
        else
            myth_jout_f64(out, probability);
        myth_jout_key(out, "score");
        if (isnan(*score))
            myth_jout_null(out);
        else
            myth_jout_f64(out, (double)*score);
    }
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

static void print_text(const char *path, const file_result *r, const myth_candidate_place *c, const float *score,
                       double probability)
{
    const myth_candidates *k = &r->found;
    myth_term_path(stdout, path);
    printf(":%u: ", c->line0);
    myth_term_path(stdout, k->names + c->rule);
    fputs(": ", stdout);
    myth_term_path(stdout, k->names + c->say);
    if (score && !isnan(*score))
        printf(" [%.2f]", probability);
    else if (score)
        fputs(" [not judged]", stdout);
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

/* Whether a path of the diff is that of a file, whose name may begin further down or further up. */
static bool is_path_of(const char *path, const char *name)
{
    const size_t n = strlen(path), m = strlen(name);
    const char *longer = n > m ? path : name, *shorter = n > m ? name : path;
    const size_t more = n > m ? n - m : m - n;
    return strcmp(longer + more, shorter) == 0 && (more == 0 || longer[more - 1] == '/');
}

/* Sets what the change removed from a file; *list is the caller's to free. */
static myth_status find_removed(myth_removed **list, uint32_t *n, const job *j, const char *name, myth_error *err)
{
    *list = NULL;
    *n = 0;
    for (uint32_t i = 0; i < j->diff.n_file; i++) {
        const myth_diff_file *f = &j->diff.file[i];
        if (!f->n_removed || f->kind == MYTH_DIFF_DELETED || f->skipped || !is_path_of(f->path, name))
            continue;
        *list = myth_diff_removed_list(f, j->cli->mem);
        if (!*list)
            return myth_fail(err, MYTH_ENOMEM, "%u removed places", f->n_removed);
        *n = f->n_removed;
        return MYTH_OK;
    }
    return MYTH_OK;
}

/* Asks the model about the file's places; *score [found.n] is the caller's to free. */
static myth_status judge_file(job *j, uint32_t i, float **score, myth_error *err)
{
    const file_result *r = &j->result[i];
    const uint32_t n = r->found.n;
    *score = NULL;
    if (!j->judge || !n)
        return MYTH_OK;
    bool *is_chosen = myth_alloc_n(j->cli->mem, MYTH_MEM_OTHER, "places", n, sizeof(*is_chosen));
    *score = myth_alloc_n(j->cli->mem, MYTH_MEM_OTHER, "places", n, sizeof(**score));
    myth_removed *removed = NULL;
    uint32_t n_removed = 0;
    myth_status st = is_chosen && *score ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "%u places", n);
    if (st == MYTH_OK)
        st = find_removed(&removed, &n_removed, j, j->files.file[i].name, err);
    if (st == MYTH_OK) {
        for (uint32_t c = 0; c < n; c++)
            is_chosen[c] = is_wanted(j, r->found.names + r->found.candidate[c].rule);
        const myth_judge_job what = {
            .path = j->files.file[i].name,
            .text = r->text,
            .n_text = r->n_text,
            .language = r->language,
            .found = &r->found,
            .is_wanted = is_chosen,
            .removed = removed,
            .n_removed = n_removed,
        };
        j->prompts.n = j->prompts.n_id = 0;
        st = myth_judge_file(j->judge, j->engine, &what, *score, err);
    }
    myth_free(j->cli->mem, removed);
    myth_free(j->cli->mem, is_chosen);
    return st;
}

static void print_file(job *j, uint32_t i, const float *score)
{
    const char *path = j->files.file[i].name;
    file_result *r = &j->result[i];
    if (r->st != MYTH_OK) {
        j->n_failed++;
        myth_term_note(j->cli->term, "not read: %s", r->err.msg);
    }
    if (r->st == MYTH_OK && r->found.note[0] && !r->is_skipped) {
        j->n_failed++;
        myth_term_note(j->cli->term, "not read%s: %s: %s", r->found.cut_line ? " to its end" : "", path, r->found.note);
    }
    j->n_file += r->st == MYTH_OK && !r->is_skipped && (!r->found.note[0] || r->found.cut_line);
    j->n_skipped += r->is_skipped;
    j->n_kept += r->is_kept;
    j->n_function += r->found.n_function;
    for (size_t b = 0; b < r->n_text && !r->is_skipped; b++)
        j->n_line += r->text[b] == '\n';
    for (uint32_t c = 0; c < r->found.n; c++) {
        const myth_candidate_place *k = &r->found.candidate[c];
        if (!is_wanted(j, r->found.names + k->rule))
            continue;
        const float *of = score ? &score[c] : NULL;
        j->n_place++;
        const double probability =
            of ? myth_judge_probability(j->judge, &r->found, k, *of, j->files.file[i].is_test) : 0;
        if (of && j->o->confidence > 0.0f && !(probability >= (double)j->o->confidence)) {
            j->n_dropped += !isnan(probability); /* those that were not judged are counted by the judge */
            continue;
        }
        if (j->o->format == FORM_TEXT)
            print_text(path, r, k, of, probability);
        else {
            if (j->o->format == FORM_JSONL)
                myth_jout_start(&j->json, stdout);
            print_json(j, path, &r->found, k, of, probability);
        }
    }
}

static void drop_file(job *j, uint32_t i)
{
    file_result *r = &j->result[i];
    myth_candidates_free(&r->found, j->cli->mem);
    myth_free(j->cli->mem, r->text);
    r->text = NULL;
}

static void print_judged(job *j)
{
    const myth_judge_counts n = myth_judge_counted(j->judge);
    myth_json_out *out = &j->json;
    double confidence;
    myth_jout_key(out, "judged");
    myth_jout_object(out);
    myth_jout_key_str(out, "model", myth_weights_name(j->model.weights));
    myth_jout_key_bool(out, "calibrated", myth_judge_is_calibrated(j->judge, &confidence));
    myth_jout_key_f64(out, "confidence", confidence);
    myth_jout_key_u64(out, "places", n.n_place - n.n_unjudged);
    myth_jout_key_u64(out, "not_judged", n.n_unjudged + n.n_unknown);
    myth_jout_key_u64(out, "dropped", j->n_dropped);
    myth_jout_key_u64(out, "prompts", n.n_prompt);
    myth_jout_key_u64(out, "prompt_tokens", n.n_prefix_tok);
    myth_jout_key_u64(out, "question_tokens", n.n_question_tok);
    myth_jout_key_f64(out, "prompt_seconds", n.prefix_s);
    myth_jout_key_f64(out, "question_seconds", n.question_s);
    myth_jout_end(out);
}

/* Whether a file's failure is the command's: it is not the file's own, or the caller named a file that is missing. */
static bool ends_run(const job *j, uint32_t i)
{
    const file_result *r = &j->result[i];
    if (r->is_fatal || r->st == MYTH_ENOMEM)
        return true;
    for (int a = 0; a < j->cli->n_arg && r->st == MYTH_ENOTFOUND; a++)
        if (strcmp(j->cli->arg[a], j->files.file[i].open) == 0)
            return true;
    return false;
}

/* Prints the files in their order, each as soon as it was read. One that cannot be read is counted and named. */
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
        const file_result *r = &j->result[i];
        float *score = NULL;
        if (st == MYTH_OK && r->st != MYTH_OK && ends_run(j, i)) {
            st = r->st;
            *err = r->err;
        }
        if (st == MYTH_OK && !j->is_stopped)
            st = judge_file(j, i, &score, err);
        j->is_stopped = j->is_stopped || r->is_left || st == MYTH_ECANCEL;
        if (st == MYTH_ECANCEL)
            st = MYTH_OK;
        if (st == MYTH_OK && !j->is_stopped)
            print_file(j, i, score);
        j->n_left += j->is_stopped;
        drop_file(j, i);
        myth_free(j->cli->mem, score);
        pthread_mutex_lock(&j->mutex);
        j->n_printed = i + 1;
        pthread_cond_broadcast(&j->more);
        pthread_mutex_unlock(&j->mutex);
        if (j->judge)
            myth_term_progress(j->cli->term, "judge", i + 1, j->files.n);
    }
    myth_term_progress_end(j->cli->term);
    if (j->o->format == FORM_JSON) {
        myth_jout_end(&j->json);
        myth_jout_key_u64(&j->json, "files", j->n_file);
        myth_jout_key_u64(&j->json, "not_read", j->n_failed + j->files.missed.n + j->n_left);
        myth_jout_key_bool(&j->json, "interrupted", j->n_left > 0);
        myth_jout_key_u64(&j->json, "functions", j->n_function);
        myth_jout_key_u64(&j->json, "lines", j->n_line);
        myth_jout_key_u64(&j->json, "from_cache", j->n_kept);
        if (j->judge)
            print_judged(j);
        myth_jout_end(&j->json);
    }
    return st;
}

static myth_status run_job(job *j, myth_error *err)
{
    myth_thread thread[MYTH_FINDER_THREADS];
    const uint32_t n = myth_finder_threads(j->cli, j->files.n);
    uint32_t running = 0;
    j->result = myth_alloc_n(j->cli->mem, MYTH_MEM_OTHER, "files with candidates", j->files.n, sizeof(*j->result));
    if (!j->result)
        return myth_fail(err, MYTH_ENOMEM, "%u files", j->files.n);
    pthread_mutex_init(&j->mutex, NULL);
    pthread_cond_init(&j->ready, NULL);
    pthread_cond_init(&j->more, NULL);
    j->has_threads = true;
    while (running < n && myth_thread_start(&thread[running], work, j))
        running++;
    if (running == 0 && j->files.n > 0) {
        j->has_threads = false;
        work(j);
    }
    const myth_status st = print_all(j, err);
    for (uint32_t i = 0; i < running; i++)
        myth_thread_join(&thread[i]);
    pthread_cond_destroy(&j->ready);
    pthread_cond_destroy(&j->more);
    pthread_mutex_destroy(&j->mutex);
    myth_free(j->cli->mem, j->result);
    return st;
}

static myth_status read_diff(job *j, myth_error *err)
{
    unsigned char *text = NULL;
    size_t n = 0;
    if (!j->o->diff)
        return MYTH_OK;
    myth_status st = myth_cli_read_given(&text, &n, j->cli->mem, j->o->diff, MYTH_DIFF_BYTES, err);
    if (st == MYTH_OK)
        st = myth_diff_parse(&j->diff, j->cli->mem, (const char *)text, n, err);
    myth_free(j->cli->mem, text);
    return st;
}

/* What the files, their places and judging them take beside the engine: of a file in memory its text and what the rules
 * say of it, of the one that is judged also what the judge needs. */
static myth_plan_extra needs(const job *j)
{
    uint64_t longest = 0, held = 0, most = 0;
    uint64_t size[FILES_AHEAD] = {0};
    for (uint32_t i = 0; i < j->files.n; i++) {
        struct stat s;
        uint64_t *at = &size[i % FILES_AHEAD]; /* of the file that is dropped when this one is read */
        const bool is_known = stat(j->files.file[i].open, &s) == 0 && s.st_size < FILE_BYTES_MAX;
        held -= *at;
        *at = is_known ? (uint64_t)s.st_size : 0;
        held += *at;
        longest = *at > longest && *at <= MYTH_SOURCE_MAX ? *at : longest; /* a larger one is not judged */
        most = held > most ? held : most;
    }
    const myth_mem *mem = j->cli->mem;
    const uint64_t staging = myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live + most + longest +
                             myth_judge_staging(j->judge, longest),
                   least = myth_cli_staging(j->cli);
    myth_plan_extra extra = {0};
    extra.bytes[MYTH_MEM_STAGING] = staging > least ? staging : least;
    extra.bytes[MYTH_MEM_OTHER] = j->files.n * sizeof(*j->result) + 2 * most + 4 * longest + OTHER_BYTES;
    return extra;
}

/* Opens the model and what the questions need. */
static myth_status open_judge(job *j, myth_error *err)
{
    const candidates_opts *o = j->o;
    char spec[PATH_MAX];
    myth_model_flags model = o->model;
    const myth_context_opts co = {
        .worker_path = myth_program_start(j->worker, sizeof(j->worker)) ? j->worker : NULL,
        .cancel = j->cli->cancel,
    };
    myth_judge_opts jo = {
        .cancel = j->cli->cancel,
        .is_short = o->prompts == PROMPTS_JUDGE,
        .is_dry = o->prompts != PROMPTS_NONE,
        .on_prompt = o->prompts ? keep_prompt : NULL,
        .user = j,
    };
    myth_engine_opts eo;
    if (o->prompts && o->format == FORM_TEXT)
        return myth_fail(err, MYTH_EARG, "--judge-prompts: add --format json or jsonl");
    if (!o->judge && o->prompts)
        return myth_fail(err, MYTH_EARG, "--judge-prompts: add --judge");
    if (!o->judge)
        return myth_args_is_flag(j->cli->parsed, "confidence") || myth_args_is_flag(j->cli->parsed, "model") || o->diff
                 ? myth_fail(err, MYTH_EARG, "only --judge asks a model about the places; add it")
                 : MYTH_OK;
    myth_status st = read_diff(j, err);
    if (st != MYTH_OK)
        return st;
    if (!model.model && myth_cli_judge_spec(spec, sizeof(spec)))
        model.model = spec;
    st = myth_cli_model_open(j->cli, &j->model, &model, &o->engine,
                             o->prompts ? MYTH_WEIGHTS_CONFIG : MYTH_WEIGHTS_DATA, err);
    if (st == MYTH_OK)
        st = myth_context_open(&j->context, &co, err);
    jo.context = j->context;
    if (st == MYTH_OK && o->cache && !o->prompts)
        jo.kept = j->kept = myth_finder_scores(j->cli, &o->engine, &j->model, o->cache_limit);
    if (st == MYTH_OK)
        st = myth_judge_open(&j->judge, &j->model, &jo, err);
    if (st == MYTH_OK && o->prompts)
        return MYTH_OK;
    if (st == MYTH_OK)
        st = myth_cli_engine_opts(j->cli, &eo, &o->engine, err);
    if (st != MYTH_OK)
        return st;
    myth_judge_needs(j->judge, &eo);
    const myth_plan_extra extra = needs(j);
    st = myth_cli_plan(j->cli, &j->model, &eo, &extra, err);
    return st == MYTH_OK ? myth_cli_engine_open(j->cli, &j->engine, &j->model, &eo, err) : st;
}

static void close_judge(job *j)
{
    myth_diff_free(&j->diff);
    myth_free(j->cli->mem, j->prompts.prompt);
    myth_free(j->cli->mem, j->prompts.id);
    myth_engine_close(j->engine);
    myth_judge_close(j->judge);
    myth_kept_close(j->kept);
    myth_context_close(j->context);
    myth_model_close(&j->model);
}

/* Names the first files that were left out before they were read. */
static void name_missed(const job *j)
{
    enum { MOST = 8 };
    const myth_missed_list *l = &j->files.missed;
    for (uint32_t i = 0; i < l->n && i < MOST; i++)
        myth_term_note(j->cli->term, "not read: %s: %s", l->row[i].path, l->row[i].why);
    if (l->n > MOST)
        myth_term_note(j->cli->term, "not read: %u more", l->n - MOST);
}

static int run_candidates(myth_cli *cli, const void *opts)
{
    job j = {.cli = cli, .o = opts};
    char left[MYTH_LEFT_OUT_CAP];
    myth_error err = {0};
    const myth_files_opts fo = {
        .path = (const char *const *)cli->arg,
        .n_path = (uint32_t)cli->n_arg,
        .include = j.o->include.item,
        .n_include = (uint32_t)j.o->include.n,
        .exclude = j.o->exclude.item,
        .n_exclude = (uint32_t)j.o->exclude.n,
        .stdin_name = j.o->stdin_name,
        .cancel = cli->cancel,
    };
    myth_status st = choose_rules(&j, &err);
    if (st == MYTH_OK)
        st = myth_finder_open(&j.finder, cli, j.o->cache, j.o->cache_limit, &err);
    if (st == MYTH_OK)
        st = myth_files_find(&j.files, cli->mem, &fo, &err);
    if (st == MYTH_OK)
        st = open_judge(&j, &err);
    if (st == MYTH_OK)
        st = run_job(&j, &err);
    if (st == MYTH_OK) {
        myth_left_out_text(&j.files.left_out, left);
        if (left[0])
            myth_term_note(cli->term, "%s", left);
        name_missed(&j);
    }
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (st == MYTH_OK && (j.n_failed || j.files.missed.n || myth_cancelled(cli->cancel)))
        code = MYTH_EXIT_INCOMPLETE;
    if (st == MYTH_OK)
        myth_term_note(cli->term, "%llu place%s in %llu line%s of %llu file%s", (unsigned long long)j.n_place,
                       myth_s(j.n_place), (unsigned long long)j.n_line, myth_s(j.n_line), (unsigned long long)j.n_file,
                       myth_s(j.n_file));
    if (st == MYTH_OK && j.n_left)
        myth_term_note(cli->term, "interrupted: %llu of %u files are not in this list", (unsigned long long)j.n_left,
                       j.files.n);
    if (st == MYTH_OK && j.judge) {
        const uint64_t n_unjudged = myth_judge_counted(j.judge).n_unjudged,
                       n_unknown = myth_judge_counted(j.judge).n_unknown;
        if (n_unknown) {
            myth_term_note(cli->term, "%llu not judged: the judge was not trained on their language",
                           (unsigned long long)n_unknown);
            code = MYTH_EXIT_INCOMPLETE;
        }
        if (j.n_dropped)
            myth_term_note(cli->term, "%llu less probable than %.2f", (unsigned long long)j.n_dropped,
                           (double)j.o->confidence);
        if (n_unjudged)
            myth_term_note(cli->term, "%llu not judged: their lines do not fit the prompt",
                           (unsigned long long)n_unjudged);
        double confidence;
        if (myth_judge_is_calibrated(j.judge, &confidence))
            myth_term_note(cli->term, "inspect --find candidates takes what has at least %.2f", confidence);
        else if (!j.o->prompts)
            myth_term_note(cli->term,
                           "the probabilities of this model are not calibrated: compare them with each other");
    }
    if (st == MYTH_OK && j.n_skipped)
        myth_term_note(cli->term, "%llu file%s of languages without rules", (unsigned long long)j.n_skipped,
                       myth_s(j.n_skipped));
    close_judge(&j);
    myth_finder_close(j.finder);
    myth_files_close(&j.files);
    return code;
}

const myth_command myth_cmd_candidates = {
    .name = "candidates",
    .args = "PATH...",
    .help = "list places of code that are worth a judgement, with the facts about each; --judge asks a model",
    .detail =
        "Rules about what happens in a function (which value comes from where, what is tested before it is used, "
        "what is released on which path) find places in C, C++, Python, JavaScript, TypeScript, Go, Java and "
        "Rust. Most of the places are harmless: they are no findings, and the exit code does not depend on how "
        "many there are. Files are named as for mythos inspect (- is standard input; --stdin-filename names it). With "
        "--judge a model reads each function once, "
        "with the definitions of what it calls and the lines that call it in the same file, and says of each "
        "place how probable it is that it is a fault, without writing any text; what comments "
        "say does not count in a place's favour. Without -m the judge that ships does that; of "
        "another model it takes that it answers questions, which the shipped inspector does not. Exit 3 when a file "
        "could not be read, or a place could not be judged.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(*groups),
    .opts_bytes = sizeof(candidates_opts),
    .min_arg = 1,
    .max_arg = 4096,
    .run = run_candidates,
};
