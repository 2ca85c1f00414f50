/* render_json.c - JSON and JSON lines: one writer for a finding, one for what stands around them. */
#include "show.h"

#include "../json_out.h"

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
    key_str(j, r, key, (myth_str) { v, strlen(v) });
}

/* What the report knows of a finding beside what the model said. */
static void mark_keys(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_mark *m = &r->mark[i];
    myth_jout_key_str(j, "fingerprint", m->fingerprint.text);
    if (r->has_baseline)
        myth_jout_key_str(j, "baseline", m->is_known ? "unchanged" : "new");
    if (m->suppression)
        key_str(j, r, "suppressed", r->suppression[m->suppression - 1].reason);
}

static void finding_object(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_finding *f = &r->finding[i];
    const myth_rule *rule = &myth_rules[f->rule];
    myth_jout_object(j);
    myth_jout_key_str(j, "rule", rule->id);
    myth_jout_key_str(j, "severity", myth_severity_name(f->severity));
    myth_jout_key_str(j, "status", myth_finding_status_name(f->status));
    key_cstr(j, r, "file", r->block[f->block].src->path);
    myth_jout_key(j, "lines");
    myth_jout_array(j);
    myth_jout_u64(j, f->first);
    myth_jout_u64(j, f->last);
    myth_jout_end(j);
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
    myth_jout_end(j);
}

static void suppression_object(myth_json_out *j, const myth_report *r, const myth_suppression *s)
{
    myth_jout_object(j);
    key_cstr(j, r, "file", s->src->path);
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

static void head_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key_str(j, "model", r->model);
    myth_jout_key_u64(j, "prompt_tokens", r->prompt_tokens);
    myth_jout_key_u64(j, "max_new_tokens", r->max_new_tokens);
    myth_jout_key_str(j, "finish_reason", r->finish_reason);
    myth_jout_key_bool(j, "complete", r->complete);
}

static void tail_keys(myth_json_out *j, const myth_report *r)
{
    myth_jout_key(j, "missing_context");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_context; i++)
        show_str(j, r, r->context[i]);
    myth_jout_end(j);
    key_cstr(j, r, "file", r->path);
    myth_jout_key_u64(j, "parts", r->n_part);
    myth_jout_key_u64(j, "dropped_findings", r->n_dropped);
    if (r->refusal) {
        myth_jout_key(j, "refusal");
        refusal_object(j, r);
    }
    if (!r->mark)
        return;
    myth_jout_key_u64(j, "suppressed_findings", myth_report_n_suppressed(r));
    if (r->has_baseline)
        myth_jout_key_u64(j, "known_findings", myth_report_n_known(r));
    myth_jout_key(j, "suppressions");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_suppression; i++)
        suppression_object(j, r, &r->suppression[i]);
    myth_jout_end(j);
}

void myth_render_json(FILE *f, const myth_report *r)
{
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    head_keys(&j, r);
    myth_jout_key(&j, "findings");
    myth_jout_array(&j);
    for (uint32_t i = 0; i < r->n_finding; i++)
        finding_object(&j, r, i);
    myth_jout_end(&j);
    tail_keys(&j, r);
    myth_jout_end(&j);
}

void myth_render_jsonl(FILE *f, const myth_report *r)
{
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
    myth_jout_end(&j);
    myth_jout_end(&j);
}
