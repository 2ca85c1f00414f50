/* tool_run.h - runs a tool and reads its answer, for tests of tools. */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H

#include "tests/frontend/cli/cli_run.h"

/* Runs a tool on $D/<dir> with arguments that have no single quote. The caller frees the answer by json_decref. */
static inline json_t *tool_answer(cli_result *r, const char *dir, const char *name, const char *args, int code)
{
    char line[2000];
    json_error_t e;
    snprintf(line, sizeof(line), "$M tool %s -C $D/%s --args '%s'", name, dir, args);
    cli_shell(r, line);
    if (r->code != code)
        fail_msg("%s %s: exit %d, expected %d: %s%s", name, args, r->code, code, r->err, r->out);
    json_t *j = json_loads(r->out, 0, &e);
    if (!j)
        fail_msg("%s %s: no JSON: %s: %.200s", name, args, e.text, r->out);
    return j;
}

static inline size_t tool_size_of(const json_t *j, const char *key) { return json_array_size(json_object_get(j, key)); }

#endif
