/* judged.h - the places of an inspection's code that rules find and a model judges, as findings for its report.
 *
 * myth_judged_open finds the places in the subjects of a material and lets the model judge them myth_judged_list all of
 * them, judged or not; those that pass are findings
 *
 * Places    those that begin in a line of a subject and whose rule is wanted (candidates.h)
 * Change    when a change is inspected, a place that the old text did not have belongs to the change, even if its line
 *           was not changed (before.h): where a check is removed, the place is some lines below it
 * Rule      the row of rules.def with the same id: every rule of retrieval/candidates has one
 * Lost      a place about something that the change removed replaces an exposed place (before.h) of the same rule in
 *           the same line, and has the larger of both probabilities
 * Once      two rules are about results that are not checked (unchecked-return, missing-null-check). If several of
 *           their places are about one call and probable enough, only the place of the rule that comes first in
 *           rules.def is a finding. It has the largest of their probabilities, and counts as brought by the change if
 *           any of them does; the log names this line for the others. Its fingerprint is that of the first place about
 *           the call, judged or not (given.h), so that it does not depend on which of two nearly equal probabilities is
 *           larger
 * Judge     --judge-model; else the model of the run if it can judge; else the shipped judge. A model other than the
 *           run's is open only while it judges
 * Judged    as judge.h does it, functions with their context, with an engine of its own that is closed again: its
 *           memory is planned like a command's
 * Kept      with keeps, places are kept by the text of their file (finder.h) and scores by the prompts (judge.h). After
 *           a file was changed, only its changed functions are asked about again, and a run that was killed goes on
 * Missed    with lists_missed, lists what could not be searched or judged: code in languages without rules, files that
 *           no parser could read, places whose lines do not fit a prompt, and the rest after an interrupt. Documents
 *           and data are not listed, but counted in a note
 * Dry       a dry run counts the most tokens that the run may feed, and expects the seconds of the judge's model
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
    float confidence;  /* only read if the flag is given; else the judge's calibration has the value, else it is 0.5 */
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
