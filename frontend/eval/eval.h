/* eval.h - one evaluation: its questions, the configurations that answer them, and what came of it.
 *
 * Order    the data is opened, every configuration answers every task (a row of measures each), then what needs a
 *          model, then the report
 * Apart    every answer comes from a command of this program in a process of its own (self.h), so retrieval is measured
 *          as it is used, and what search can do (embeddings, a reranker) is measured without a word here
 * Place    a temporary folder holds indexes and trees; nothing is left in the user's cache
 * Owner    everything until close; flags are lent */
#ifndef MYTH_EVAL_H
#define MYTH_EVAL_H

#include "frontend/candidates/judged.h"
#include "frontend/cli/cli.h"
#include "measures.h"
#include "frontend/cli/self.h"
#include "tasks.h"
#include "frontend/cli/tempdir.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_EVAL_CONFIGS = MYTH_OPT_LIST_MAX + 1,
    MYTH_EVAL_MEASURES = 8,
    MYTH_EVAL_GROUPS = 32,
    MYTH_EVAL_PATH = 4096
};

typedef enum { MYTH_EVAL_SHOP, MYTH_EVAL_COSQA, MYTH_EVAL_SWE, MYTH_EVAL_COMMITS, MYTH_EVAL_N } myth_eval_set;
typedef enum { MYTH_EVAL_ALL, MYTH_EVAL_RETRIEVAL, MYTH_EVAL_ANSWERS } myth_eval_part;

/* Flags of the command. */
typedef struct {
    const char *data, *repos, *model, *gate, *weights, *embed_model;
    myth_judged_flags judged; /* of the inspector; those that are given are its, too */
    myth_opt_list against;
    uint32_t k, every;
    int part;         /* myth_eval_part */
    bool json, embed; /* embed, embed_model: by meaning too; else every configuration is lexical */
} myth_eval_flags;

/* How search is asked. */
typedef struct {
    const char *name;  /* "lexical", "hybrid", or what --against says */
    char weights[512]; /* "" = none                                   */
    bool lexical;
    bool is_plain; /* the plain baseline answers, not search      */
    bool is_topic; /* what inspect-topic shows the model          */
} myth_eval_config;

/* What the inspector made of the planted defects. */
typedef struct {
    uint32_t n_file, n_planted, n_found, n_finding, n_matched, n_dropped, n_request, n_resolved;
    myth_interval recall, precision, f1;                 /* precision and f1 without findings: 0 */
    uint32_t n_change, n_change_found, n_change_finding; /* of the planted regression: defects, found, findings */
    bool was_run, was_diffed;
} myth_eval_answers;

typedef struct {
    myth_cli *cli;
    const myth_eval_flags *flags;
    myth_eval_set set;
    myth_self self;
    const char *model;                                         /* NULL = the shipped one                      */
    char model_path[MYTH_EVAL_PATH], embedder[MYTH_EVAL_PATH]; /* embedder "" = no vectors */
    char program[MYTH_EVAL_PATH], data[MYTH_EVAL_PATH], dir[MYTH_TEMPDIR_BYTES],
        cache[MYTH_TEMPDIR_BYTES + 16]; /* dir: temporary */
    myth_tasks tasks;
    myth_plants plants, changes; /* changes: defects of the regression          */
    myth_eval_config config[MYTH_EVAL_CONFIGS];
    uint32_t n_config, n_measure, k;
    myth_measure measure[MYTH_EVAL_MEASURES];
    double *value;                           /* [n_config][n_task][n_measure]               */
    double *room;                            /* MYTH_BOOTSTRAP_ROUNDS, and twice n_task      */
    double *prompt_tokens, *evidence_tokens; /* [n_task] of the first configuration; shop   */
    bool has_tokens;
    myth_eval_answers answers;
} myth_eval;

typedef struct {
    const char *tag; /* NULL = all tasks */
    uint32_t n_task;
} myth_eval_group;

const char *myth_eval_set_name(myth_eval_set set); /* "shop" */
bool myth_eval_set_of(myth_eval_set *out, const char *name);

/* Finds and reads the data, makes the temporary folder. *ev is closed by the caller, also after a failure. */
myth_status myth_eval_open(myth_eval *ev, myth_cli *cli, myth_eval_set set, const myth_eval_flags *flags,
                           myth_error *err);
void myth_eval_close(myth_eval *ev);

/* ---- answers to questions: each fills ev->value ---- */

/* MYTH_ELIMIT with the reason when the report says that nothing was inspected: that is no answer to score. */
myth_status myth_eval_not_refused(const json_t *report, const char *command, const char *what, myth_error *err);
myth_status myth_eval_shop(myth_eval *ev, myth_error *err);
myth_status myth_eval_cosqa(myth_eval *ev, myth_error *err);
myth_status myth_eval_repos(myth_eval *ev, myth_error *err);
/* The inspector over the files with planted defects, and over the planted regression where there is inspect-diff: they
 * fill ev->answers. */
myth_status myth_eval_inspect(myth_eval *ev, myth_error *err);
myth_status myth_eval_regression(myth_eval *ev, myth_error *err);

/* What the parts above share. */
double *myth_eval_row(const myth_eval *ev, uint32_t config, uint32_t task);
void myth_eval_put(myth_eval *ev, uint32_t config, uint32_t task, const uint32_t *item, uint32_t n_item);
/* The number of a document for measures: its place among the task's gold, else one behind them that is the same for the
 * same name. */
uint32_t myth_eval_document(const myth_task *t, const char *const *seen, uint32_t n_seen, const char *name);
/* Copies the shop's tree to `to`, a new folder below ev->dir. The shipped one lies below a repository's tests/, so that
 * all of its files would be tests; the copy is a tree of its own. */
myth_status myth_eval_copy_tree(const myth_eval *ev, const char *to, myth_error *err);
/* A file below the data; false when the path is too long. */
bool myth_eval_path(char dst[MYTH_EVAL_PATH], const char *dir, const char *rest);
/* Whether this program has a command. */
bool myth_eval_has_command(const char *name);
/* Flags for a command that runs a model behind args[n]; returns the new n. threads is written to. */
int myth_eval_model_flags(const char **args, int n, const myth_eval *ev, char threads[16]);
/* The same for the flags that say who finds and judges, of the commands that have them. confidence is written to. */
int myth_eval_find_flags(const char **args, int n, const myth_eval *ev, char confidence[32]);
/* The findings of a report that are one of the defects [from, to), each at most once: the file, a rule that would do,
 * lines nearby. */
uint32_t myth_eval_match(const myth_plants *p, uint32_t from, uint32_t to, const char *tree, const json_t *report,
                         bool *is_found);
/* A report's name of a file as the tree names it: reports name files from the top of the repository, which may be above
 * the tree. A part of `named`; NULL of NULL. */
const char *myth_eval_in_tree(const char *tree, const char *named);
/* Flags of the configuration for `search` behind args[n]; returns the new n. */
int myth_eval_search_flags(const char **args, int n, const myth_eval *ev, const myth_eval_config *c);
/* Makes or updates the index of a folder, with vectors when they are wanted. */
myth_status myth_eval_index(const myth_eval *ev, const char *dir, myth_error *err);

/* ---- what came of it ---- */

/* Groups of tasks: all, then every tag in the order it is met. */
uint32_t myth_eval_groups(const myth_eval *ev, myth_eval_group out[MYTH_EVAL_GROUPS]);
myth_interval myth_eval_mean(const myth_eval *ev, const myth_eval_group *g, uint32_t config, uint32_t measure);
/* Against the first configuration. */
myth_interval myth_eval_difference(const myth_eval *ev, const myth_eval_group *g, uint32_t config, uint32_t measure);

/* The metrics of the first design; has_value false: not measured in this run, `why` says so. */
typedef struct {
    const char *name, *why;
    bool has_value, has_interval;
    myth_interval value;
} myth_eval_metric;

enum { MYTH_EVAL_METRICS = 10 };
uint32_t myth_eval_metrics(const myth_eval *ev, myth_eval_metric out[MYTH_EVAL_METRICS]);

/* ---- the gate ---- */

enum { MYTH_GATE_BELOW = 64 };

typedef struct {
    char group[48], measure[MYTH_MEASURE_NAME];
    double floor, value;
} myth_gate_row;

typedef struct {
    myth_gate_row below[MYTH_GATE_BELOW];
    uint32_t n_below, n_floor, n_skipped; /* skipped: floors of what this run did not measure */
    bool was_asked;
} myth_gate;

/* Compares with the floors of a file {"floors": {"<group>": {"<measure>": number}}}; group "metrics" names metrics.
 * "against": {"<configuration>": {...}} has those of what --against measured (not measured: skipped). MYTH_EARG a floor
 * for something that this evaluation does not measure. */
myth_status myth_gate_read(myth_gate *out, const myth_eval *ev, const char *path, myth_error *err);

void myth_eval_print_text(const myth_eval *ev, const myth_gate *gate);
void myth_eval_print_json(const myth_eval *ev, const myth_gate *gate);

#ifdef __cplusplus
}
#endif
#endif
