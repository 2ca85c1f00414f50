/* render_json.c - writes JSON and JSON lines: one function writes a finding, the others write the report around it. */
#include "outputs.h"
#include "show.h"

#include "frontend/cli/json_out.h"
#include "version.h"

#include <string.h>

static void put_part(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    myth_jout_text_part(user, text, len);
}

static void show_str(myth_json_out *j, const myth_report *r, myth_str v)
{
    myth_jout_text_begin(j);
    myth_show_text(r, v, put_part, j);
    myth_jout_text_end(j);
}

static void key_str(myth_json_out *j, const myth_report *r, const char *key, myth_str v)
{
    myth_jout_key(j, key);
    show_str(j, r, v);
}

static void key_cstr(myth_json_out *j, const myth_report *r, const char *key, const char *v)
{
    key_str(j, r, key, (myth_str){v, strlen(v)});
}

static void key_path(myth_json_out *j, const char *key, const char *path)
{
    myth_jout_key(j, key);
    myth_jout_text_begin(j);
    myth_show_file(path, put_part, j);
    myth_jout_text_end(j);
}

static void key_patch(myth_json_out *j, const myth_report *r, uint32_t i)
{
    myth_jout_key(j, "patch");
    myth_jout_text_begin(j);
    myth_show_patch(r, i, put_part, j);
    myth_jout_text_end(j);
}

/* Writes what the report knows about a finding that is not from the model's answer. */
static void mark_keys(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_mark *m = &r->mark[i];
    myth_jout_key_str(j, "fingerprint", m->fingerprint.text);
    if (r->has_baseline)
        myth_jout_key_str(j, "baseline", m->is_known ? "unchanged" : "new");
    if (m->suppression)
        key_str(j, r, "suppressed", r->suppression[m->suppression - 1].reason);
}

/* The whole line that the evidence is a part of, and the columns of that part in the line of the file, in characters
 * from 1; a line with a secret shows its placeholder, so there the columns are not those of the shown text. */
static void evidence_keys(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_citation *c = &r->citation[i];
    const myth_source *src = r->block[r->finding[i].block].src;
    if (!c->line || c->line > src->n_line)
        return;
    myth_jout_key(j, "evidence_source");
    myth_jout_text_begin(j);
    myth_show_line(r, src, c->line, c->off, put_part, j);
    myth_jout_text_end(j);
    uint32_t first, behind;
    if (!myth_show_columns(r, i, &first, &behind))
        return;
    myth_jout_key(j, "evidence_columns");
    myth_jout_array(j);
    myth_jout_u64(j, first);
    myth_jout_u64(j, behind - 1);
    myth_jout_end(j);
}

/* Where a finding is from that no answer has: the rule that found its place, what it knows, and the model's word. */
static void key_given(myth_json_out *j, const myth_report *r, const myth_given *g)
{
    myth_jout_key(j, "candidate");
    myth_jout_object(j);
    key_cstr(j, r, "rule", g->candidate);
    key_cstr(j, r, "facts", g->facts);
    myth_jout_key(j, "probability");
    myth_jout_f64(j, g->probability);
    myth_jout_end(j);
}

static void finding_object(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_finding *f = &r->finding[i];
    const myth_rule *rule = &myth_rules[f->rule];
    myth_jout_object(j);
    myth_jout_key_str(j, "rule", rule->id);
    myth_jout_key_str(j, "severity", myth_severity_name(f->severity));
    myth_jout_key_str(j, "status", myth_finding_status_name(f->status));
    key_path(j, "file", r->block[f->block].src->path);
    myth_jout_key_lines(j, f->first, f->last);
    myth_jout_key(j, "issue");
    myth_jout_text_begin(j);
    myth_show_issue(r, i, put_part, j);
    myth_jout_text_end(j);
    myth_jout_key(j, "evidence");
    myth_jout_text_begin(j);
    myth_show_evidence(r, i, put_part, j);
    myth_jout_text_end(j);
    key_str(j, r, "why", f->why);
    key_str(j, r, "fix", f->fix);
    key_str(j, r, "missing", f->missing);
    if (rule->cwe)
        myth_jout_key_u64(j, "cwe", (uint64_t)rule->cwe);
    myth_jout_key_u64(j, "evidence_line", r->citation[i].line);
    if (r->mark)
        mark_keys(j, r, i);
    if (r->patch && r->patch[i].text)
        key_patch(j, r, i);
    evidence_keys(j, r, i);
    if (i < r->n_given)
        key_given(j, r, r->given[i]);
    if (r->mark)
        myth_jout_key_str(j, "fingerprint_v2", r->mark[i].fingerprint.second);
    myth_jout_end(j);
}

static void suppression_object(myth_json_out *j, const myth_report *r, const myth_suppression *s)
{
    myth_jout_object(j);
    key_path(j, "file", s->src->path);
    myth_jout_key_u64(j, "line", s->line);
    key_str(j, r, "rules", s->rules);
    key_str(j, r, "reason", s->reason);
    myth_jout_key_u64(j, "findings", s->n_used);
    if (s->wrong)
        myth_jout_key_str(j, "wrong", s->wrong);
    myth_jout_end(j);
}

static void refusal_object(myth_json_out *j, const myth_report *r)
{
    const myth_refusal *w = r->refusal;
    myth_jout_object(j);
    key_cstr(j, r, "reason", w->reason);
    myth_jout_key_u64(j, "count", w->count);
    myth_jout_key_u64(j, "limit", w->limit);
    myth_jout_key_str(j, "unit", w->unit);
    myth_jout_key(j, "remedies");
    myth_jout_array(j);
    for (uint32_t i = 0; i < w->n_remedy; i++)
        myth_jout_str(j, w->remedy[i]);
    myth_jout_end(j);
    myth_jout_end(j);
}

/* Writes the ranges of a file that were shown, each once, although rounds show the earlier ones again. */
static void lines_key(myth_json_out *j, const myth_report *r, const myth_source *src)
{
    myth_jout_key(j, "lines");
    myth_jout_array(j);
    for (uint32_t k = 0; k < r->n_block; k++) {
        const myth_block *b = &r->block[k];
        bool is_again = b->src != src || k - r->summary.block0 < r->summary.n_block; /* or a summary's */
        for (uint32_t m = 0; m < k && !is_again; m++)
            is_again = r->block[m].src == src && r->block[m].first == b->first && r->block[m].last == b->last;
        if (is_again)
            continue;
        myth_jout_array(j);
        myth_jout_u64(j, b->first);
        myth_jout_u64(j, b->last);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void files_key(myth_json_out *j, const myth_report *r)
{
    myth_jout_key(j, "files");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_file; i++) {
        const myth_report_file *w = &r->file[i];
        myth_jout_object(j);
        key_path(j, "path", w->src->path);
        myth_jout_key_bool(j, "subject", w->is_subject);
        myth_jout_key_bool(j, "whole", w->is_whole);
        lines_key(j, r, w->src);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

/* "key":{"tokens":n} or, with a room, {"tokens":n,"room":n} */
static void share(myth_json_out *j, const char *key, uint32_t tokens, uint32_t room)
{
    myth_jout_key(j, key);
    myth_jout_object(j);
    myth_jout_key_u64(j, "tokens", tokens);
    if (room)
        myth_jout_key_u64(j, "room", room);
    myth_jout_end(j);
}

void myth_render_budget(myth_json_out *j, const myth_report *r)
{
    const myth_budget *b = r->budget;
    myth_jout_object(j);
    myth_jout_key_u64(j, "prompt_limit", b->limit);
    share(j, "rules", b->rules, 0);
    share(j, "map", b->map, b->map_room);
    share(j, "task", b->task, b->task_room);
    myth_jout_key(j, "code");
    myth_jout_object(j);
    myth_jout_key_u64(j, "tokens", b->code);
    myth_jout_key_u64(j, "largest_part", b->code_most);
    myth_jout_key_u64(j, "room", b->code_room);
    myth_jout_key_u64(j, "lent", b->code_lent);
    myth_jout_end(j);
    myth_jout_key(j, "answer");
    myth_jout_object(j);
    myth_jout_key_u64(j, "room", r->max_new_tokens);
    myth_jout_end(j);
    myth_jout_key_bool(j, "map_cut", b->is_map_cut);
    myth_jout_key_u64(j, "context_pieces", b->n_context);
    myth_jout_key_u64(j, "context_left_out", b->n_left_out);
    myth_jout_end(j);
}

static void rounds_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_u64(j, "context_rounds", r->n_round);
    myth_jout_key_u64(j, "context_tokens", r->round_tokens);
    myth_jout_key(j, "context_requests");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_request; i++) {
        myth_jout_object(j);
        key_str(j, r, "name", r->request[i].name);
        myth_jout_key_str(j, "result", myth_request_name(r->request[i].result));
        myth_jout_key_u64(j, "part", r->request[i].part);
        myth_jout_key_u64(j, "round", r->request[i].round);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void head_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_str(j, "model", r->model);
    myth_jout_key_u64(j, "prompt_tokens", r->prompt_tokens);
    myth_jout_key_u64(j, "max_new_tokens", r->max_new_tokens);
    myth_jout_key_str(j, "finish_reason", r->finish_reason);
    myth_jout_key_bool(j, "complete", r->complete);
}

static void marks_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_u64(j, "suppressed_findings", myth_report_n_suppressed(r));
    if (r->has_baseline)
        myth_jout_key_u64(j, "known_findings", myth_report_n_known(r));
    myth_jout_key(j, "suppressions");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_suppression; i++)
        suppression_object(j, r, &r->suppression[i]);
    myth_jout_end(j);
}

static void missed_key(myth_json_out *j, const myth_report *r)
{
    myth_jout_key(j, "not_inspected");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_missed; i++) {
        const myth_missed *m = &r->missed[i];
        myth_jout_object(j);
        key_path(j, "path", m->path);
        if (m->first) {
            myth_jout_key_lines(j, m->first, m->last);
        }
        key_cstr(j, r, "why", m->why);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void left_out_key(myth_json_out *j, const myth_left_out *l)
{
    myth_jout_key(j, "left_out");
    myth_jout_object(j);
    myth_jout_key_u64(j, "generated", l->n_generated);
    myth_jout_key_u64(j, "copied", l->n_copied);
    myth_jout_key_u64(j, "documents_and_data", l->n_other);
    myth_jout_key_u64(j, "nested_repositories", l->n_nested);
    myth_jout_end(j);
}

/* What the report is about and of, so that reports of many repositories can be put together. */
static void source_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_str(j, "version", MYTHOS_VERSION);
    if (r->category)
        key_cstr(j, r, "category", r->category);
    myth_jout_key(j, "source");
    myth_jout_object(j);
    if (r->origin)
        key_cstr(j, r, "repository", r->origin);
    if (r->commit)
        myth_jout_key_str(j, "commit", r->commit);
    myth_jout_end(j);
}

static void budget_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key(j, "inspected");
    myth_jout_text_begin(j);
    myth_show_title(r, put_part, j);
    myth_jout_text_end(j);
    files_key(j, r);
    myth_jout_key(j, "budget");
    myth_render_budget(j, r);
    rounds_keys(j, r);
    myth_jout_key_u64(j, "unwanted_findings", r->n_unwanted);
}

static void tail_keys(myth_json_out *j, const myth_report *r)
{
    const char *file = myth_report_only_file(r);
    myth_jout_key(j, "missing_context");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_context; i++)
        show_str(j, r, r->context[i]);
    myth_jout_end(j);
    if (file)
        key_path(j, "file", file);
    myth_jout_key_u64(j, "parts", r->n_part);
    myth_jout_key_u64(j, "dropped_findings", r->n_dropped);
    if (r->refusal) {
        myth_jout_key(j, "refusal");
        refusal_object(j, r);
    }
    if (r->mark)
        marks_keys(j, r);
    if (r->since)
        key_cstr(j, r, "since", r->since);
    if (r->budget)
        budget_keys(j, r);
    missed_key(j, r);
    if (r->caution)
        key_cstr(j, r, "caution", r->caution);
    myth_jout_key_u64(j, "unknown_languages", myth_report_n_language(r));
    if (r->left_out)
        left_out_key(j, r->left_out);
    source_keys(j, r);
}

static void citation_object(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_quote *q = &r->quote[i];
    const myth_source *src = r->block[q->block].src;
    myth_jout_object(j);
    key_path(j, "file", src->path);
    myth_jout_key_lines(j, q->first, q->last);
    myth_jout_key(j, "quote");
    myth_jout_text_begin(j);
    myth_redact_bytes(r->redactor, src, r->cited[i].off, r->cited[i].len, put_part, j);
    myth_jout_text_end(j);
    myth_jout_key_u64(j, "quote_line", r->cited[i].line);
    myth_jout_end(j);
}

/* "answered", and "sentences" or "missing". */
static void answer_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_bool(j, "answered", r->n_sentence > 0);
    myth_jout_key(j, "sentences");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_sentence; i++) {
        const myth_sentence *s = &r->sentence[i];
        myth_jout_object(j);
        key_str(j, r, "text", s->text);
        myth_jout_key(j, "citations");
        myth_jout_array(j);
        for (uint32_t k = 0; k < s->n_quote; k++)
            citation_object(j, r, s->quote + k);
        myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (!r->n_sentence)
        key_str(j, r, "missing", r->missing.len ? r->missing : (myth_str){"", 0});
}

static void summary_key(myth_json_out *j, const myth_report *r)
{
    myth_jout_key(j, "change_summary");
    myth_jout_object(j);
    answer_keys(j, r);
    if (r->summary.why_none)
        key_cstr(j, r, "why_none", r->summary.why_none);
    myth_jout_key_u64(j, "changed_lines", r->summary.n_line);
    myth_jout_key_u64(j, "shown_lines", r->summary.n_shown);
    myth_jout_key_u64(j, "prompt_tokens", r->summary.prompt_tokens);
    myth_jout_end(j);
}

void myth_render_json(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    head_keys(&j, r);
    if (r->is_question) {
        answer_keys(&j, r);
    } else {
        myth_jout_key(&j, "findings");
        myth_jout_array(&j);
        for (uint32_t i = 0; i < r->n_finding; i++)
            finding_object(&j, r, i);
        myth_jout_end(&j);
    }
    tail_keys(&j, r);
    if (r->summary.is_asked)
        summary_key(&j, r);
    myth_jout_end(&j);
}

void myth_render_jsonl(FILE *f, const myth_report *r, const myth_term *t)
{
    (void)t;
    myth_json_out j;
    for (uint32_t i = 0; i < r->n_finding; i++) {
        myth_jout_start(&j, f);
        finding_object(&j, r, i);
    }
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key(&j, "summary");
    myth_jout_object(&j);
    head_keys(&j, r);
    myth_jout_key_u64(&j, "findings", r->n_finding);
    tail_keys(&j, r);
    if (r->summary.is_asked)
        summary_key(&j, r);
    myth_jout_end(&j);
    myth_jout_end(&j);
}
