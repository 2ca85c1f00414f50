/* runlog_repeat.h - reads the record of a run that repeats an earlier one: nothing had changed since, so the record has
 * only the number of that run, and what was read, shown and answered is in the earlier record.
 *
 * Command  its own: command, arguments, options, folder, times and exit code
 * Rest     that of the earlier run. When the log does not have that run any more, the record says why it cannot be
 *          replayed
 * Errors   those of myth_runlog_file_record, but not MYTH_ENOTFOUND; MYTH_EFORMAT: the earlier record is not JSON
 * Threads  one */
#ifndef MYTH_INSPECT_RUNLOG_REPEAT_H
#define MYTH_INSPECT_RUNLOG_REPEAT_H

#include "runlog_file.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Completes the record of a run that repeats another; any other stays as it is. *doc may be replaced. */
myth_status myth_runlog_follow(json_t **doc, myth_runlog_file *f, myth_mem *mem, myth_error *err);
/* The run that has the texts of a record: prompts, answers, the printed report. */
int64_t myth_runlog_texts_of(const json_t *doc, int64_t run);

#ifdef __cplusplus
}
#endif
#endif
