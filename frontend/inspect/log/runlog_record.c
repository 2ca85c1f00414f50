/* runlog_record.c - fills the document of a run, and writes its redacted copy to the file. */
#include "runlog_record.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>

const myth_redactor *myth_record_redactor(const myth_runlog *log)
{
    return log->in ? myth_inspect_report(log->in)->redactor : NULL;
}

/* Writes the arguments in one line, for lists of runs. */
static void subject_of(myth_redacted *b, const myth_runlog *log)
{
    for (int i = 0; i < log->cli->n_arg; i++) {
        if (i)
            myth_redacted_add(b, NULL, " ", 1);
        const char *arg = log->cli->arg[i];
        if (myth_redacted_is_path(myth_record_redactor(log), arg))
            myth_redacted_add_path(b, arg);
        else
            myth_redacted_add(b, myth_record_redactor(log), arg, strlen(arg));
    }
}

/* Leaves a few words in place of the record, where the file takes them: the disk may be full. */
static void say_unlogged(myth_runlog *log, const char *why)
{
    myth_redacted subject = {.mem = log->mem};
    json_t *doc = json_pack("{s:i, s:I, s:I, s:s, s:s}", "format", MYTH_RUNLOG_FORMAT, "run", (json_int_t)log->run,
                            "began_ms", json_integer_value(json_object_get(log->doc, "began_ms")), "command",
                            log->cli->command->name, "unlogged", why);
    char *record = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
    subject_of(&subject, log);
    myth_runlog_file_hurry(log->file);
    if (record)
        myth_runlog_file_save(log->file, log->run, subject.n && !subject.has_failed ? subject.text : "", record,
                              strlen(record), NULL, NULL);
    free(record);
    json_decref(doc);
    myth_redacted_free(&subject);
}

void myth_record_give_up(myth_runlog *log, const myth_error *err)
{
    myth_term_progress_end(log->cli->term);
    myth_term_note(log->cli->term, "%s; this run is not logged", err->msg);
    if (log->file && log->run)
        say_unlogged(log, err->msg);
    myth_runlog_file_close(log->file);
    log->file = NULL;
}

void myth_record_no_memory(myth_runlog *log)
{
    myth_error err;
    myth_fail(&err, MYTH_ENOMEM, "the run log: no memory");
    myth_record_give_up(log, &err);
}

bool myth_record_is_on(const myth_runlog *log) { return log && log->file; }

void myth_record_set(myth_runlog *log, json_t *object, const char *key, json_t *v)
{
    if (myth_record_is_on(log) && json_object_set_new(object, key, v) != 0)
        myth_record_no_memory(log);
    else if (!myth_record_is_on(log))
        json_decref(v);
}

void myth_record_append(myth_runlog *log, json_t *array, json_t *v)
{
    if (myth_record_is_on(log) && json_array_append_new(array, v) != 0)
        myth_record_no_memory(log);
    else if (!myth_record_is_on(log))
        json_decref(v);
}

json_t *myth_record_text(const myth_runlog *log, const char *s)
{
    return s ? myth_json_lossy(log->mem, s, strlen(s)) : json_null();
}

void myth_record_set_text(myth_runlog *log, json_t *o, const char *key, const char *s)
{
    myth_record_set(log, o, key, myth_record_text(log, s));
}

void myth_record_set_number(myth_runlog *log, json_t *o, const char *key, uint64_t v)
{
    myth_record_set(log, o, key, json_integer((json_int_t)v));
}

void myth_record_set_real(myth_runlog *log, json_t *o, const char *key, double v)
{
    myth_record_set(log, o, key, v - v == 0 ? json_real(v) : json_null());
}

json_t *myth_record_exact(const char *s)
{
    json_t *j = json_string(s);
    if (j)
        return j;
    size_t n = strlen(s);
    char *hex = malloc(2 * n + 1);
    for (size_t i = 0; hex && i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)s[i]);
    j = hex ? json_pack("{s:s}", "hex", hex) : NULL;
    free(hex);
    return j;
}

json_t *myth_record_section(myth_runlog *log, const char *name, bool is_array)
{
    json_t *s = json_object_get(log->doc, name);
    if (!s) {
        myth_record_set(log, log->doc, name, is_array ? json_array() : json_object());
        s = myth_record_is_on(log) ? json_object_get(log->doc, name) : NULL;
    }
    return s;
}

/* ---- saving ---- */

/* Whether the command line had a secret: its redacted form is not the command that ran. */
static bool has_secret_in_command(const myth_runlog *log)
{
    static const char *const key[] = {"args", "options"};
    bool changed = false;
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        const json_t *j = json_object_get(log->doc, key[i]);
        if (j)
            json_decref(myth_redacted_json(j, myth_record_redactor(log), log->mem, &changed));
    }
    return changed;
}

static bool reads_standard_input(const myth_cli *cli)
{
    for (int i = 0; i < cli->n_arg; i++)
        if (strcmp(cli->arg[i], "-") == 0)
            return true;
    for (int i = 0; i < cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &cli->parsed->slot[i];
        if (s->opt->kind == MYTH_OPT_TEXT && *(const char **)s->field && strcmp(*(const char **)s->field, "-") == 0)
            return true;
    }
    return false;
}

void myth_record_save(myth_runlog *log, const int *exit_code)
{
    myth_error err = {0};
    bool changed = false;
    if (log->cli->device[0])
        myth_record_set_text(log, log->doc, "device", log->cli->device);
    json_t *why = json_array();
    if (has_secret_in_command(log))
        json_array_append_new(why,
                              json_string("a secret stands in the command line, and the log does not keep secrets"));
    if (reads_standard_input(log->cli))
        json_array_append_new(why, json_string("the text came from standard input, which the log does not keep"));
    if (json_object_get(log->doc, "repeats_lost"))
        json_array_append_new(why, json_string("it repeats a run that the log does not have any more"));
    myth_record_set(log, log->doc, "no_replay", why);
    if (!myth_record_is_on(log))
        return;
    json_t *out = myth_redacted_json(log->doc, myth_record_redactor(log), log->mem, &changed);
    myth_redacted subject = {.mem = log->mem};
    subject_of(&subject, log);
    char *record = out && !subject.has_failed ? json_dumps(out, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    if (!record)
        myth_record_no_memory(log);
    else if (myth_runlog_file_save(log->file, log->run, subject.n ? subject.text : "", record, strlen(record),
                                   exit_code, &err) != MYTH_OK)
        myth_record_give_up(log, &err);
    free(record);
    myth_redacted_free(&subject);
    json_decref(out);
    log->saved = myth_seconds();
}
