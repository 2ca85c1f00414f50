/* runlog_repeat.c - lays the record of a run over that of the run it repeats. */
#include "runlog_repeat.h"

#include "runlog_doc.h"

#include <stdio.h>

/* What a run that repeats another has of its own. */
static const char *const own[] = {"run",    "began_ms", "command", "args",      "options",   "cwd",    "binary",
                                  "device", "seconds",  "stages",  "no_replay", "exit_code", "repeats"};

static void say_lost(json_t *doc, int64_t earlier)
{
    char line[160];
    json_t *why = json_object_get(doc, "no_replay");
    snprintf(line, sizeof(line), "it repeats run %lld, which the log does not have any more", (long long)earlier);
    if (!json_is_array(why)) {
        why = json_array();
        json_object_set_new(doc, "no_replay", why);
    }
    json_array_append_new(why, json_string(line));
}

int64_t myth_runlog_texts_of(const json_t *doc, int64_t run)
{
    const int64_t earlier = myth_doc_int(doc, "repeats");
    return earlier > 0 ? earlier : run;
}

myth_status myth_runlog_follow(json_t **doc, myth_runlog_file *f, myth_mem *mem, myth_error *err)
{
    const int64_t earlier = myth_runlog_texts_of(*doc, 0);
    char *record = NULL;
    size_t n = 0;
    if (!earlier)
        return MYTH_OK;
    myth_status st = myth_runlog_file_record(f, earlier, &record, &n, err);
    if (st == MYTH_ENOTFOUND) {
        say_lost(*doc, earlier);
        return MYTH_OK;
    }
    if (st != MYTH_OK)
        return st;
    json_t *whole = json_loadb(record, n, 0, NULL);
    myth_free(mem, record);
    if (!json_is_object(whole)) {
        json_decref(whole);
        return myth_fail(err, MYTH_EFORMAT, "%.160s: the record of run %lld is not JSON; the log is damaged",
                         myth_runlog_file_path(f), (long long)earlier);
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        json_t *v = json_object_get(*doc, own[i]);
        if (v)
            json_object_set(whole, own[i], v);
    }
    json_decref(*doc);
    *doc = whole;
    return MYTH_OK;
}
