/* report.c - which findings of a report count, and which comments answer none. */
#include "report.h"

#include <string.h>

const char *myth_request_name(myth_request_result r)
{
    static const char *const name[] = {"left", "served", "unknown"};
    return name[r];
}

const char *myth_report_incomplete(const myth_report *r)
{
    const bool has_ended = !strcmp(r->finish_reason, myth_finish_name(MYTH_FINISH_STOP));
    return r->complete         ? ""
         : r->refusal          ? r->refusal->reason
         : !has_ended          ? r->finish_reason
         : r->n_missed         ? "not all that was asked for was inspected"
         : r->summary.why_none ? r->summary.why_none
                               : "findings were dropped, because they were not finished or cite what is not there";
}

uint32_t myth_report_n_language(const myth_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_missed; i++)
        n += myth_missed_is_language(&r->missed[i]);
    return n;
}

bool myth_report_lacks_languages(const myth_report *r)
{
    return !r->complete && r->n_missed && myth_report_n_language(r) == r->n_missed && !r->refusal && !r->n_dropped &&
           !r->summary.why_none && !strcmp(r->finish_reason, myth_finish_name(MYTH_FINISH_STOP));
}

const char *myth_report_dropped(const myth_report *r)
{
    static const char *const word[3][2] = {
        {"findings", "finding"}, {"sentences", "sentence"}, {"findings or sentences", "finding or sentence"}};
    return word[r->is_question ? 1 : r->summary.is_asked ? 2 : 0][r->n_dropped == 1];
}

bool myth_report_is_active(const myth_report *r, uint32_t i)
{
    return !r->mark || (!r->mark[i].suppression && !r->mark[i].is_known);
}

uint32_t myth_report_n_suppressed(const myth_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; r->mark && i < r->n_finding; i++)
        n += r->mark[i].suppression != 0;
    return n;
}

uint32_t myth_report_n_known(const myth_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; r->mark && i < r->n_finding; i++)
        n += r->mark[i].is_known && !r->mark[i].suppression;
    return n;
}

bool myth_report_reaches(const myth_report *r, myth_severity level)
{
    for (uint32_t i = 0; i < r->n_finding; i++)
        if (myth_report_is_active(r, i) && r->finding[i].severity <= level)
            return true;
    return false;
}

/* Whether findings of a rule that the comment names could not be in the report. [*] is about what is looked for. */
static bool is_kept_out(const myth_report *r, const myth_suppression *s)
{
    return myth_suppression_names(s, r->kept_out.by_choice | r->kept_out.by_finder) ||
           (r->kept_out.by_choice && myth_suppression_is_all(s));
}

/* Whether the line of src was shown to the model as code to inspect, as far as the report knows. */
static bool was_inspected(const myth_report *r, const myth_source *src, uint32_t line)
{
    for (uint32_t i = 0; i < r->n_file; i++)
        if (r->file[i].src == src && !r->file[i].is_subject)
            return false;
    for (uint32_t i = 0; i < r->n_block; i++)
        if (r->block[i].src == src && !r->block[i].is_context && line >= r->block[i].first && line <= r->block[i].last)
            return true;
    return !r->n_file;
}

bool myth_report_is_idle(const myth_report *r, const myth_suppression *s)
{
    if (s->n_used || s->has_unseen || !was_inspected(r, s->src, s->line))
        return false;
    return s->wrong || (r->complete && !is_kept_out(r, s) && was_inspected(r, s->src, s->target ? s->target : s->line));
}

const char *myth_report_only_file(const myth_report *r)
{
    const char *path = r->path;
    for (uint32_t i = 0, n = 0; i < r->n_file; i++) {
        if (!r->file[i].is_subject)
            continue;
        if (n++)
            return NULL;
        path = r->file[i].src->path;
    }
    return path;
}

myth_str myth_report_facts(const myth_report *r, uint32_t i)
{
    const char *facts = i < r->n_given ? r->given[i]->facts : "";
    return (myth_str){facts, strlen(facts)};
}
