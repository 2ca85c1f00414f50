/* select_run.h - what the inspect commands share that select code from a directory: its index, the version of its files
 * to read (working tree or revision), and the selector.
 *
 * Ledger   index and selector have a ledger of their own, so that the plan and peak of a model's run do not depend on
 *          the size of the index. --mem-limit applies to the run; the retriever has its own limits (retrieval/limits.h)
 * Job      a command's own struct begins with a myth_select_run, because the job's callbacks get it as `user`
 * Names    index and side are those of the whole repository, whatever folder of it -C names, so that a file has one
 *          name in prompts and reports. The folder only bounds what is selected as subject
 * Threads  one */
#ifndef MYTH_SELECT_RUN_H
#define MYTH_SELECT_RUN_H

#include "inspect_run.h"
#include "frontend/inspect/select/select.h"
#include "frontend/common/open_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    myth_index *index;
    myth_index *known; /* the index, where it is of the version of the files that is inspected; else NULL */
    myth_revision *side;
    myth_select *select;
    myth_cli *cli;
    const myth_inspect_flags *flags;
    const myth_model *model;
    myth_place place; /* root: what names are relative to; path: "" or what the names below the folder begin with */
    myth_repomap_page map;
    myth_missed_list missed; /* what the index could not read; then also what the selection missed */
    myth_runlog *log;        /* the run's record, NULL = none */
    bool is_setwise;         /* the model also compares the best of a ranked list with each other */
    bool can_lack_index;     /* set it before open: without a place for an index the run goes on, with index NULL */
} myth_select_run;

/* Flags of all these commands. */
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

/* *r must be zeroed. Sets r->place, whose root is the job's. is_any: as in myth_place_find_folder. */
void myth_select_run_place(myth_select_run *r, const myth_select_flags *o, bool is_any);
/* Call after that. Opens index, side and selector; rev->root is set to the root of the place. */
myth_status myth_select_run_open(myth_select_run *r, myth_cli *cli, const myth_select_flags *o,
                                 const myth_revision_opts *rev, myth_error *err);
void myth_select_run_close(myth_select_run *r);
/* Call in fill: from here on the model orders each list of candidates, if --rerank asks for it. An engine is opened for
 * each list and closed again before the run is planned. */
void myth_select_run_rank(myth_select_run *r, const myth_select_flags *o, const myth_inspect_flags *flags,
                          const myth_model *model);
/* Call in fill: writes the repository map into io->map, within io->map_tokens, if the model's prompt has a map. The map
 * does not depend on the question, so that the prompts of all questions begin with the same tokens. */
myth_status myth_select_run_map(myth_select_run *r, myth_inspect_opts *io, const myth_model *model, myth_error *err);

/* on_context of a job. */
uint32_t myth_select_run_context(void *user, const char *request, myth_material *m, uint32_t of, char *near,
                                 size_t near_cap);
/* Call once, after the selection: prints how many pieces were found, and gives the inspection the list of what the
 * selection missed and the index could not read. The list is valid until myth_select_run_close. */
myth_status myth_select_run_end(myth_select_run *r, myth_inspect_opts *io, const myth_select_counts *counts,
                                myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
