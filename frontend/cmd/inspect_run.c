/* inspect_run.c - the steps of every inspect command: flags to options, pipeline, report to standard output and files,
 * exit code. */
#include "inspect_run.h"

#include "engine/base/clock.h"
#include "engine/base/program.h"
#include "choose_rules.h"
#include "frontend/candidates/inspect_base.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/plan_out.h"
#include "frontend/common/said.h"
#include "frontend/inspect/report/edition.h"
#include "frontend/inspect/report/outputs.h"
#include "frontend/rates/expect.h"
#include "frontend/rates/progress.h"
#include "frontend/cli/json_out.h"
#include "repeat.h"
#include "task.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { FAIL_NEVER = MYTH_SEVERITY_N };

#define AT(field) offsetof(myth_inspect_flags, field)
const myth_option myth_options_inspect[MYTH_N_OPTIONS_INSPECT] = {
    {"format", NULL, MYTH_OPT_CHOICE, MYTH_FORMS, AT(format), "text", 0, 0, "output format of the findings"},
    {"output", NULL, MYTH_OPT_LIST, "FORM=PATH", AT(output), NULL, 0, 0,
     "also write the findings to a file, in that format; may be given several times"},
    {"category", NULL, MYTH_OPT_TEXT, "ID", AT(category), NULL, 0, 0,
     "what this report is told apart by where there are several of one commit, in json and sarif "
     "(automationDetails.id)"},
    {"patch", NULL, MYTH_OPT_OUT, "FILE", AT(patch), NULL, 0, 0,
     "write the fixes that apply cleanly and parse into one diff for git apply; empty when there are none"},
    {"baseline", NULL, MYTH_OPT_TEXT, "FILE", AT(baseline), NULL, 0, 0,
     "an earlier report (json, jsonl, sarif); findings that it has are known and do not count"},
    {"update-baseline", NULL, MYTH_OPT_FLAG, NULL, AT(update_baseline), NULL, 0, 0,
     "overwrite the --baseline file with this run's findings, which then do not fail the run"},
    {"since", NULL, MYTH_OPT_TEXT, "REV", AT(since), NULL, 0, 0,
     "report only findings that lines changed or gone since that git revision brought; without any no model is run"},
    {"inline-ignores", NULL, MYTH_OPT_FLAG, NULL, AT(inline_ignores), "on", 0, 0,
     "hide findings that a comment mythos:ignore[rule] REASON excuses; --no-inline-ignores shows them"},
    {"fail-level", NULL, MYTH_OPT_CHOICE, "high|medium|low|info|never", AT(fail_level), "high", 0, 0,
     "exit 1 when a finding is at least this severe"},
    {"time-limit", NULL, MYTH_OPT_U32, "SECONDS", AT(time_limit), "(none)", 1, 1 << 24,
     "end the run then with the findings so far, as SIGTERM does (exit 3)"},
    {"allow-unknown-languages", NULL, MYTH_OPT_FLAG, NULL, AT(allow_unknown), NULL, 0, 0,
     "no exit 3 where all that was not inspected is in languages without rules, or unknown to the judge"},
    {"rules", NULL, MYTH_OPT_TEXT, "ID,ID", AT(rules), "(all)", 0, 0, "report findings of these rules only"},
    {"skip-rules", NULL, MYTH_OPT_TEXT, "ID,ID", AT(skip_rules), NULL, 0, 0, "report no findings of these rules"},
    {"min-severity", NULL, MYTH_OPT_CHOICE, "high|medium|low|info", AT(min_severity), "info", 0, 0,
     "report no findings that are less severe"},
    {"task", NULL, MYTH_OPT_TEXT, "TEXT", AT(task), NULL, 0, 0,
     "also ask for this, in your own words: what to look for, or what not to report; at most 2,000 bytes"},
    {"max-prompt-tokens", NULL, MYTH_OPT_U32, "N", AT(max_prompt_tokens), "12000", 1, 1 << 24,
     "most tokens of one prompt; code that is longer is inspected in parts"},
    {"max-new-tokens", "-n", MYTH_OPT_U32, "N", AT(max_new_tokens), "1024", 1, 1 << 20, "most tokens of an answer"},
    {"map-tokens", NULL, MYTH_OPT_U32, "N", AT(map_tokens), "2000", 1, 1 << 20,
     "most tokens of the prompt for the repository map; the code gets what is left over"},
    {"task-tokens", NULL, MYTH_OPT_U32, "N", AT(task_tokens), "500", 1, 1 << 20,
     "most tokens of the prompt for the task; the code gets what is left over"},
    {"code-tokens", NULL, MYTH_OPT_U32, "N", AT(code_tokens), "(what map and task leave)", 0, 1 << 24,
     "most tokens of the prompt for code"},
    {"context-rounds", NULL, MYTH_OPT_U32, "N", AT(context_rounds), "1", 0, MYTH_INSPECT_ROUNDS_MAX,
     "how often the model may ask for missing context and answer again"},
    {"jobs", NULL, MYTH_OPT_U32, "N", AT(jobs), "1", 0, MYTH_INSPECT_JOBS_MAX,
     "answers generated at once, one for each part, with the same report, as memory allows; 0 = all that fit, to 8"},
    {"split", NULL, MYTH_OPT_FLAG, NULL, AT(split), "on", 0, 0,
     "cut code that is too long for one prompt into parts, at definitions; --no-split refuses it instead"},
    {"two-pass", NULL, MYTH_OPT_FLAG, NULL, AT(two_pass), NULL, 0, 0,
     "find problems in a first pass and explain them in a second"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, AT(dry_run), NULL, 0, 0,
     "count tokens, plan memory and expect the seconds, but do not run the model"},
    {"as", NULL, MYTH_OPT_TEXT, "NAME", AT(as), "(this machine)", 0, 0,
     "with --dry-run: the seconds on another machine: a name of bench/results, or the path of a file of rates"},
    {"cache", NULL, MYTH_OPT_FLAG, NULL, AT(cache), "on", 0, 0,
     "take answers of earlier runs with the same prompt, model and settings, and keep new ones; --no-cache asks again"},
    {"cache-limit", NULL, MYTH_OPT_SIZE, "SIZE", AT(cache_limit), "1GiB", 0, 0,
     "most bytes of each of the two files of the cache: answers and reports, and what was found and judged"},
    {"prompt-style", NULL, MYTH_OPT_TEXT, "STYLE", AT(style), NULL, 0, 0,
     "compact or full; the default is what the model was trained for"},
};

/* The state of one run, passed to the pipeline's callbacks. */
typedef struct {
    myth_cli *cli;
    const myth_inspect_flags *o;
    const myth_inspect_job *job;
    myth_model model;
    bool has_data;
    myth_error data_err; /* why the model can only be counted with and not run, when has_data is false */
    myth_material *material;
    myth_inspection *in;
    myth_baseline *base;
    myth_judged *places;   /* that rules found and the model judged; NULL = none were looked for */
    myth_error no_places;  /* why the judge's memory does not fit; "" = it does */
    myth_since *since;     /* NULL = not asked */
    myth_patches *patches; /* made from the finished report; NULL = none */
    myth_runlog *log;      /* NULL = none */
    myth_kept *kept;       /* answers of earlier runs; NULL = none */
    myth_task task;        /* with what --task adds */
    myth_repeat repeat;    /* the whole of an earlier run */
    myth_engine *engine;   /* NULL until an answer has to be generated */
    const myth_engine_opts *engine_opts;
    uint32_t n_answer, n_kept, n_not_chosen;
    myth_rule_choice choice;
    myth_progress progress;
    myth_pace pace; /* what the answers measured, to be kept */
    myth_expectation expected;
    myth_work work;
    char worker[PATH_MAX];
} run;

/* ---- callbacks ---- */

static void on_progress(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total)
{
    run *w = user;
    char line[160];
    const bool is_terminal = w->cli->term->has_progress;
    (void)n_part;
    if (!myth_progress_is_due(&w->progress, is_terminal, myth_seconds()))
        return;
    myth_progress_text(&w->progress, line, sizeof(line), part, what, done, total);
    if (is_terminal)
        myth_term_progress_line(w->cli->term, line);
    else
        myth_term_note_once(w->cli->term, line);
}

static void begin_progress(run *w)
{
    const uint32_t n = myth_inspect_n_part(w->in);
    uint64_t total = 0;
    for (uint32_t i = 0, n_block, n_tok; i < n; i++) {
        myth_inspect_part(w->in, i, &n_block, &n_tok);
        total += n_tok - myth_inspect_prefix(w->in, i);
    }
    myth_progress_begin(&w->progress, n, total, myth_seconds());
}

/* Whether it is the first answer to a prompt. */
static bool is_first(const myth_exchange *x)
{
    return x->kind == MYTH_EXCHANGE_FIRST || x->kind == MYTH_EXCHANGE_SUMMARY;
}

/* What an answer says about how far the run is. */
static void note_progress(run *w, const myth_exchange *x)
{
    uint32_t n_block, n_tok;
    if (is_first(x) && x->finish != MYTH_FINISH_CANCELLED) {
        myth_inspect_part(w->in, x->part, &n_block, &n_tok);
        myth_progress_pass(&w->progress, n_tok - myth_inspect_prefix(w->in, x->part), x->is_kept);
    }
    if (!x->is_kept)
        myth_progress_add(&w->progress, x->n_ids - x->n_kept + x->n_new, x->seconds);
}

static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    const run *w = user;
    return w->job->on_context(w->job->user, request, m, of, near, near_cap);
}

static bool wants(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c)
{
    run *w = user;
    if (!myth_rules_has(&w->choice, f->rule, f->severity)) {
        w->n_not_chosen++;
        return false;
    }
    const bool is_far = f->is_brought; /* lines that are gone brought it, anywhere in the file */
    return (!w->job->wants || w->job->wants(w->job->user, src, f, c)) &&
           (!w->since || myth_since_touches(w->since, src, is_far ? 0 : f->first, is_far ? src->n_line + 1 : f->last));
}

static void on_exchange(void *user, const myth_exchange *x)
{
    run *w = user;
    myth_runlog_exchange(w->log, x);
    note_progress(w, x);
    w->n_answer++;
    w->n_kept += x->is_kept;
    if (x->finish == MYTH_FINISH_CANCELLED || x->is_kept)
        return;
    if (!x->is_beside) /* the rates kept are those of one answer at a time */
        myth_pace_add(&w->pace, MYTH_PREFILL, x->n_kept, x->n_ids - x->n_kept, x->read_seconds);
    if (x->n_new > 1 && !x->is_beside) /* the first token comes with the prompt */
        myth_pace_add(&w->pace, MYTH_DECODE, x->n_ids, x->n_new - 1, x->seconds - x->read_seconds);
    w->pace.n_answer += is_first(x);
    w->pace.answer_tokens += x->n_new;
}

/* ---- outputs ---- */

static int exit_of_report(const myth_inspect_flags *o, const myth_inspect_job *job, const myth_report *r)
{
    int code = r->complete || myth_inspect_may_lack(o, job, r) ? MYTH_EXIT_CLEAN : MYTH_EXIT_INCOMPLETE;
    if (r->is_question)
        return r->complete && !r->n_sentence ? MYTH_EXIT_FINDINGS : code;
    if (r->summary.is_asked && !r->summary.why_none && r->complete && !r->n_sentence)
        code = MYTH_EXIT_FINDINGS; /* as of a question that is not answered */
    if (o->update_baseline)        /* the new baseline has these findings, so they do not count */
        return code;
    if (o->fail_level != FAIL_NEVER && myth_report_reaches(r, (myth_severity)o->fail_level))
        code = myth_exit_worse(code, MYTH_EXIT_FINDINGS);
    return code;
}

/* Writes the report to all outputs and to the new baseline; last to the log, so that who ends a long run has it. */
static myth_status render(run *w, const myth_report *report, myth_error *err)
{
    myth_report r = *report;
    const char *why;
    r.is_lack_allowed = myth_inspect_may_lack(w->o, w->job, report);
    r.since = w->o->since;
    r.left_out = w->job->left_out;
    r.category = w->o->category;
    r.patch = w->patches ? myth_patches_list(w->patches) : NULL;
    if (w->since && myth_since_n_failed(w->since, &why))
        myth_term_note(w->cli->term, "--since: %u file%s not comparable, taken as changed: %s",
                       myth_since_n_failed(w->since, &why), myth_s(myth_since_n_failed(w->since, &why)), why);
    const uint32_t n_chosen = w->n_not_chosen < r.n_unwanted ? w->n_not_chosen : r.n_unwanted,
                   n_lines = r.n_unwanted - n_chosen;
    if (n_chosen)
        myth_term_note(w->cli->term, "%u finding%s not reported: other rules, or less severe than --min-severity",
                       n_chosen, myth_s(n_chosen));
    if (n_lines && w->job->unwanted && !w->since)
        myth_term_note(w->cli->term, "%u finding%s %s", n_lines, myth_s(n_lines), w->job->unwanted);
    const myth_revision_opts here = {.root = w->job->root};
    myth_edition e = {0};
    const myth_report logged = r; /* without commit and day: a replay compares bytes */
    if (myth_edition_is_shown((myth_form)w->o->format, &w->o->output))
        myth_edition_find(&e, &r, w->job->side ? w->job->side : w->job->root ? &here : NULL);
    myth_repeat_render(&w->repeat, &r, w->patches);
    myth_output_render(stdout, (myth_form)w->o->format, &r, w->cli->term);
    fflush(stdout);
    myth_status st = myth_outputs_write(&w->o->output, &r, err);
    if (st == MYTH_OK && w->o->patch)
        st = myth_patches_write(w->patches, w->o->patch, err);
    if (st == MYTH_OK && w->o->update_baseline && w->in && !r.refusal)
        st = myth_baseline_write(w->base, w->o->baseline, &r, err);
    if (st == MYTH_OK && !ferror(stdout))
        myth_cli_is_told(exit_of_report(w->o, w->job, &r));
    myth_runlog_report(w->log, &logged, (myth_form)w->o->format);
    return st;
}

/* Turns the fixes that are code into patches, and prints how many fixes could not become one and why. */
static myth_status make_patches(run *w, const myth_report *r, myth_error *err)
{
    char line[320];
    myth_status st = myth_patches_open(&w->patches, r, w->job->root, w->worker[0] ? w->worker : NULL, err);
    if (st == MYTH_OK && myth_patches_text(w->patches, line, sizeof(line)))
        myth_term_note(w->cli->term, "%s", line);
    return st;
}

/* Prints tokens, parts and planned memory before anything is generated. */
static void print_counts(const run *w)
{
    char size[24], left[64] = "", line[1024];
    const myth_report *r = myth_inspect_report(w->in);
    const myth_budget *b = r->budget;
    const bool has_summary = r->summary.n_block > 0;
    const uint32_t n = myth_inspect_n_part(w->in) - has_summary - myth_inspect_first_part(w->in);
    if (b->n_left_out)
        snprintf(left, sizeof(left), ", %u of %u piece%s of context left out", b->n_left_out, b->n_context,
                 myth_s(b->n_context));
    snprintf(
        line, sizeof(line),
        "%.600s: %u prompt token%s, at most %u new, %u part%s%s, %s planned; rules %u, map %u of %u%s, task %u of %u, "
        "code %u of %u%s",
        r->path, r->prompt_tokens, myth_s(r->prompt_tokens), w->o->max_new_tokens, n, myth_s(n),
        has_summary ? " and a summary" : "", myth_size_text(size, w->cli->plan.total_bytes), b->rules, b->map,
        b->map_room, b->is_map_cut ? " (cut)" : "", b->task, b->task_room, b->code_most, b->code_room, left);
    myth_term_note_once(w->cli->term, line);
}

/* The prompts that the model would be asked, and what is in them. */
static void print_parts(const run *w, uint32_t first, uint32_t n)
{
    const myth_report *r = myth_inspect_report(w->in);
    const myth_budget *b = r->budget;
    const uint32_t has_summary = r->summary.n_block > 0;
    printf("prompt tokens    %u\n  rules          %u\n  map            %u of %u%s\n  task           %u of %u\n  code   "
           "        %u, at most %u a part\n",
           r->prompt_tokens, b->rules, b->map, b->map_room, b->is_map_cut ? ", cut" : "", b->task, b->task_room,
           b->code, b->code_room);
    if (b->n_context)
        printf("other code       %u piece%s as context, %u left out\n", b->n_context, myth_s(b->n_context),
               b->n_left_out);
    printf("new tokens       %u\nparts            %u%s", r->max_new_tokens, n - has_summary - first,
           has_summary ? " and a summary" : "");
    if (w->work.n_kept)
        printf(", %u of them answered by an earlier run", w->work.n_kept);
    putchar('\n');
    for (uint32_t i = first, n_block, n_tok; i < n; i++) {
        const myth_block *block = myth_inspect_part(w->in, i, &n_block, &n_tok);
        if (myth_inspect_is_summary(w->in, i)) {
            printf("  summary of %u of %u changed line%s", r->summary.n_shown, r->summary.n_line,
                   myth_s(r->summary.n_line));
            n_block = 0;
        }
        for (uint32_t k = 0; k < n_block; k++) {
            fputs("  ", stdout);
            if (r->n_file > 1)
                myth_term_path(stdout, block[k].src->path);
            printf("%slines %u-%u%s", r->n_file > 1 ? " " : "", block[k].first, block[k].last,
                   k + 1 < n_block ? "\n" : "");
        }
        printf(": %u token%s%s\n", n_tok, myth_s(n_tok), myth_inspect_is_kept(w->in, i) ? ", answered" : "");
    }
}

static void dry_run_text(const run *w)
{
    const myth_plan *plan = &w->cli->plan;
    const uint32_t first = myth_inspect_first_part(w->in), n = myth_inspect_n_part(w->in);
    const bool is_alone = w->places && n == first; /* the judge, whose seconds are in the line of the places */
    char size[24];
    if (is_alone)
        myth_judged_print_text(stdout, w->places, true);
    else
        print_parts(w, first, n);
    if (myth_inspect_jobs(w->in) > 1)
        printf("answers at once  %u; the seconds below are those of one at a time\n", myth_inspect_jobs(w->in));
    printf("context          %u\nmemory           %s%s\n", plan->n_ctx, myth_size_text(size, plan->total_bytes),
           plan->fits ? "" : " (does not fit)");
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        if (plan->bytes[c])
            printf("  %-14s %s\n", myth_mem_class_name((myth_mem_class)c), myth_size_text(size, plan->bytes[c]));
    if (!is_alone || !w->expected.is_known)
        myth_expect_print_text(stdout, &w->expected, &w->work);
    if (w->places && !is_alone)
        myth_judged_print_text(stdout, w->places, false);
}

static void part_object(const run *w, myth_json_out *j, uint32_t i)
{
    uint32_t n_block, n_tok, n_hidden;
    const myth_block *block = myth_inspect_part(w->in, i, &n_block, &n_tok);
    myth_jout_object(j);
    myth_jout_key(j, "lines"); /* lines of the first block, as when only one file is inspected */
    myth_jout_array(j);
    myth_jout_u64(j, block->first);
    myth_jout_u64(j, block->last);
    myth_jout_end(j);
    myth_jout_key_u64(j, "prompt_tokens", n_tok);
    myth_jout_key_bool(j, "kept", myth_inspect_is_kept(w->in, i));
    myth_jout_key(j, "blocks");
    myth_jout_array(j);
    for (uint32_t k = 0; k < n_block; k++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "file", block[k].src->path);
        myth_jout_key_u64(j, "first", block[k].first);
        myth_jout_key_u64(j, "last", block[k].last);
        myth_jout_key_str(j, "symbol", block[k].symbol);
        myth_jout_key_u64(j, "removed_lines", block[k].removed_most ? myth_prompt_n_removed(&block[k], &n_hidden) : 0);
        myth_jout_key_u64(j, "removed_hidden", block[k].removed_most ? n_hidden : 0);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_end(j);
}

static void dry_run_json(const run *w)
{
    const myth_report *r = myth_inspect_report(w->in);
    const myth_plan *plan = &w->cli->plan;
    const char *file = myth_report_only_file(r);
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "model", r->model);
    if (file)
        myth_jout_key_str(&j, "file", file);
    myth_jout_key_u64(&j, "prompt_tokens", r->prompt_tokens);
    myth_jout_key_u64(&j, "max_new_tokens", r->max_new_tokens);
    myth_jout_key(&j, "parts");
    myth_jout_array(&j);
    for (uint32_t i = myth_inspect_first_part(w->in); i < myth_inspect_n_part(w->in); i++)
        if (!myth_inspect_is_summary(w->in, i))
            part_object(w, &j, i);
    myth_jout_end(&j);
    myth_jout_key_u64(&j, "kept_parts", w->work.n_kept);
    myth_jout_key_u64(&j, "jobs", myth_inspect_jobs(w->in));
    myth_jout_key_u64(&j, "n_ctx", plan->n_ctx);
    myth_jout_key_bool(&j, "fits", plan->fits);
    myth_jout_key_u64(&j, "total_bytes", plan->total_bytes);
    myth_jout_key(&j, "classes");
    myth_jout_object(&j);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        myth_jout_key_u64(&j, myth_mem_class_name((myth_mem_class)c), plan->bytes[c]);
    myth_jout_end(&j);
    myth_jout_key_str(&j, "inspected", r->path);
    myth_jout_key(&j, "budget");
    myth_render_budget(&j, r);
    myth_jout_key(&j, "expected");
    myth_expect_print_json(&j, &w->expected, &w->work);
    if (w->places) {
        myth_jout_key(&j, "judging");
        myth_judged_print_json(&j, w->places);
    }
    if (r->summary.n_block) {
        myth_jout_key(&j, "change_summary");
        part_object(w, &j, myth_inspect_n_part(w->in) - 1);
    }
    myth_jout_end(&j);
}

/* ---- stages ---- */

/* Opens the model with its tensors, or without them when the file has none: the header is enough to count tokens, and
 * so to refuse a prompt that is too long. */
static myth_status open_model(run *w, myth_error *err)
{
    myth_model *m = &w->model;
    myth_status st = w->o->dry_run
                       ? MYTH_EFORMAT
                       : myth_cli_model_open(w->cli, m, &w->o->model, &w->o->engine, MYTH_WEIGHTS_DATA, &w->data_err);
    w->has_data = st == MYTH_OK;
    if (st == MYTH_EFORMAT || st == MYTH_EIO)
        st = myth_cli_model_open(w->cli, m, &w->o->model, &w->o->engine, MYTH_WEIGHTS_HEADER, err);
    else if (st != MYTH_OK)
        *err = w->data_err;
    if (st == MYTH_OK && !m->tokenizer)
        st = myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a model with one",
                       myth_weights_path(m->weights));
    if (st == MYTH_OK)
        myth_said_template(w->cli, m);
    char spec[PATH_MAX];
    if (st == MYTH_OK && myth_cli_model_spec(&w->o->model, spec, sizeof(spec), NULL) == MYTH_OK)
        myth_runlog_model(w->log, m, spec);
    myth_runlog_stage(w->log, "model");
    return st;
}

static myth_status choose_style(const run *w, myth_prompt_style *style, myth_error *err)
{
    char hash[MYTH_PROMPT_HASH_LEN + 1];
    myth_str trained;
    const myth_meta *meta = myth_weights_meta(w->model.weights);
    myth_status st = myth_prompt_style_of(style, meta, err);
    if (st != MYTH_OK)
        return st;
    if (w->o->style && !myth_prompt_style_from_name(style, w->o->style))
        return myth_fail(err, MYTH_EARG, "--prompt-style: got \"%s\", expected compact or full", w->o->style);
    myth_prompt_hash(hash, *style);
    if (myth_meta_str(&trained, meta, "mythos.prompt_hash") && !myth_str_is(trained, hash))
        myth_term_note(w->cli->term, "%s was trained for another prompt (%.*s, this is %s)",
                       myth_weights_name(w->model.weights), (int)(trained.len < 32 ? trained.len : 32), trained.text,
                       hash);
    return MYTH_OK;
}

/* Copies the plan's refusal into the report. */
static void refuse_memory(const run *w, const char *reason)
{
    const myth_plan *plan = &w->cli->plan;
    myth_refusal why = {.count = plan->total_bytes, .limit = plan->limit_bytes, .unit = "bytes"};
    snprintf(why.reason, sizeof(why.reason), "%s", reason);
    for (uint32_t i = 0; i < plan->n_suggestion && i < MYTH_REMEDY_MAX; i++)
        myth_suggestion_print(why.remedy[why.n_remedy++], sizeof(why.remedy[0]), &plan->suggestion[i]);
    myth_inspect_refuse(w->in, &why);
}

static myth_status open_engine(void *user, myth_engine **e, myth_error *err)
{
    run *w = user;
    const myth_status st = myth_cli_engine_open(w->cli, &w->engine, &w->model, w->engine_opts, err);
    *e = w->engine;
    return st;
}

static int generate(run *w, const myth_engine_opts *eo)
{
    char line[128];
    myth_error err = {0};
    const myth_inspect_engine later = {.n_ctx = eo->n_ctx, .open = open_engine, .user = w};
    w->engine_opts = eo;
    begin_progress(w);
    myth_status st = myth_inspect_run_later(w->in, &later, &err);
    myth_term_progress_end(w->cli->term);
    if (st == MYTH_OK && w->engine)
        myth_expect_keep(w->cli, &w->model, eo, w->engine, &w->pace);
    myth_engine_close(w->engine);
    myth_runlog_stage(w->log, "generate");
    if (st != MYTH_OK)
        return myth_cli_fail(w->cli, &err);
    snprintf(line, sizeof(line), "%u of %u answers from earlier runs; --no-cache asks the model again", w->n_kept,
             w->n_answer);
    if (w->n_kept)
        myth_term_note_once(w->cli->term, line);
    const myth_report *r = myth_inspect_report(w->in);
    st = make_patches(w, r, &err);
    if (st == MYTH_OK)
        st = render(w, r, &err);
    if (st != MYTH_OK)
        return myth_cli_fail(w->cli, &err);
    const int code = exit_of_report(w->o, w->job, r);
    if (strcmp(r->finish_reason, myth_finish_name(MYTH_FINISH_CANCELLED)) != 0)
        myth_repeat_keep(&w->repeat, w->log, w->n_answer, code);
    return code;
}

/* From here on keys have the model that was opened and the layout of its prompts. */
static void rebase_kept(run *w, const myth_inspect_opts *io)
{
    if (w->kept && myth_base_answers(w->kept, w->cli, &w->o->engine, &io->sample, io->style, &w->model))
        return;
    myth_kept_close(w->kept); /* the plan says what is wrong with the options */
    w->kept = w->repeat.kept = NULL;
}

/* Opens the answers and reports of earlier runs; a dry run only looks. Without them the run goes on. */
static void open_kept(run *w)
{
    myth_error err = {0};
    if (w->o->cache && (!w->o->dry_run || myth_kept_is_there(myth_env_cache_dir())) &&
        myth_kept_open(&w->kept, myth_env_cache_dir(), "", 0, &err) != MYTH_OK)
        myth_term_note(w->cli->term, "answers are not kept: %s", err.msg);
    if (w->kept)
        myth_kept_bound(w->kept, w->o->cache_limit, 0);
}

/* Plans with as many answers at once as were asked for, or as many as fit beside each other without smaller steps. */
static myth_status plan_jobs(run *w, myth_engine_opts *eo, myth_plan_extra *extra, myth_error *err)
{
    enum { FITTING = 8 };
    const uint32_t asked = w->o->jobs ? w->o->jobs : FITTING;
    myth_plan plan;
    myth_mem_limits limits;
    myth_status st;
    for (uint32_t n = asked;; n = myth_inspect_jobs(w->in) - 1) {
        myth_inspect_set_jobs(w->in, n);
        MYTH_TRY(myth_cli_engine_opts(w->cli, eo, &w->o->engine, err));
        MYTH_TRY(myth_inspect_needs(w->in, eo, extra, err));
        if (myth_inspect_jobs(w->in) == 1)
            break;
        MYTH_TRY(myth_cli_limits(w->cli, &limits, eo, err));
        MYTH_TRY(myth_plan_make(&plan, &w->model, eo, extra, &limits, false, err));
        if (plan.fits && plan.device[0].total_bytes <= myth_cli_host_budget(w->cli))
            break;
    }
    const uint32_t n = myth_inspect_jobs(w->in);
    if (w->o->jobs > n && n < myth_inspect_n_part(w->in))
        myth_term_note(w->cli->term, "--jobs %u: memory allows %u", w->o->jobs, n);
fail:
    return st;
}

/* Finds and judges places, whose findings the report will have. */
static myth_status find_places(run *w, myth_inspect_opts *io, myth_error *err)
{
    const myth_judged_opts fo = {
        .flags = &w->o->judged,
        .engine = &w->o->engine,
        .wants = myth_rules_wants,
        .user = &w->choice,
        .missed = io->missed,
        .n_missed = io->n_missed,
        .lists_missed = w->o->judged.find == MYTH_FIND_CANDIDATES,
        .index = w->job->index ? *w->job->index : NULL,
        .keeps = w->o->cache,
        .cache_limit = w->o->cache_limit,
        .is_dry = w->o->dry_run,
        .as = w->o->as,
    };
    if (!w->has_data && !w->o->dry_run) {
        *err = w->data_err;
        return MYTH_EFORMAT;
    }
    myth_status st = myth_judged_open(&w->places, w->cli, &w->model, w->material, &fo, err);
    if (st != MYTH_OK)
        return st;
    io->given = myth_judged_list(w->places, &io->n_given);
    io->missed = myth_judged_missed(w->places, &io->n_missed);
    io->judge = myth_judged_name(w->places);
    io->only_given = w->o->judged.find == MYTH_FIND_CANDIDATES;
    io->explains_given = w->o->judged.explain && myth_prompt_is_full(io->style);
    myth_runlog_input(w->log, "judge", myth_judged_by(w->places));
    myth_runlog_chosen(w->log, "judge-model", myth_judged_by(w->places));
    myth_runlog_given(w->log, io->given, io->n_given);
    myth_runlog_stage(w->log, "judge");
    myth_judged_note(w->places);
    return MYTH_OK;
}

/* Every step after the prompt was counted: plan, then a dry run, a refusal or the generation. */
static int plan_and_run(run *w)
{
    myth_error err = {0};
    myth_engine_opts eo;
    myth_plan_extra extra;
    myth_status st;
    if (w->no_places.msg[0]) {
        err = w->no_places;
        st = MYTH_ENOFIT;
        goto refuse;
    }
    MYTH_TRY(plan_jobs(w, &eo, &extra, &err));
    if (!w->o->dry_run && !myth_inspect_asks(w->in)) {
        myth_judged_cover(w->places, &w->cli->plan, &extra);
        return generate(w, &(myth_engine_opts){0});
    }
    if (w->o->dry_run) {
        if (myth_inspect_rehearse(w->in, NULL) != MYTH_OK && w->cli->global->verbose)
            myth_term_note(w->cli->term, "no memory to look for kept answers: they are expected to be generated");
        myth_inspect_work(w->in, &w->work);
        MYTH_TRY(myth_expect(&w->expected, w->cli, &w->model, &eo, w->o->as, &w->work, &err));
        myth_expect_limits(w->cli, &eo, w->o->as);
    }
    st = myth_cli_plan(w->cli, &w->model, &eo, &extra, &err);
    if (st == MYTH_OK)
        myth_judged_cover(w->places, &w->cli->plan, &extra);
    if (w->o->dry_run && (st == MYTH_OK || st == MYTH_ENOFIT)) {
        (w->o->format == MYTH_FORM_TEXT ? dry_run_text : dry_run_json)(w);
        return MYTH_EXIT_CLEAN;
    }
refuse:
    if (st == MYTH_ENOFIT) {
        refuse_memory(w, err.msg);
        myth_error own = {0};
        if (render(w, myth_inspect_report(w->in), &own) != MYTH_OK)
            myth_term_error(w->cli->term, own.msg);
    }
    if (st != MYTH_OK)
        goto fail;
    if (!w->has_data)
        return myth_cli_fail(w->cli, &w->data_err);
    print_counts(w);
    return generate(w, &eo);
fail:
    return myth_cli_fail(w->cli, &err);
}

static myth_status open_since(run *w, myth_error *err)
{
    const myth_revision_opts by_path = {0};
    myth_status st = myth_since_open(&w->since, w->job->side ? w->job->side : &by_path,
                                     w->cli->n_arg ? w->cli->arg[0] : "", w->o->since, err);
    if (st == MYTH_OK)
        myth_runlog_input_bytes(w->log, "since", myth_since_id(w->since), strlen(myth_since_id(w->since)));
    return st;
}

/* Writes a report without findings, for a run that has no code to inspect. */
static myth_status render_nothing(run *w, const char *title, const myth_inspect_opts *io, int *code, myth_error *err)
{
    const myth_report r = {
        .model = myth_model_name(&w->model),
        .path = title ? title : "",
        .max_new_tokens = w->o->max_new_tokens,
        .finish_reason = myth_finish_name(MYTH_FINISH_STOP),
        .missed = io->missed,
        .n_missed = io->n_missed,
        .complete = io->n_missed == 0,
        .summary = {.is_asked = io->summary, .why_none = io->summary ? "no line of it is to be inspected" : NULL},
    };
    *code = w->o->dry_run ? MYTH_EXIT_CLEAN : exit_of_report(w->o, w->job, &r);
    myth_term_note(w->cli->term,
                   w->since ? "%s: no inspected line changed since %s, so the model was not run"
                            : "%s: nothing to inspect",
                   r.path, w->o->since);
    return render(w, &r, err);
}

/* Everything before the prompts. *is_done: the run repeated an earlier one, and *code is its exit code. */
static myth_status prepare(run *w, myth_inspect_opts *io, bool *is_done, int *code, myth_error *err)
{
    const myth_inspect_flags *o = w->o;
    const myth_inspect_job *job = w->job;
    const int find = o->judged.find;
    const myth_rule_sources from = {job->is_change, find != MYTH_FIND_CANDIDATES, find != MYTH_FIND_MODEL};
    myth_status st;
    MYTH_TRY(myth_rules_choose(&w->choice, o->rules, o->skip_rules, (myth_severity)o->min_severity, &from, err));
    io->kept_out = w->choice.kept_out;
    if (o->task)
        MYTH_TRY(myth_task_check(o->task, err));
    MYTH_TRY(myth_outputs_check(&o->output, err));
    MYTH_TRY(myth_hint_check_output("--patch", o->patch, err));
    if (o->update_baseline)
        MYTH_TRY(myth_hint_check_output("--baseline", o->baseline, err));
    if (o->as && !o->dry_run)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "--as: add --dry-run; a real run says nothing of another machine"));
    MYTH_TRY(myth_judged_check(&o->judged, w->cli->parsed, err));
    if (o->update_baseline && !o->baseline)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "--update-baseline: name the file with --baseline FILE"));
    myth_runlog_input(w->log, "baseline", o->baseline);
    myth_runlog_input(w->log, "tokenizer", o->model.tokenizer);
    if (o->baseline)
        MYTH_TRY(myth_baseline_open(&w->base, w->cli->mem, o->baseline, o->update_baseline, err));
    io->baseline = w->base;
    if (job->begin)
        MYTH_TRY(job->begin(job->user, w->cli, err));
    myth_baseline_root(w->base, job->root, myth_looks_file, job->looks);
    open_kept(w);
    myth_repeat_begin(&w->repeat, w->cli, o, job, &io->sample, w->kept);
    if ((*is_done = myth_repeat_take(&w->repeat, w->log, code)))
        return MYTH_OK;
    if (o->since)
        MYTH_TRY(open_since(w, err));
    MYTH_TRY(open_model(w, err));
    MYTH_TRY(choose_style(w, &io->style, err));
    MYTH_TRY(myth_material_open(&w->material, w->cli->mem, job->root, err));
    if (o->task)
        MYTH_TRY(myth_task_reserve(&w->task, o->task, &w->model, io, err));
    if (job->fill)
        MYTH_TRY(job->fill(job->user, w->cli, &w->model, w->material, io, err));
    if (o->task)
        MYTH_TRY(myth_task_add(&w->task, io, err));
    myth_runlog_say(w->log, "task", io->task);
    myth_runlog_say(w->log, "summary", io->summary ? io->summary->task : NULL);
    myth_runlog_say(w->log, "map", io->map);
    myth_runlog_say(w->log, "title", io->title);
    myth_runlog_stage(w->log, "select");
fail:
    return st;
}

int myth_inspect_command(myth_cli *cli, const myth_inspect_flags *given, const myth_inspect_job *job)
{
    myth_inspect_flags flags = *given, *o = &flags;
    flags.judged.find = job->is_question ? MYTH_FIND_MODEL : myth_judged_find(&given->judged, given->model.model);
    run w = {.cli = cli, .o = o, .job = job, .progress = {.drawn_at = myth_seconds()}};
    myth_error err = {0};
    int code = MYTH_EXIT_CLEAN;
    myth_inspect_opts io = {
        .max_prompt_tokens = o->max_prompt_tokens,
        .max_new_tokens = o->max_new_tokens,
        .map_tokens = o->map_tokens,
        .code_tokens = o->code_tokens,
        .task_tokens = o->task_tokens,
        .n_ctx = o->engine.ctx_size,
        .split = o->split,
        .two_pass = o->two_pass,
        .no_inline_ignores = !o->inline_ignores,
        .worker_path = myth_program_start(w.worker, sizeof(w.worker)) ? w.worker : NULL,
        .context_rounds = o->context_rounds,
        .n_job = o->jobs,
        .cancel = cli->cancel,
        .on_progress = on_progress,
        .on_exchange = on_exchange,
        .on_context = job->on_context ? on_context : NULL,
        .wants = wants,
        .user = &w,
    };
    myth_status st;
    myth_cli_sample_params(&io.sample, &o->sample);
    myth_cli_end_after(o->time_limit);
    cli->runlog = w.log = o->dry_run ? NULL : myth_runlog_begin(&o->log, cli);
    myth_runlog_chosen(w.log, "find", myth_find_name((myth_find)o->judged.find));
    if (job->is_question) /* which has no findings to fail for, and is refused with a level */
        myth_runlog_chosen(w.log, "fail-level", "high");
    bool is_done = false;
    MYTH_TRY(prepare(&w, &io, &is_done, &code, &err));
    if (is_done)
        goto fail;
    if (!myth_material_has_subject(w.material) || !myth_since_has_changed(w.since, w.material)) {
        MYTH_TRY(render_nothing(&w, io.title ? io.title : cli->n_arg ? cli->arg[0] : "", &io, &code, &err));
        goto fail;
    }
    rebase_kept(&w, &io);
    io.kept = w.kept;
    st = o->judged.find != MYTH_FIND_MODEL ? find_places(&w, &io, &err) : MYTH_OK;
    if (st == MYTH_ENOFIT)
        w.no_places = err; /* the report says so */
    else if (st != MYTH_OK)
        goto fail;
    MYTH_TRY(myth_inspect_open(&w.in, &w.model, w.material, &io, &err));
    myth_term_progress_end(cli->term);
    myth_runlog_stage(w.log, "pack");
    myth_runlog_inspection(w.log, w.in, w.material, &io, &w.model, job->root);
    if (myth_inspect_report(w.in)->refusal) {
        MYTH_TRY(render(&w, myth_inspect_report(w.in), &err));
        code = o->dry_run ? MYTH_EXIT_CLEAN : exit_of_report(o, job, myth_inspect_report(w.in));
    } else {
        code = plan_and_run(&w);
    }
fail:
    if (st != MYTH_OK)
        code = myth_cli_fail(cli, &err);
    myth_runlog_end(w.log, code);
    cli->runlog = NULL;
    myth_repeat_close(&w.repeat);
    myth_patches_close(w.patches);
    myth_inspect_close(w.in);
    myth_judged_close(w.places);
    myth_material_close(w.material);
    myth_model_close(&w.model);
    myth_baseline_close(w.base);
    myth_since_close(w.since);
    myth_kept_close(w.kept);
    return code;
}
