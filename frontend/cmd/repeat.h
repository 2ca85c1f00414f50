/* repeat.h - a run over what has not changed: prints and writes what the earlier run did, without a model, a parser or
 * a tokenizer.
 *
 *   myth_repeat_begin   makes the key: program, device, sampling, flags, model files, and the inputs of the job
 *   myth_repeat_take    when an earlier report is kept under that key and all that it looked at is as it was, writes
 *                       all outputs and returns true
 *   myth_repeat_render  notes what is printed and written, from the report that it is made of
 *   myth_repeat_keep    keeps that for the next run
 *
 * Times    when stat says of every file what it said before (times of change included, which nobody can set), the files
 *          are not read: the key of what stat says leads to that of the bytes. Files that changed within two seconds
 *          before a run began leave no such key, because they may change again at the same time
 * Race     a report is not kept when a file changed while it was made
 * Never    under --no-cache, --since, --update-baseline, --dry-run and --mem-report, for html (which has the day), for
 *          standard input, and for commands whose job names no inputs
 * Looks    what answers depended on beside the inputs: the files that a request for context was answered from (looks.h)
 * Log      the record of a run that repeats another says which (runlog_repeat.h); of one that the log does not have any
 *          more, it has what was printed
 * Secrets  the outputs are those that reports show, with placeholders
 * Owner    the caller keeps cli, flags, job, sample and kept until close; memory is in a ledger of its own
 * Threads  one */
#ifndef MYTH_REPEAT_H
#define MYTH_REPEAT_H

#include "inspect_run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_cli *cli;
    const myth_inspect_flags *o;
    const myth_inspect_job *job;
    myth_kept *kept;             /* NULL = this run neither repeats nor is repeated */
    myth_kept_key key, stat_key; /* by the bytes of the files; by what stat says of them */
    const myth_sample_params *sample;
    int64_t newest_ns, began_ns; /* the latest change of a file; when the run began */
    bool is_read;                /* the files were read for the key, so that nothing leads from stat_key to it yet */
    char *notes;                 /* what the run says on standard error, a zero behind each note */
    size_t n_notes;
    char *body; /* what is kept */
    size_t n_body;
    bool is_rendered;
} myth_repeat;

/* After the job has begun. Without a key the run goes on as ever. */
void myth_repeat_begin(myth_repeat *r, myth_cli *cli, const myth_inspect_flags *o, const myth_inspect_job *job,
                       const myth_sample_params *sample, myth_kept *kept);
/* True when the run is done; *code is its exit code. An output that cannot be written is an error, which is printed. */
bool myth_repeat_take(myth_repeat *r, myth_runlog *log, int *code);
/* patch: what --patch writes; NULL = nothing. */
void myth_repeat_render(myth_repeat *r, const myth_report *report, const myth_patches *patch);
/* Only a run that ended by itself is kept: n_answer answers, exit code `code`. */
void myth_repeat_keep(myth_repeat *r, const myth_runlog *log, uint32_t n_answer, int code);
void myth_repeat_close(myth_repeat *r); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
