/* answers.h - answers to many prompts, several at once: `generate --jsonl`.
 *
 * Rows     {"index","answer","id","ids","text","reasoning_content","tool_calls","finish_reason","prompt_tokens"}, in
 *          the order of the prompts; calls of tools are in the text, too; with n_top also "logprobs" [ids] and
 *          "top_logprobs" [ids][{"id","logprob"}], of the model's own distribution, before temperature and cuts
 * A line   what prompts.h reads, and "max_tokens", "seed", "temperature", "top_k", "top_p", "min_p", and "grammar" or
 *          "json_schema", which take the place of the options'; a grammar that cannot be read is the line's fault.
 *          "stop": a text or a list of texts (stops.h), before the first of which the answer's text ends; "ids" go on
 *          to the one that completed it. With tool_choice a line has messages, and a choice that its tools do not
 *          allow is its fault
 * Several  a line with "n": K has K answers, in K rows with "answer" 0 .. K-1. Its prompt is read once, and each answer
 *          goes on from a fork of it
 * Random   the numbers of an answer depend on the options' seed and the prompt's index; with a "seed" of its own on
 *          nothing else; answer k of a line takes a seed that is k higher, and so is the answer of the line alone with
 *          that seed. So an answer has the same bits alone, in company, and after a restart
 * At once  a prompt joins as soon as another's answer has ended, and those that join together are read together; each
 *          has its own stop, seed and length
 * Memory   planned before the first prompt: sequences as long as the longest prompt and answer need, slots, ids, a row,
 *          grammars
 * Owner    options and what they point to are lent until close; so is the model
 * Errors   those of the engine, prompts.h and results.h. MYTH_ECANCEL: interrupted; what was finished is kept
 * Threads  one */
#ifndef MYTH_JOB_ANSWERS_H
#define MYTH_JOB_ANSWERS_H

#include "frontend/cli/json_out.h"
#include "frontend/common/grammars.h"
#include "frontend/common/stops.h"
#include "frontend/rates/expect.h"
#include "results.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_ANSWERS_AT_ONCE = 16, MYTH_ANSWERS_TOP_K = 1024, MYTH_ANSWERS_TEMP = 100 }; /* the flags' bounds */
enum { MYTH_ANSWERS_OF_LINE = 4096 };                                                   /* "n" of a line at most */

typedef struct {
    const char *prompts, *output;
    myth_prompts_opts reading; /* n_most and is_done are set here */
    myth_sample_params sample;
    const int32_t *stop_ids;
    int n_stop;
    uint32_t n_new;      /* new ids at most, where a line does not say */
    uint32_t n_think;    /* of a thought at most; 0 = any number */
    uint32_t n_parallel; /* 0 = as many as fit, at most MYTH_ANSWERS_AT_ONCE */
    uint32_t n_top;
    const myth_gbnf *grammar; /* of lines without one of their own; NULL = none */
    uint64_t grammar_hash;
    const char *tool_choice; /* grammars.h; of lines with messages and without a grammar of their own; NULL = none */
    const myth_stop_texts *stops; /* of lines without "stop"; lent */
    bool goes_on;                 /* from the output's journal */
} myth_answers_opts;

typedef struct myth_answers myth_answers;

/* Reads all prompts once and plans; eo: the engine's options, which it completes. With MYTH_ENOFIT *out is open, for
 * myth_answers_print_plan. */
myth_status myth_answers_open(myth_answers **out, myth_cli *cli, myth_model *model, const myth_answers_opts *o,
                              const myth_engine_opts *eo, myth_error *err);
void myth_answers_close(myth_answers *a); /* takes NULL */
/* What --dry-run prints. */
myth_status myth_answers_print_plan(myth_answers *a, bool as_json, myth_error *err);
/* Answers all prompts that are not answered yet, and writes the output. */
myth_status myth_answers_run(myth_answers *a, myth_error *err);
typedef struct {
    uint64_t n_answer, n_fault; /* of the job: answers, and lines that got none */
    uint64_t n_run, n_id;       /* of this run: answers, and their new ids */
    double seconds;
} myth_answers_count;
myth_answers_count myth_answers_counts(const myth_answers *a);

#ifdef __cplusplus
}
#endif
#endif
