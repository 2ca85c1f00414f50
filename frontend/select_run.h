/* select_run.h - what the commands that select share: index, side and selector of a directory, in a ledger of their own.
 *
 * Ledger   what is looked up is not part of a model's run: its plan and its peak are the same whatever the index holds. --mem-limit is the
 *          run's; the retriever has its own bounds (retrieval/limits.h)
 * Job      a command's own struct begins with a myth_select_run, so that it is the `user` of the job's callbacks                        */
#ifndef MYTH_SELECT_RUN_H
#define MYTH_SELECT_RUN_H

#include "inspect_run.h"
#include "inspect/select.h"
#include "open_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    myth_index *index;
    myth_revision *side;
    myth_select *select;
} myth_select_run;

/* -C DIR of the commands: a row of their option tables. */
#define MYTH_OPTION_DIRECTORY(type, field)                                                                                                              \
    { "directory", "-C", MYTH_OPT_TEXT, "DIR", offsetof(type, field), ".", 0, 0, "the directory that is searched; its index is brought up to date first" }

/* Zero *r before. rev->root is set to dir. */
myth_status myth_select_run_open(myth_select_run *r, myth_cli *cli, const char *dir, const myth_revision_opts *rev, myth_error *err);
void myth_select_run_close(myth_select_run *r);

/* on_context of a job. */
uint32_t myth_select_run_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap);
/* Says how much was found. */
void myth_select_run_note(const myth_cli *cli, const char *title, const myth_select_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
