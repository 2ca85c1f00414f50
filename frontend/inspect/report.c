/* report.c - which findings of a report count. */
#include "report.h"

bool myth_report_is_active(const myth_report *r, uint32_t i) { return !r->mark || (!r->mark[i].suppression && !r->mark[i].is_known); }

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
