/* tasks.h - what is asked in an evaluation, and what would be right.
 *
 * Rows     JSON lines: {"id", "text" or "query", "expect": [{"path"[,"symbol"]}] or "gold": [{"file"}][, "kind",
 *          "tags", "repo", "base_commit"]}
 * CoSQA    one array of {"doc", "retrieval_idx"}
 * Planted  JSON lines: {"path", "line", "rule", "text"[, "also": [rule]]}
 * Owner    strings are lent until close
 * Errors   MYTH_ENOTFOUND no such file; MYTH_EFORMAT "path:line: what" */
#ifndef MYTH_EVAL_TASKS_H
#define MYTH_EVAL_TASKS_H

#include "engine/base/mem.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_TASK_TAGS = 4, MYTH_TASK_GOLD = 256 };

typedef struct {
    const char *path, *symbol; /* symbol NULL = any place of the file */
} myth_gold;

typedef struct {
    const char *id, *text, *repo, *commit; /* repo and commit NULL = none */
    const char *tag[MYTH_TASK_TAGS];       /* the kind first */
    uint32_t n_tag, n_gold;
    myth_gold *gold; /* of different paths */
} myth_task;

typedef struct {
    myth_task *task;
    uint32_t n_task;
    json_t *rows;
    myth_gold *gold;
    myth_mem *mem;
} myth_tasks;

typedef struct {
    const char *path, *rule, *text;
    uint32_t line;
    const json_t *also; /* array of further rules that would do, NULL = none */
} myth_planted;

typedef struct {
    myth_planted *defect;
    uint32_t n_defect;
    json_t *rows;
    myth_mem *mem;
} myth_plants;

/* Every `every`-th row of a file, from the first; 0 and 1 = all. *out is closed by the caller, also after a failure
 * (then empty). */
myth_status myth_tasks_read(myth_tasks *out, myth_mem *mem, const char *path, uint32_t every, myth_error *err);
myth_status myth_tasks_read_cosqa(myth_tasks *out, myth_mem *mem, const char *path, uint32_t every, myth_error *err);
void myth_tasks_close(myth_tasks *t);
myth_status myth_plants_read(myth_plants *out, myth_mem *mem, const char *path, myth_error *err);
void myth_plants_close(myth_plants *p);
/* One JSON document of a file. MYTH_ENOTFOUND, MYTH_EFORMAT. */
myth_status myth_eval_json(json_t **out, const char *path, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
