/* runlog.c - begins and ends a run's record, and records what needs only a line: texts, counts, stages. runlog.h has
 * the form. */
#include "runlog.h"

#include "engine/base/clock.h"
#include "runlog_record.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

const myth_option myth_options_runlog[MYTH_N_OPTIONS_RUNLOG] = {
    {"log", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_runlog_flags, path), "($XDG_STATE_HOME/mythos/runs.db)", 0, 0,
     "where the run is recorded; mythos log reads it"},
    {"no-log", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_runlog_flags, is_off), NULL, 0, 0, "do not record the run"},
    {"log-prompts", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_runlog_flags, prompts), "on", 0, 0,
     "record prompts and answers, secrets named; --no-log-prompts records their hashes and counts"},
    {"log-keep", NULL, MYTH_OPT_U32, "N", offsetof(myth_runlog_flags, max_runs), "1000", 1, 1 << 30,
     "most runs that the log keeps: when one ends, the oldest beyond them are deleted"},
    {"log-max-size", NULL, MYTH_OPT_SIZE, "SIZE", offsetof(myth_runlog_flags, max_bytes), "64MiB", 0, 0,
     "most bytes of the runs that the log keeps, as far as one run is not larger"},
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static myth_status open_file(myth_runlog *log, const myth_runlog_flags *f, myth_error *err)
{
    char path[PATH_MAX];
    myth_status st;
    int64_t ms = now_ms();
    MYTH_TRY(myth_runlog_file_place(path, sizeof(path), f->path, err));
    MYTH_TRY(myth_runlog_file_open(&log->file, log->mem, path,
                                   &(myth_runlog_file_opts){.max_runs = f->max_runs, .max_bytes = f->max_bytes}, err));
    MYTH_TRY(myth_runlog_file_begin(log->file, &log->run, ms, log->cli->command->name, err));
    myth_record_set_number(log, log->doc, "format", MYTH_RUNLOG_FORMAT);
    myth_record_set_number(log, log->doc, "run", (uint64_t)log->run);
    myth_record_set_number(log, log->doc, "began_ms", (uint64_t)ms);
fail:
    return st;
}

myth_runlog *myth_runlog_begin(const myth_runlog_flags *f, const myth_cli *cli)
{
    myth_mem *mem;
    myth_error err = {0};
    if (f->is_off || myth_mem_open(&mem, MYTH_RUNLOG_MEM_BYTES, NULL) != MYTH_OK)
        return NULL;
    myth_runlog *log = myth_alloc(mem, MYTH_MEM_OTHER, "run log", sizeof(*log));
    if (!log) {
        myth_mem_close(mem);
        return NULL;
    }
    log->mem = mem;
    log->cli = cli;
    log->prompts = f->prompts;
    log->began = myth_seconds();
    log->stage = log->began;
    log->doc = json_object();
    if (!log->doc || open_file(log, f, &err) != MYTH_OK) {
        if (!log->doc)
            myth_fail(&err, MYTH_ENOMEM, "the run log: no memory");
        myth_record_give_up(log, &err);
    }
    if (myth_record_is_on(log))
        myth_record_command(log);
    if (myth_record_is_on(log))
        myth_record_binary(log);
    if (myth_record_is_on(log)) { /* so that a run that is killed has a name */
        myth_record_set_number(log, log->doc, "pid", (uint64_t)getpid());
        myth_record_save(log, NULL);
    }
    return log;
}

void myth_runlog_end(myth_runlog *log, int exit_code)
{
    if (!log)
        return;
    myth_mem *mem = log->mem;
    if (myth_record_is_on(log)) {
        myth_record_set_real(log, log->doc, "seconds", myth_seconds() - log->began);
        myth_record_set(log, log->doc, "exit_code", json_integer(exit_code));
        myth_record_shown(log); /* rounds may have added to it */
        myth_record_save(log, &exit_code);
    }
    myth_runlog_file_close(log->file);
    json_decref(log->doc);
    myth_free(mem, log);
    myth_mem_close(mem);
}

void myth_runlog_say(myth_runlog *log, const char *name, const char *s)
{
    json_t *texts;
    if (myth_record_is_on(log) && s && (texts = myth_record_section(log, "texts", false)) != NULL)
        myth_record_set_text(log, texts, name, s);
}

void myth_runlog_chosen(myth_runlog *log, const char *option, const char *value)
{
    json_t *chosen = myth_record_is_on(log) && value ? myth_record_section(log, "chosen", false) : NULL;
    if (chosen)
        myth_record_set(log, chosen, option, myth_record_exact(value));
}

void myth_runlog_count(myth_runlog *log, const char *section_name, const char *name, double value)
{
    json_t *counts = myth_record_is_on(log) ? myth_record_section(log, "counts", false) : NULL, *s;
    if (!counts)
        return;
    if (!(s = json_object_get(counts, section_name))) {
        myth_record_set(log, counts, section_name, json_object());
        s = myth_record_is_on(log) ? json_object_get(counts, section_name) : NULL;
    }
    if (s)
        myth_record_set_real(log, s, name, value);
}

void myth_runlog_stage(myth_runlog *log, const char *name)
{
    json_t *stages = myth_record_is_on(log) ? myth_record_section(log, "stages", true) : NULL;
    if (!stages)
        return;
    myth_record_append(log, stages, json_pack("{s:s, s:f}", "name", name, "seconds", myth_seconds() - log->stage));
    log->stage = myth_seconds();
}

void myth_runlog_inspection(myth_runlog *log, const myth_inspection *in, const myth_material *m,
                            const myth_inspect_opts *io, const myth_model *model, const char *root)
{
    if (!myth_record_is_on(log))
        return;
    log->in = in;
    log->material = m;
    log->io = io;
    log->model = model;
    log->root = root;
    myth_record_set(log, log->doc, "root", root ? myth_record_exact(root) : json_null());
    if (myth_cancelled(log->cli->cancel)) /* the report comes first; the end records it all */
        return;
    myth_record_shown(log);
    myth_record_save(log, NULL);
}

myth_runlog_place myth_runlog_here(const myth_runlog *log)
{
    if (!myth_record_is_on(log))
        return (myth_runlog_place){0};
    return (myth_runlog_place){log->run, (int64_t)json_integer_value(json_object_get(log->doc, "began_ms"))};
}

typedef struct {
    const myth_runlog_place *place;
    bool is_there;
} search;

static bool on_row(void *user, const myth_runlog_row *row)
{
    search *s = user;
    s->is_there = row->id == s->place->run && row->began_ms == s->place->began_ms && row->has_ended;
    return row->id > s->place->run;
}

bool myth_runlog_has(myth_runlog *log, const myth_runlog_place *place)
{
    search s = {.place = place};
    if (!myth_record_is_on(log))
        return true;
    return place->run && myth_runlog_file_list(log->file, UINT32_MAX, on_row, &s, NULL) == MYTH_OK && s.is_there;
}

void myth_runlog_repeats(myth_runlog *log, const myth_runlog_place *place)
{
    if (!myth_record_is_on(log) || !place->run)
        return;
    myth_record_set_number(log, log->doc, "repeats", (uint64_t)place->run);
    if (myth_record_is_on(log))
        myth_runlog_file_defer(log->file);
}
