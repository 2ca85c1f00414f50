/* select_run.h - what the commands that select share: index, side and selector of a directory, in a ledger of their
 * own.
 *
 * Ledger   what is looked up is not part of a model's run: its plan and its peak are the same whatever the index holds.
 *          --mem-limit is the run's; the retriever has its own bounds (retrieval/limits.h)
 * Job      a command's own struct begins with a myth_select_run, so that it is the `user` of the job's callbacks */
#ifndef MYTH_SELECT_RUN_H
#define MYTH_SELECT_RUN_H

#include "inspect_run.h"
#include "frontend/inspect/select/select.h"
#include "open_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    myth_index *index;
    myth_revision *side;
    myth_select *select;
    myth_cli *cli;
    const myth_inspect_flags *flags;
    const myth_model *model;
    myth_repomap_page map;
    myth_runlog *log; /* of the run, NULL = none */
    bool is_setwise;  /* the best of a ranked list are compared once more */
} myth_select_run;

/* Flags of all of them. */
typedef struct {
    const char *dir;
    int rerank;
} myth_select_flags;

extern const myth_option myth_options_select[];
enum { MYTH_N_OPTIONS_SELECT = 2 };
#define MYTH_GROUP_SELECT(type, field)                                                 \
    {                                                                                  \
        "selection", myth_options_select, MYTH_N_OPTIONS_SELECT, offsetof(type, field) \
    }

/* Zero *r before. rev->root is set to the directory. */
myth_status myth_select_run_open(myth_select_run *r, myth_cli *cli, const myth_select_flags *o,
                                 const myth_revision_opts *rev, myth_error *err);
void myth_select_run_close(myth_select_run *r);
/* In fill: from here on the model ranks, when it is asked to. Its engine is opened for each list and closed again,
 * before the run is planned. */
void myth_select_run_rank(myth_select_run *r, const myth_select_flags *o, const myth_inspect_flags *flags,
                          const myth_model *model);
/* In fill: the repository map, for a model that takes one, into io->map within io->map_tokens. It is the same for every
 * question, so that the prompts of all have it in front. */
myth_status myth_select_run_map(myth_select_run *r, myth_inspect_opts *io, const myth_model *model, myth_error *err);

/* on_context of a job. */
uint32_t myth_select_run_context(void *user, const char *request, myth_material *m, uint32_t of, char *near,
                                 size_t near_cap);
/* After a selection: says how much was found, and hands what was missed to the inspection. */
void myth_select_run_end(const myth_select_run *r, myth_inspect_opts *io, const myth_select_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
