/* repeat.c - the key of a run, and what is kept under it.
 *
 * Stored   blocks, each its length (8 bytes, little endian) and bytes: the looks; the numbers (exit code, answers, run
 *          and time in the log); the notes; standard output; each --output in order; the patch */
#include "repeat.h"

#include "engine/base/outfile.h"
#include "frontend/candidates/inspect_base.h"
#include "frontend/cli/environment.h"
#include "frontend/inspect/report/outputs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { REPEAT_VERSION = 1, LENGTH_BYTES = 8 };

typedef struct {
    int64_t code, n_answer;
    myth_runlog_place place;
} numbers;

/* ---- the key ---- */

/* Whether a flag says nothing about what is printed. --no-cache and the like do not come here. */
static bool is_silent(const char *name)
{
    static const char *const list[] = {"quiet",       "verbose", "log-format",  "show-config", "log",         "no-log",
                                       "log-prompts", "jobs",    "cache-limit", "log-keep",    "log-max-size"};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static void add_text(myth_kept *k, const char *text) { myth_kept_add(k, text ? text : "", text ? strlen(text) : 0); }

/* Of FORM=PATH the form alone: where it is written changes nothing. */
static void add_item(myth_kept *k, const char *item, bool is_output)
{
    myth_kept_add(k, item, is_output ? strcspn(item, "=") : strlen(item));
}

static void add_flags(myth_repeat *r)
{
    for (int i = 0; i < r->cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &r->cli->parsed->slot[i];
        char value[256];
        if (is_silent(s->opt->name))
            continue;
        add_text(r->kept, s->opt->name);
        if (s->opt->kind == MYTH_OPT_LIST) {
            const myth_opt_list *list = s->field;
            for (int k = 0; k < list->n; k++)
                add_item(r->kept, list->item[k], !strcmp(s->opt->name, "output"));
        } else if (!strcmp(s->opt->name, "patch")) { /* where it is written changes nothing */
            add_text(r->kept, r->o->patch ? "a patch" : "");
        } else if (myth_args_is_text(s->opt)) {
            add_text(r->kept, *(const char **)s->field);
        } else {
            myth_args_text(s, value, sizeof(value));
            add_text(r->kept, s->source != MYTH_FROM_DEFAULT && s->text ? s->text : value);
        }
    }
}

/* Adds a file by its bytes. False: it cannot be read. */
static bool add_file(myth_repeat *r, const char *path, myth_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    if (!path)
        return true;
    if (myth_cli_read(&bytes, &n, r->cli->mem, path, MYTH_SOURCE_MAX, err) != MYTH_OK)
        return false;
    myth_kept_add(r->kept, bytes, n);
    myth_free(r->cli->mem, bytes);
    return true;
}

/* Adds the files of a model. What the name of a model of the cache means is asked of its configuration alone. */
static bool add_spec(myth_repeat *r, myth_inspect_base *b, const char *spec, myth_error *err)
{
    struct stat sb;
    const myth_weights_opts opts = {.level = MYTH_WEIGHTS_HEADER, .hub_dir = myth_env_hub_dir()};
    myth_weights *w = NULL;
    myth_base_add(b, "spec", spec);
    if (!strncmp(spec, "random:", 7))
        return true;
    if (stat(spec, &sb) == 0) {
        myth_base_model(b, spec);
        return true;
    }
    if (myth_weights_open(&w, r->cli->mem, spec, &opts, err) != MYTH_OK)
        return false;
    myth_base_model(b, myth_weights_path(w));
    myth_base_files(b, w);
    myth_weights_close(w);
    return true;
}

/* Adds the run's model, and the one that may judge places. */
static bool add_models(myth_repeat *r, myth_inspect_base *b, myth_error *err)
{
    char spec[PATH_MAX];
    const myth_model_flags *f = &r->o->model;
    const char *judge = r->o->judged.model;
    if (myth_cli_model_spec(f, spec, sizeof(spec), err) != MYTH_OK || !add_spec(r, b, spec, err))
        return false;
    if (f->tokenizer)
        myth_base_model(b, f->tokenizer);
    if (!judge && myth_cli_judge_spec(spec, sizeof(spec)))
        judge = spec;
    return r->o->judged.find == MYTH_FIND_MODEL || !judge || add_spec(r, b, judge, err);
}

static bool may_repeat(const myth_repeat *r)
{
    const myth_inspect_flags *o = r->o;
    return r->kept && r->job->inputs && r->job->looks && o->cache && !o->since && !o->update_baseline && !o->dry_run &&
           !r->cli->global->mem_report && o->format != MYTH_FORM_HTML && !myth_outputs_have(&o->output, MYTH_FORM_HTML);
}

/* newest_ns NULL: by the bytes of the files; else by what stat says of them. */
static bool make_key(myth_repeat *r, myth_kept_key *key, int64_t *newest_ns, myth_error *err)
{
    const int shown[] = {REPEAT_VERSION, r->cli->term->has_color_out, r->cli->term->is_terminal_out, newest_ns != NULL};
    myth_inspect_base *b = calloc(1, sizeof(*b));
    bool is_made =
        b && myth_base_settings(b, r->cli, &r->o->engine, r->sample, err) == MYTH_OK && add_models(r, b, err);
    if (is_made) {
        myth_kept_begin(r->kept);
        myth_kept_add(r->kept, b->text, b->n);
        myth_kept_add(r->kept, shown, sizeof(shown));
        add_text(r->kept, r->cli->command->name);
        add_text(r->kept, r->job->root);
        add_flags(r);
        is_made = add_file(r, r->o->baseline, err) &&
                  r->job->inputs(r->job->user, r->cli, r->kept, newest_ns, err) == MYTH_OK;
        *key = myth_kept_end(r->kept);
    }
    free(b);
    return is_made;
}

/* Finds the key of the files' bytes, by what stat says of them when that was seen before. */
static bool find_key(myth_repeat *r, myth_error *err)
{
    size_t n = 0;
    if (!make_key(r, &r->stat_key, &r->newest_ns, err))
        return false;
    unsigned char *key = myth_kept_get_report(r->kept, &r->stat_key, &n);
    r->is_read = !key || n != sizeof(r->key.byte);
    if (!r->is_read)
        memcpy(r->key.byte, key, sizeof(r->key.byte));
    free(key);
    return !r->is_read || make_key(r, &r->key, NULL, err);
}

/* Lets what stat says lead to the key from now on. */
static void keep_times(myth_repeat *r)
{
    enum { QUIET_S = 2 }; /* the coarsest times of a file system in use */
    if (r->is_read && r->began_ns - r->newest_ns > (int64_t)QUIET_S * 1000000000)
        myth_kept_put_report(r->kept, &r->stat_key, r->key.byte, sizeof(r->key.byte));
}

void myth_repeat_begin(myth_repeat *r, myth_cli *cli, const myth_inspect_flags *o, const myth_inspect_job *job,
                       const myth_sample_params *sample, myth_kept *kept)
{
    myth_error err = {0}; /* whoever does the work meets it again, and says it */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *r = (myth_repeat){.cli = cli, .o = o, .job = job, .sample = sample, .kept = kept};
    r->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (!may_repeat(r) || !find_key(r, &err) || myth_mem_open(&job->looks->mem, 0, &err) != MYTH_OK)
        r->kept = NULL;
    if (r->kept)
        cli->term->notes = open_memstream(&r->notes, &r->n_notes);
}

static void end_notes(myth_repeat *r)
{
    if (r->cli && r->cli->term->notes) {
        fclose(r->cli->term->notes);
        r->cli->term->notes = NULL;
    }
}

/* ---- taking ---- */

typedef struct {
    const unsigned char *at;
    size_t left;
} reader;

/* The next block; false when there is none. */
static bool next_block(reader *in, const unsigned char **bytes, size_t *n)
{
    uint64_t len = 0;
    if (in->left < LENGTH_BYTES)
        return false;
    for (int i = 0; i < LENGTH_BYTES; i++)
        len |= (uint64_t)in->at[i] << 8 * i;
    if (len > in->left - LENGTH_BYTES)
        return false;
    *bytes = in->at + LENGTH_BYTES;
    *n = (size_t)len;
    in->at += LENGTH_BYTES + len;
    in->left -= LENGTH_BYTES + (size_t)len;
    return true;
}

static myth_status write_file(const char *path, const unsigned char *bytes, size_t n, myth_error *err)
{
    FILE *f;
    myth_out o;
    const myth_status st = myth_out_print_open(&o, &f, path, err);
    if (st != MYTH_OK)
        return st;
    fwrite(bytes, 1, n, f);
    return myth_out_print_close(&o, f, MYTH_OK, err);
}

static void say_notes(const myth_repeat *r, const unsigned char *notes, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && notes[end]; end++) {}
        myth_term_note(r->cli->term, "%.*s", (int)(end - at), (const char *)notes + at);
    }
}

/* Prints and writes the blocks behind the notes. */
static myth_status write_all(const myth_repeat *r, reader *in, myth_error *err)
{
    const unsigned char *bytes;
    size_t n;
    myth_status st = MYTH_OK;
    if (!next_block(in, &bytes, &n))
        return MYTH_OK;
    fwrite(bytes, 1, n, stdout);
    for (int i = 0; i < r->o->output.n && st == MYTH_OK && next_block(in, &bytes, &n); i++)
        st = write_file(strchr(r->o->output.item[i], '=') + 1, bytes, n, err);
    if (st == MYTH_OK && r->o->patch && next_block(in, &bytes, &n))
        st = write_file(r->o->patch, bytes, n, err);
    return st;
}

/* Whether the rest has as many blocks as this run writes. */
static bool is_whole(const myth_repeat *r, reader in)
{
    const unsigned char *bytes;
    size_t n;
    int left = 1 + r->o->output.n + (r->o->patch != NULL);
    while (left && next_block(&in, &bytes, &n))
        left--;
    return !left && !in.left;
}

static bool is_plausible(const numbers *its)
{
    return (its->code == MYTH_EXIT_CLEAN || its->code == MYTH_EXIT_FINDINGS || its->code == MYTH_EXIT_INCOMPLETE) &&
           its->n_answer >= 0 && its->n_answer <= UINT32_MAX;
}

bool myth_repeat_take(myth_repeat *r, myth_runlog *log, int *code)
{
    size_t n = 0, n_look, n_number, n_note, n_report;
    const unsigned char *look, *number, *note, *report;
    numbers its;
    myth_error err = {0};
    unsigned char *body = r->kept ? myth_kept_get_report(r->kept, &r->key, &n) : NULL;
    reader in = {body, n};
    const bool is_there = body && next_block(&in, &look, &n_look) && next_block(&in, &number, &n_number) &&
                          n_number == sizeof(its) && next_block(&in, &note, &n_note) && is_whole(r, in) &&
                          myth_looks_hold(look, n_look);
    if (is_there)
        memcpy(&its, number, sizeof(its));
    if (!is_there || !is_plausible(&its)) {
        free(body);
        return false;
    }
    reader printed = in;
    end_notes(r);
    keep_times(r);
    if (myth_runlog_has(log, &its.place))
        myth_runlog_repeats(log, &its.place);
    else if (next_block(&printed, &report, &n_report))
        myth_runlog_repeats_lost(log, (myth_form)r->o->format, report, n_report);
    say_notes(r, note, n_note);
    if (its.n_answer)
        myth_term_note(r->cli->term, "%lld of %lld answers from earlier runs; --no-cache asks the model again",
                       (long long)its.n_answer, (long long)its.n_answer);
    else
        myth_term_note(r->cli->term, "the report of an earlier run: nothing has changed; --no-cache does it again");
    *code = write_all(r, &in, &err) == MYTH_OK ? (int)its.code : myth_cli_fail(r->cli, &err);
    free(body);
    return true;
}

/* ---- keeping ---- */

/* Begins a block; end_block writes its length where it began. */
static long begin_block(FILE *f)
{
    static const unsigned char none[LENGTH_BYTES];
    const long at = ftell(f);
    fwrite(none, 1, sizeof(none), f);
    return at;
}

static void end_block(FILE *f, long at)
{
    unsigned char len[LENGTH_BYTES];
    const long end = ftell(f);
    for (int i = 0; i < LENGTH_BYTES; i++)
        len[i] = (unsigned char)((uint64_t)(end - at - LENGTH_BYTES) >> 8 * i);
    fseek(f, at, SEEK_SET);
    fwrite(len, 1, sizeof(len), f);
    fseek(f, end, SEEK_SET);
}

static void put_block(FILE *f, const void *bytes, size_t n)
{
    const long at = begin_block(f);
    fwrite(bytes, 1, n, f);
    end_block(f, at);
}

void myth_repeat_render(myth_repeat *r, const myth_report *report, const myth_patches *patch)
{
    FILE *f = r->kept && !r->is_rendered ? open_memstream(&r->body, &r->n_body) : NULL;
    if (!f)
        return;
    myth_term out = *r->cli->term;
    const myth_term plain = {0};
    out.as_out = f;
    long at = begin_block(f);
    myth_output_render(f, (myth_form)r->o->format, report, &out);
    end_block(f, at);
    for (int i = 0; i < r->o->output.n; i++) {
        at = begin_block(f);
        myth_output_render(f, myth_outputs_form(r->o->output.item[i]), report, &plain);
        end_block(f, at);
    }
    myth_status st = MYTH_OK;
    if (r->o->patch) {
        at = begin_block(f);
        st = myth_patches_print(f, patch, NULL);
        end_block(f, at);
    }
    r->is_rendered = fclose(f) == 0 && st == MYTH_OK;
}

void myth_repeat_keep(myth_repeat *r, const myth_runlog *log, uint32_t n_answer, int code)
{
    char *all = NULL;
    size_t n = 0;
    myth_kept_key now;
    int64_t newest_ns = 0;
    if (!r->kept || !r->is_rendered || r->job->looks->is_lost)
        return;
    end_notes(r);
    /* The answers' keys are those of the model by now; this one is made as at first. */
    if (!myth_kept_rebase(r->kept, "", 0) || !make_key(r, &now, &newest_ns, NULL) ||
        memcmp(&now, &r->stat_key, sizeof(now)) != 0)
        return;
    FILE *f = r->notes ? open_memstream(&all, &n) : NULL;
    if (!f)
        return;
    numbers its;
    memset(&its, 0, sizeof(its));
    its.code = code;
    its.n_answer = n_answer;
    its.place = myth_runlog_here(log);
    put_block(f, r->job->looks->row ? r->job->looks->row : (const unsigned char *)"", r->job->looks->n);
    put_block(f, &its, sizeof(its));
    put_block(f, r->notes, r->n_notes);
    fwrite(r->body, 1, r->n_body, f);
    if (fclose(f) == 0)
        myth_kept_put_report(r->kept, &r->key, all, n);
    free(all);
    keep_times(r);
}

void myth_repeat_close(myth_repeat *r)
{
    end_notes(r);
    free(r->notes);
    free(r->body);
    if (r->job && r->job->looks && r->job->looks->mem) {
        myth_mem *mem = r->job->looks->mem;
        myth_looks_close(r->job->looks);
        myth_mem_close(mem);
    }
    *r = (myth_repeat){0};
}
