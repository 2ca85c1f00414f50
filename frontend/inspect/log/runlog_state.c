/* runlog_state.c - looks for the process of a run that has not ended. */
#include "runlog_state.h"

#include "runlog_doc.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

/* Whether the process is dead and nobody has asked for its exit code, as far as /proc says: "PID (NAME) Z ...". */
static bool is_zombie(int64_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end && strncmp(end, ") Z", 3) == 0;
}

static bool is_there(int64_t pid)
{
    return pid > 0 && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM) && !is_zombie(pid);
}

myth_run_state myth_runlog_state(bool has_ended, const json_t *doc)
{
    if (has_ended)
        return MYTH_RUN_ENDED;
    if (myth_doc_text(doc, "unlogged")[0])
        return MYTH_RUN_UNLOGGED;
    return is_there(myth_doc_int(doc, "pid")) ? MYTH_RUN_RUNNING : MYTH_RUN_KILLED;
}

const char *myth_run_state_name(myth_run_state s)
{
    static const char *const name[] = {"ended", "running", "killed", "unlogged"};
    return name[s];
}
