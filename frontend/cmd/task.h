/* task.h - what a person asks for besides (--task), behind the task that the prompt has anyway.
 *
 *   myth_task_check     refuses a text before any work: too long, empty, not UTF-8, control characters
 *   myth_task_reserve   takes the text's tokens from the room of the task, before a command fills it
 *   myth_task_add       appends the text to the command's task, or to the style's own
 *
 * Room     text and task together have --task-tokens; what is longer is refused by the pipeline, with the numbers
 * Compact  a model that was trained for one prompt knows no other task: refused
 * Lines    the lines of a part are numbered by themselves, so a text should name definitions, not lines
 * Secrets  the text goes into the prompt as it is, into the log as the log keeps texts (runlog.h)
 * Owner    the task keeps the whole text, which io->task points to
 * Errors   MYTH_EARG
 * Threads  one */
#ifndef MYTH_CMD_TASK_H
#define MYTH_CMD_TASK_H

#include "frontend/inspect/inspect.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_TASK_BYTES = 2000, MYTH_TASK_WHOLE = 20 << 10 };

typedef struct {
    const char *text;
    uint32_t room; /* the tokens of the whole task */
    char whole[MYTH_TASK_WHOLE];
} myth_task;

myth_status myth_task_check(const char *text, myth_error *err);
myth_status myth_task_reserve(myth_task *t, const char *text, const myth_model *model, myth_inspect_opts *io,
                              myth_error *err);
myth_status myth_task_add(myth_task *t, myth_inspect_opts *io, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
