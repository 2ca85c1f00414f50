/* progress.c - see progress.h. */
#include "progress.h"

#include "expect.h"

#include <stdio.h>

static const double drawn_every_s = 0.1; /* faster than a person reads */

void myth_progress_begin(myth_progress *p, uint32_t n_part, uint64_t total, double now)
{
    *p = (myth_progress){.n_part = n_part, .total = total, .drawn_at = now};
}

void myth_progress_pass(myth_progress *p, uint32_t n_prompt, bool is_kept)
{
    p->passed += n_prompt;
    p->asked += is_kept ? 0 : n_prompt;
}

void myth_progress_add(myth_progress *p, uint32_t n_tok, double seconds)
{
    p->n_tok += n_tok;
    p->seconds += seconds;
}

bool myth_progress_is_due(myth_progress *p, bool is_terminal, double now)
{
    if (now - p->drawn_at < (is_terminal ? drawn_every_s : MYTH_PROGRESS_PLAIN_S))
        return false;
    p->drawn_at = now;
    return true;
}

void myth_progress_text(const myth_progress *p, char *dst, size_t cap, uint32_t part, const char *what, uint32_t done,
                        uint32_t total)
{
    char left[32];
    int n = 0;
    if (p->n_part > 1)
        n = snprintf(dst, cap, "part %u of %u: ", part + 1, p->n_part);
    n += snprintf(dst + n, cap - (size_t)n, "%s %u/%u", what, done, total);
    if (n < 0 || (size_t)n >= cap || !p->n_tok || p->seconds <= 0)
        return;
    n += snprintf(dst + n, cap - (size_t)n, ", %.0f tok/s", (double)p->n_tok / p->seconds);
    if ((size_t)n < cap && p->asked && p->n_part > 1)
        snprintf(dst + n, cap - (size_t)n, ", %s left",
                 myth_seconds_text(left, (double)(p->total - p->passed) * p->seconds / (double)p->asked));
}
