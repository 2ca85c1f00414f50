/* runlog_record.h - the record of a run in memory: one JSON document, and how the files of the run log fill it. Only
 * they include this; commands include runlog.h.
 *
 * Document  raw while the run goes on; what is written to the file is a redacted copy. Long texts go to the file at
 *           once
 * Errors    none: when memory or the file fails, a note says so once, the file is closed, and every function here does
 *           nothing from then on
 * Threads   one */
#ifndef MYTH_INSPECT_RUNLOG_RECORD_H
#define MYTH_INSPECT_RUNLOG_RECORD_H

#include "runlog.h"
#include "runlog_file.h"
#include "runlog_redact.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myth_runlog {
    myth_mem *mem;
    myth_runlog_file *file; /* NULL: given up */
    int64_t run;
    json_t *doc;
    const myth_cli *cli;
    bool prompts;
    double began, stage, saved; /* myth_seconds */
    uint32_t n_exchange;
    /* lent by myth_runlog_inspection; NULL before it */
    const myth_inspection *in;
    const myth_material *material;
    const myth_inspect_opts *io;
    const myth_model *model;
    const char *root;
};

/* Whether there is a log, and it is still being written. */
bool myth_record_is_on(const myth_runlog *log);
void myth_record_give_up(myth_runlog *log, const myth_error *err);
void myth_record_no_memory(myth_runlog *log); /* gives up */

/* Each takes v, also when the log is off; gives up when there is no memory for it (v NULL) or for its place. */
void myth_record_set(myth_runlog *log, json_t *object, const char *key, json_t *v);
void myth_record_append(myth_runlog *log, json_t *array, json_t *v);
void myth_record_set_text(myth_runlog *log, json_t *object, const char *key, const char *s);
void myth_record_set_number(myth_runlog *log, json_t *object, const char *key, uint64_t v);
void myth_record_set_real(myth_runlog *log, json_t *object, const char *key, double v); /* null: not a finite number */

/* A text to read: bytes that are not UTF-8 are replaced. s NULL: null. */
json_t *myth_record_text(const myth_runlog *log, const char *s);
/* A string that a replay needs byte for byte: an object with its hexadecimal digits when it is not UTF-8. */
json_t *myth_record_exact(const char *s);
/* The object or array of that name in the document, made when it is not there; NULL when that fails. */
json_t *myth_record_section(myth_runlog *log, const char *name, bool is_array);

/* The redactor of the inspection's files; NULL before there is one. */
const myth_redactor *myth_record_redactor(const myth_runlog *log);

void myth_record_command(myth_runlog *log); /* the command line and its options */
void myth_record_binary(myth_runlog *log);  /* the program that runs */
void myth_record_shown(myth_runlog *log);   /* what is shown of the inspection; nothing before there is one */

/* Writes the document so far, redacted. exit_code NULL: the run goes on. */
void myth_record_save(myth_runlog *log, const int *exit_code);

#ifdef __cplusplus
}
#endif
#endif
