/* render_json.c - JSON and JSON lines: one writer for a finding, one for what stands around them. */
#include "report.h"

#include "../json_out.h"

static void key_str(myth_json_out *j, const char *key, myth_str v)
{
    myth_jout_key(j, key);
    myth_jout_text(j, v.text, v.len);
}

static void finding_object(myth_json_out *j, const myth_report *r, uint32_t i)
{
    const myth_finding *f = &r->finding[i];
    const myth_rule *rule = &myth_rules[f->rule];
    myth_jout_object(j);
    myth_jout_key_str(j, "rule", rule->id);
    myth_jout_key_str(j, "severity", myth_severity_name(f->severity));
    myth_jout_key_str(j, "status", myth_finding_status_name(f->status));
    myth_jout_key_str(j, "file", r->block[f->block].src->path);
    myth_jout_key(j, "lines");
    myth_jout_array(j);
    myth_jout_u64(j, f->first);
    myth_jout_u64(j, f->last);
    myth_jout_end(j);
    if (f->issue.len)
        key_str(j, "issue", f->issue);
    else
        myth_jout_key_str(j, "issue", rule->title);
    key_str(j, "evidence", f->evidence);
    key_str(j, "why", f->why);
    key_str(j, "fix", f->fix);
    key_str(j, "missing", f->missing);
    if (rule->cwe)
        myth_jout_key_u64(j, "cwe", (uint64_t)rule->cwe);
    myth_jout_key_u64(j, "evidence_line", r->citation[i].line);
    myth_jout_end(j);
}

static void refusal_object(myth_json_out *j, const myth_refusal *w)
{
    myth_jout_object(j);
    myth_jout_key_str(j, "reason", w->reason);
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
        myth_jout_text(j, r->context[i].text, r->context[i].len);
    myth_jout_end(j);
    myth_jout_key_str(j, "file", r->path);
    myth_jout_key_u64(j, "parts", r->n_part);
    myth_jout_key_u64(j, "dropped_findings", r->n_dropped);
    if (r->refusal) {
        myth_jout_key(j, "refusal");
        refusal_object(j, r->refusal);
    }
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
