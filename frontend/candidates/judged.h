/* judged.h - the places of an inspection's code that rules find and a model judges, as findings for its report.
 *
 *   myth_judged_open   finds the places in the subjects of a material and lets the model judge them
 *   myth_judged_list   all of them, judged or not; those that pass are findings
 *
 * Places    those that begin in a line of a subject and whose rule is wanted (candidates.h)
 * Change    of an inspected change, places that the text before it did not have are its own, wherever their lines are
 *           (before.h): a check that was taken out leaves its place some lines below
 * Rule      the row of rules.def with the same id: every rule of retrieval/candidates has one
 * Lost      a place that the change made by what it took away (before.h) is a finding in the place of one that it
 *           exposed, of the same rule in the same line, with the larger of both probabilities
 * Once      of places of the two rules about results that nobody looks at (unchecked-return, missing-null-check) that
 *           are about one call and probable enough, that of the rule which comes first in rules.def is a finding, with
 *           the largest of their probabilities and what the change brought of any; the log says of the others which
 *           line says the same. Its fingerprint is of the first place about the call, judged or not (given.h): neither
 *           depends on which of two nearly equal probabilities is larger
 * Judge     --judge-model; else the model of the run where it can judge; else the shipped judge. Another model than the
 *           run's is opened for the judging alone
 * Judged    as judge.h does it, functions with their context, with an engine of its own that is closed again: its
 *           memory is planned like a command's
 * Kept      with keeps, places by the text of their file (finder.h) and what the judge said by its prompts (judge.h):
 *           of a changed file the functions that changed are asked about, and a run that was killed goes on
 * Missed    with lists_missed, what could not be searched or judged: code in languages without rules, files that no
 *           parser could read, places whose lines do not fit a prompt, and the rest after an interrupt. Documents and
 *           data are not missed, but counted in a note
 * Dry       the tokens of the prompts are the most that the run feeds, and the seconds those of the judge's model
 *           (rates/expect.h)
 * Bits      the same code and model give the same list
 * Owner     the caller keeps cli, model and material until close; lists and texts are the finder's
 * Errors    MYTH_EUNSUPPORTED: the model cannot judge; MYTH_ENOFIT: no plan for the judge's engine; MYTH_ENOMEM; what
 *           the engine returns. An interrupt is none
 * Threads   one */
#ifndef MYTH_CANDIDATES_JUDGED_H
#define MYTH_CANDIDATES_JUDGED_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "frontend/inspect/answer/given.h"
#include "frontend/inspect/prompt/material.h"
#include "frontend/inspect/report/missed.h"
#include "retrieval/retrieval.h"

/* Flags of the inspect commands. */
typedef enum { MYTH_FIND_AUTO, MYTH_FIND_MODEL, MYTH_FIND_CANDIDATES, MYTH_FIND_BOTH } myth_find;

typedef struct {
    int find;          /* myth_find */
    float confidence;  /* read where it is given; else the judge's calibration says it, else it is 0.5 */
    const char *model; /* NULL = see Judge */
    bool explain;
} myth_judged_flags;

extern const myth_option myth_options_judged[];
enum { MYTH_N_OPTIONS_JUDGED = 4 };
#define MYTH_GROUP_JUDGED(type, field)                                              \
    {                                                                               \
        "places", myth_options_judged, MYTH_N_OPTIONS_JUDGED, offsetof(type, field) \
    }

/* Who finds: what --find says. Of MYTH_FIND_AUTO the model, where one was named or no judge ships; else rules, because
 * of the models that ship the judge is right more often than the one that searches (models/README.md). */
myth_find myth_judged_find(const myth_judged_flags *f, bool is_model_named);
const char *myth_find_name(myth_find find); /* as --find spells it */
/* Flags that say nothing without another one are an error. */
myth_status myth_judged_check(const myth_judged_flags *f, const myth_parsed *parsed, myth_error *err);

typedef struct {
    const myth_judged_flags *flags;
    const myth_engine_flags *engine;                             /* of the command */
    bool (*wants)(void *user, int rule, myth_severity severity); /* NULL = all */
    void *user;
    const myth_missed *missed; /* [n_missed] what the list of missed code begins with */
    uint32_t n_missed;
    bool lists_missed;
    myth_index *index; /* of the files as they are inspected, for the context of functions (context.h); NULL = none */
    bool keeps;        /* places are taken from earlier runs over the same text, and kept (finder.h) */
    uint64_t cache_limit; /* most bytes of the file that has them */
    bool is_dry;          /* nothing is judged: what it would cost is counted */
    const char *as;       /* the machine whose rates a dry run takes; NULL = this one */
} myth_judged_opts;

typedef struct myth_judged myth_judged;

myth_status myth_judged_open(myth_judged **out, myth_cli *cli, myth_model *model, const myth_material *material,
                             const myth_judged_opts *opts, myth_error *err);
void myth_judged_close(myth_judged *f); /* takes NULL */
const myth_given *myth_judged_list(const myth_judged *f, uint32_t *n);
/* The path of the judge's model; NULL = it is the run's. */
const char *myth_judged_by(const myth_judged *f);
/* The name of the model that judged, which is valid until close; NULL = the run's own judged, or nothing did. */
const char *myth_judged_name(const myth_judged *f);
/* Raises a later plan of the run to what judging was planned to take, to what the run has taken so far, and to what the
 * inspection takes beside an engine, class by class, so that it covers the whole run. f NULL: nothing was judged. */
void myth_judged_cover(const myth_judged *f, myth_plan *plan, const myth_plan_extra *extra);
/* Says how many there are, were judged and pass. */
void myth_judged_note(const myth_judged *f);
/* What judging costs, of a dry run: a line, and {"model","places","prompts","prompt_tokens","expected","pieces"}, where
 * pieces are the code that is inspected, each with the number of its places. is_alone: no model searches or writes,
 * which the text says before it lists the code with places. */
void myth_judged_print_text(FILE *to, const myth_judged *f, bool is_alone);
void myth_judged_print_json(myth_json_out *out, const myth_judged *f);
const myth_missed *myth_judged_missed(const myth_judged *f, uint32_t *n);

#endif
