/* runlog_answer.c - the record of what the model answered and what was made of it: prompts and answers as texts apart,
 * findings that were dropped, the report. */
#include "runlog_record.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { SAVE_SECONDS = 1 }; /* the most time that the record of a killed run may lack */

/* ---- exchanges ---- */

static void put_text(myth_runlog *log, json_t *exchange, const char *kind, const char *name, const void *data, size_t n)
{
    myth_error err = {0};
    char whole[64];
    snprintf(whole, sizeof(whole), "%s/%s", kind, name);
    myth_status st = myth_record_is_on(log) ? myth_runlog_file_put(log->file, log->run, whole, data, n, &err) : MYTH_OK;
    if (st == MYTH_ELIMIT)
        myth_record_set_text(log, exchange, "left_out", err.msg);
    else if (st != MYTH_OK)
        myth_record_give_up(log, &err);
    else
        myth_record_set_text(log, exchange, kind, whole);
}

/* Records the prompt as the model sees it. For a later turn of the same sequence only its new tokens are recorded,
 * because the exchange before has the others. */
static void put_prompt_text(myth_runlog *log, json_t *exchange, const char *name, const myth_exchange *x)
{
    const bool is_first = x->kind == MYTH_EXCHANGE_FIRST || x->kind == MYTH_EXCHANGE_SUMMARY;
    uint32_t from = is_first ? 0 : x->n_kept, n_block, n_tok;
    size_t n = myth_prompt_text(NULL, 0, log->model->tokenizer, x->ids + from, x->n_ids - from);
    const myth_block *block = myth_inspect_part(log->in, x->part, &n_block, &n_tok);
    char *raw = myth_alloc(log->mem, MYTH_MEM_OTHER, "run log", n + 1);
    myth_redacted b = {.mem = log->mem};
    if (!raw) {
        myth_record_set_text(log, exchange, "left_out", "the prompt: no memory");
        return;
    }
    myth_prompt_text(raw, n, log->model->tokenizer, x->ids + from, x->n_ids - from);
    myth_redacted_add_prompt(&b, myth_record_redactor(log), raw, n, block, n_block);
    myth_free(log->mem, raw);
    if (b.has_failed) {
        myth_record_set_text(log, exchange, "left_out", "the prompt: no memory");
    } else {
        myth_record_set_number(log, exchange, "from_token", from);
        put_text(log, exchange, "prompt", name, b.n ? b.text : "", b.n);
        if (!b.has_placeholder && myth_record_is_on(log))
            put_text(log, exchange, "ids", name, x->ids + from, (x->n_ids - from) * sizeof(int32_t));
    }
    myth_redacted_free(&b);
}

void myth_runlog_exchange(myth_runlog *log, const myth_exchange *x)
{
    char name[48], hash[72];
    json_t *list = myth_record_is_on(log) && log->in ? myth_record_section(log, "exchanges", true) : NULL;
    if (!list || log->n_exchange++ >= MYTH_RUNLOG_EXCHANGES)
        return;
    snprintf(name, sizeof(name), "%u/%u/%s", x->part, x->round, myth_exchange_name(x->kind));
    myth_runlog_hash_bytes(hash, x->ids, x->n_ids * sizeof(int32_t));
    json_t *j =
        json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:s, s:s, s:f}", "part", (json_int_t)x->part, "round",
                  (json_int_t)x->round, "kind", myth_exchange_name(x->kind), "prompt_tokens", (json_int_t)x->n_ids,
                  "kept_tokens", (json_int_t)x->n_kept, "new_tokens", (json_int_t)x->n_new, "finish",
                  myth_finish_name(x->finish), "ids_hash", hash, "seconds", x->seconds);
    if (!j) {
        myth_record_no_memory(log);
        return;
    }
    if (x->is_kept)
        myth_record_set(log, j, "kept", json_true());
    myth_runlog_hash_bytes(hash, x->text, x->n);
    myth_record_set_text(log, j, "answer_hash", hash);
    if (log->prompts) {
        myth_redacted b = {.mem = log->mem};
        put_prompt_text(log, j, name, x);
        myth_redacted_add_answer(&b, myth_record_redactor(log), x->text, x->n);
        if (!b.has_failed)
            put_text(log, j, "answer", name, b.n ? b.text : "", b.n);
        myth_redacted_free(&b);
    }
    myth_record_append(log, list, j);
    if (myth_record_is_on(log) && myth_seconds() - log->saved > SAVE_SECONDS)
        myth_record_save(log, NULL);
}

/* ---- report ---- */

/* Records the form, the hash and the bytes of what was printed. */
static void put_printed(myth_runlog *log, myth_form form, const void *bytes, size_t n)
{
    myth_error err = {0};
    char hash[72];
    myth_record_set_text(log, log->doc, "form", myth_form_name(form));
    myth_runlog_hash_bytes(hash, bytes, n);
    myth_record_set_text(log, log->doc, "report_hash", hash);
    myth_status st =
        myth_record_is_on(log) ? myth_runlog_file_put(log->file, log->run, "report", bytes, n, &err) : MYTH_OK;
    if (st == MYTH_ELIMIT)
        myth_record_set_text(log, log->doc, "report_left_out", err.msg);
    else if (st != MYTH_OK)
        myth_record_give_up(log, &err);
}

void myth_runlog_repeats_lost(myth_runlog *log, myth_form form, const void *printed, size_t n)
{
    if (!myth_record_is_on(log))
        return;
    myth_record_set(log, log->doc, "repeats_lost", json_true());
    put_printed(log, form, printed, n);
}

/* Records the findings that were dropped, and why. */
static void put_dropped(myth_runlog *log, const myth_report *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->n_drop; i++) {
        const myth_drop *d = &r->drop[i];
        myth_record_append(
            log, list,
            json_pack("{s:I, s:o, s:[I, I], s:s, s:s}", "part", (json_int_t)d->part, "path",
                      myth_record_text(log, d->block < r->n_block ? r->block[d->block].src->path : NULL), "lines",
                      (json_int_t)d->first, (json_int_t)d->last, "rule",
                      d->rule >= 0 && (uint32_t)d->rule < myth_rule_count() ? myth_rules[d->rule].id : "", "why",
                      d->why));
    }
    myth_record_set(log, log->doc, "dropped", list);
}

/* The bytes of a form; free them. NULL when there is no memory. */
static char *rendered(const myth_report *r, myth_form form, size_t *n)
{
    const myth_term plain = {0};
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, n);
    if (!f)
        return NULL;
    myth_output_render(f, form, r, &plain);
    if (fclose(f) != 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

void myth_runlog_report(myth_runlog *log, const myth_report *r, myth_form form)
{
    size_t n = 0, n_json = 0;
    if (!myth_record_is_on(log))
        return;
    char *bytes = rendered(r, form, &n), *json = rendered(r, MYTH_FORM_JSON, &n_json);
    json_t *j = json ? json_loadb(json, n_json, 0, NULL) : NULL;
    if (bytes && j) {
        put_dropped(log, r);
        myth_record_set(log, log->doc, "report", j);
        put_printed(log, form, bytes, n);
    } else {
        json_decref(j);
    }
    free(bytes);
    free(json);
}
