/* results.c - rows in a block of fixed size, from there into the journal, at the end from the journal into the output.
 */
#include "results.h"

#include "shares.h"

#include "engine/base/clock.h"
#include "engine/base/outfile.h"
#include "frontend/cli/plan_out.h"
#include "frontend/rates/expect.h"
#include "frontend/rates/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MORE = 320 + MYTH_PROMPT_FAULT_BYTES * 6 }; /* "index", "error" and braces; the same of a second line */

size_t myth_results_bytes(size_t row_bytes, size_t n_id) { return row_bytes + n_id + ROW_MORE; }

myth_status myth_results_open(myth_results *r, myth_cli *cli, const char *output, const myth_journal_fact *fact,
                              size_t n_fact, bool goes_on, uint64_t n_item, size_t row_bytes, size_t n_id,
                              myth_error *err)
{
    *r = (myth_results){.cli = cli, .output = output, .n_item = n_item, .unit = "tok/s"};
    r->cap = myth_results_bytes(row_bytes, n_id);
    r->buffer = myth_alloc(cli->mem, MYTH_MEM_STAGING, "rows", r->cap);
    if (!r->buffer)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a row of %zu bytes", r->cap);
    char path[PATH_MAX];
    myth_status st = myth_journal_open(&r->journal, myth_shares_output(path, cli, output), fact, n_fact,
                                       goes_on || cli->goes_on, err);
    if (st == MYTH_OK && (st = myth_journal_get_count(r->journal, "faults", &r->n_fault, err)) != MYTH_OK)
        myth_journal_close(r->journal);
    if (st != MYTH_OK) {
        myth_free(cli->mem, r->buffer);
        *r = (myth_results){0};
        return st;
    }
    cli->has_journal = 1;
    r->n_before = myth_journal_n_done(r->journal);
    r->begin = r->drawn_at = myth_seconds();
    if (r->n_before && !cli->merges_shares)
        myth_term_note(cli->term, "%s: goes on, %" PRIu64 " of %" PRIu64 " are done", output, r->n_before, n_item);
    return MYTH_OK;
}

void myth_results_close(myth_results *r)
{
    myth_results_drop(r);
    if (r->journal)
        myth_results_commit(r, NULL);
    myth_journal_close(r->journal);
    if (r->cli) {
        r->cli->has_journal = 0;
        myth_free(r->cli->mem, r->buffer);
    }
    *r = (myth_results){0};
}

bool myth_results_is_done(void *user, uint64_t index)
{
    const myth_results *r = user;
    return !myth_shares_has(r->cli, index) || (r->journal && myth_journal_is_done(r->journal, index));
}

/* ---- a row ---- */

static myth_json_out *begin_row(myth_results *r, uint64_t prompt, const uint32_t *answer, const char *id, size_t n_id)
{
    myth_json_out *j = myth_jout_block_begin(&r->row, r->buffer, r->cap);
    myth_jout_object(j);
    myth_jout_key_u64(j, "index", prompt);
    if (answer)
        myth_jout_key_u64(j, "answer", *answer);
    if (n_id) {
        myth_jout_key(j, "id");
        myth_jout_json(j, id, n_id);
    }
    return j;
}

myth_json_out *myth_results_begin(myth_results *r, uint64_t index, const char *id, size_t n_id)
{
    return begin_row(r, index, NULL, id, n_id);
}

myth_json_out *myth_results_begin_answer(myth_results *r, uint64_t prompt, uint32_t answer, const char *id, size_t n_id)
{
    return begin_row(r, prompt, &answer, id, n_id);
}

myth_json_out *myth_results_second(myth_results *r)
{
    myth_jout_end(&r->row.json);
    myth_json_out *j = myth_jout_block_next(&r->row);
    myth_jout_object(j);
    return j;
}

myth_status myth_results_end(myth_results *r, uint64_t index, myth_error *err)
{
    size_t n;
    myth_jout_end(&r->row.json);
    myth_status st = myth_jout_block_end(&r->row, &n);
    if (st == MYTH_ENOMEM)
        return myth_fail(err, st, "out of memory for a row");
    if (st != MYTH_OK)
        return myth_fail(err, st, "%s: the row of prompt %" PRIu64 " does not fit %zu bytes", r->output, index, r->cap);
    st = myth_journal_put(r->journal, index, r->buffer, n, err);
    r->n_put += st == MYTH_OK;
    return st;
}

myth_status myth_results_fault(myth_results *r, const myth_job_prompt *it, const char *why, myth_error *err)
{
    myth_json_out *j = begin_row(r, it->prompt, it->n_answer ? &it->answer : NULL, it->id, it->n_id);
    char line[MYTH_PROMPT_FAULT_BYTES + 32];
    snprintf(line, sizeof(line), "line %" PRIu64 ": %.*s", it->line, MYTH_PROMPT_FAULT_BYTES - 1,
             why ? why : it->fault);
    myth_jout_key_str(j, "error", line);
    if (r->second)
        myth_jout_key_u64(myth_results_second(r), "index", it->index);
    r->n_fault++;
    return myth_results_end(r, it->index, err);
}

void myth_results_drop(myth_results *r)
{
    if (r->row.f)
        fclose(r->row.f);
    r->row.f = NULL;
}

myth_status myth_results_commit(myth_results *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (size_t i = 0; i < sizeof(r->input) / sizeof(r->input[0]) && st == MYTH_OK; i++)
        st = r->input[i] ? myth_lines_check(r->input[i], err) : MYTH_OK;
    if (st == MYTH_OK && r->n_fault)
        st = myth_journal_put_state(r->journal, "faults", &r->n_fault, sizeof(r->n_fault), err);
    return st == MYTH_OK ? myth_journal_commit(r->journal, err) : st;
}

double myth_results_share(const myth_results *r)
{
    const double all = (double)myth_shares_count(r->cli, r->n_item), done = (double)r->n_before;
    return r->n_item && all > done ? (all - done) / (double)r->n_item : 0.0;
}

double myth_results_left(const myth_results_work *kind, size_t n)
{
    double seconds = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (kind[i].left > 0.0 && kind[i].done <= 0.0)
            return -1.0;
        if (kind[i].left > 0.0)
            seconds += kind[i].left / kind[i].done * kind[i].seconds;
    }
    return seconds;
}

void myth_results_show(myth_cli *cli, double *drawn_at, const myth_results_far *far)
{
    myth_term *t = cli->term;
    const double now = myth_seconds();
    char line[160], text[32];
    int n;
    if (now - *drawn_at < (t->has_progress ? 0.1 : MYTH_PROGRESS_PLAIN_S))
        return;
    *drawn_at = now;
    if (far->all)
        n = snprintf(line, sizeof(line), "%.40s %" PRIu64 "/%" PRIu64, far->what, far->done, far->all);
    else
        n = snprintf(line, sizeof(line), "%.40s %" PRIu64, far->what, far->done);
    if (far->rate > 0.0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f %.16s", far->rate, far->unit);
    if (far->left >= 0.0)
        snprintf(line + n, sizeof(line) - (size_t)n, ", %.16s%s left", far->bound, myth_seconds_text(text, far->left));
    if (t->has_progress)
        myth_term_progress_line(t, line);
    else
        myth_term_note(t, "%s", line);
}

void myth_results_progress(myth_results *r, const char *what, const char *bound, double left)
{
    myth_results_show(r->cli, &r->drawn_at,
                      &(myth_results_far){
                          .what = what,
                          .unit = r->unit,
                          .bound = bound,
                          .done = myth_results_done(r),
                          .all = myth_shares_count(r->cli, r->n_item),
                          .rate = (double)r->n_token / (myth_seconds() - r->begin),
                          .left = left,
                      });
}

void myth_results_keep_rate(const myth_results *r, const myth_model *model, const myth_engine_opts *eo,
                            const myth_engine *engine)
{
    const myth_pace pace = {.n_tok[MYTH_PREFILL][0] = (double)r->n_token,
                            .seconds[MYTH_PREFILL][0] = myth_seconds() - r->begin};
    myth_expect_keep(r->cli, model, eo, engine, &pace);
}

/* ---- the output ---- */

typedef struct {
    FILE *f;
    bool is_second;
} line_writer;

static myth_status write_line(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    const line_writer *w = user;
    const char *at = row, *first_end = memchr(row, '\n', n);
    const size_t first = first_end ? (size_t)(first_end - at) + 1 : n;
    (void)index;
    if (w->is_second)
        at += first;
    n = w->is_second ? n - first : first;
    return fwrite(at, 1, n, w->f) == n ? MYTH_OK : myth_fail(err, MYTH_EIO, "cannot write: %s", strerror(errno));
}

static myth_status write_file(const myth_results *r, const char *path, bool is_second, myth_error *err)
{
    myth_out out = {0};
    line_writer w = {.is_second = is_second};
    myth_status st = myth_out_print_open(&out, &w.f, path, err);
    if (st != MYTH_OK)
        return st;
    if (is_second)
        fputs(r->second_head, w.f);
    st = myth_journal_each(r->journal, write_line, &w, err);
    return myth_out_print_close(&out, w.f, st, err);
}

myth_status myth_results_finish(myth_results *r, myth_error *err)
{
    myth_status st;
    MYTH_TRY(myth_results_commit(r, err));
    const uint64_t done = myth_journal_n_done(r->journal), all = myth_shares_count(r->cli, r->n_item);
    if (done < all)
        return myth_fail(err, MYTH_ECANCEL,
                         "interrupted after %" PRIu64 " of %" PRIu64 "; the same command goes on from there", done,
                         all);
    if (myth_shares_is_part(r->cli))
        return myth_journal_complete(r->journal, err);
    if (r->second)
        MYTH_TRY(write_file(r, r->second, true, err));
    MYTH_TRY(write_file(r, r->output, false, err));
    myth_journal_remove(r->journal);
    r->journal = NULL;
fail:
    return st;
}

/* ---- the plan ---- */

static void print_counts(myth_json_out *j, const myth_results_count *count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (j)
            myth_jout_key_u64(j, count[i].key, count[i].n);
        else
            printf("%-20s %" PRIu64 "\n", count[i].label, count[i].n);
}

/* Two lists of counts. */
static myth_status print_plan(myth_cli *cli, const myth_model *model, const myth_engine_opts *eo, const myth_work *work,
                              const myth_results_count *own, size_t n_own, const myth_results_count *more,
                              size_t n_more, bool as_json, myth_error *err)
{
    myth_expectation e;
    myth_json_out j;
    const myth_status st = myth_expect(&e, cli, model, eo, NULL, work, err);
    if (st != MYTH_OK)
        return st;
    if (as_json) {
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
    }
    print_counts(as_json ? &j : NULL, own, n_own);
    print_counts(as_json ? &j : NULL, more, n_more);
    if (!as_json) {
        myth_plan_print_text(stdout, &cli->plan);
        myth_expect_print_text(stdout, &e, work);
        return MYTH_OK;
    }
    myth_jout_key(&j, "plan");
    myth_plan_print_json(&j, &cli->plan);
    myth_jout_key(&j, "expected");
    myth_expect_print_json(&j, &e, work);
    myth_jout_end(&j);
    return MYTH_OK;
}

myth_status myth_results_print_counts(myth_cli *cli, const myth_model *model, const myth_engine_opts *eo,
                                      const myth_work *work, const myth_results_count *count, size_t n_count,
                                      bool as_json, myth_error *err)
{
    return print_plan(cli, model, eo, work, count, n_count, NULL, 0, as_json, err);
}

myth_status myth_results_print_plan(myth_cli *cli, const myth_model *model, const myth_engine_opts *eo,
                                    const myth_prompts_survey *s, const myth_work *work, const myth_results_count *more,
                                    size_t n_more, bool as_json, myth_error *err)
{
    const myth_results_count own[] = {{"prompts", "prompts", s->n_item},
                                      {"faults", "at fault", s->n_fault},
                                      {"prompt_tokens", "prompt tokens", s->n_token},
                                      {"longest_prompt", "longest prompt", s->longest}};
    return print_plan(cli, model, eo, work, own, sizeof(own) / sizeof(own[0]), more, n_more, as_json, err);
}

/* ---- facts and numbers ---- */

void myth_results_fact(myth_journal_fact *dst, size_t *n, const char *name, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    dst[*n].name = name;
    vsnprintf(dst[*n].value, sizeof(dst[*n].value), fmt, args);
    va_end(args);
    ++*n;
}

void myth_results_fact_f32(myth_journal_fact *dst, size_t *n, const char *name, float v)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    myth_results_fact(dst, n, name, "%s", text);
}

void myth_results_facts(myth_journal_fact *dst, size_t *n, const myth_cli *cli, const myth_model *model,
                        const myth_engine_opts *eo, const myth_prompts_survey *prompts)
{
    char hex[33];
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", prompts->hash[i]);
    myth_results_fact(dst, n, "command", "%.32s", cli->command ? cli->command->name : "");
    myth_results_fact(dst, n, "model", "%016" PRIx64, myth_model_hash(model));
    myth_results_fact(dst, n, "content of the prompts", "%s", hex);
    myth_results_fact(dst, n, "--device", "%.64s%s", eo->device ? eo->device : "auto", eo->is_exact ? ", exact" : "");
    myth_results_fact(dst, n, "cache", "%s, %s", myth_dtype_get(eo->type_k)->name, myth_dtype_get(eo->type_v)->name);
}

bool myth_results_real(const myth_job_prompt *it, const char *key, double most, float *out,
                       char why[MYTH_PROMPT_FAULT_BYTES])
{
    const myth_json_node *n = it->object ? myth_json_tree_get(it->tree, it->object, key) : NULL;
    if (!n || n->type == MYTH_JSON_NULL)
        return true;
    const myth_json_token t = {.type = n->type, .span = n->text.text, .len = n->text.len};
    double v = 0.0;
    const bool is_right = myth_json_f64(&v, &t) && v >= 0.0 && v <= most;
    if (is_right)
        *out = (float)v;
    else
        snprintf(why, MYTH_PROMPT_FAULT_BYTES, "\"%.32s\": expected a number from 0 to %g", key, most);
    return is_right;
}

bool myth_results_number(const myth_job_prompt *it, const char *key, uint64_t most, uint64_t *out,
                         char why[MYTH_PROMPT_FAULT_BYTES])
{
    const myth_json_node *n = it->object ? myth_json_tree_get(it->tree, it->object, key) : NULL;
    if (!n || n->type == MYTH_JSON_NULL)
        return true;
    uint64_t v = 0;
    const bool is_number = myth_prompts_number(n, &v) && v <= most;
    if (is_number)
        *out = v;
    else
        snprintf(why, MYTH_PROMPT_FAULT_BYTES, "\"%.32s\": expected a whole number from 0 to %" PRIu64, key, most);
    return is_number;
}
