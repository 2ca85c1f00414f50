/* progress.h - how far an inspection is, how fast it goes and how long it will take.
 *
 * Left     the tokens of the prompts that are not answered yet, at the seconds that those answered in this run took for
 *          a token of their prompts, answers included. Answers that are kept took no time and say nothing about it
 * Drawn    on a terminal the line is rewritten, at most ten times a second. Elsewhere a line is printed every
 *          MYTH_PROGRESS_PLAIN_S seconds, so that a log of hours stays short and a short run prints none
 * Units    tokens without the prefix that all prompts share; seconds of a monotonic clock, which the caller reads
 * Owner    plain data
 * Threads  one */
#ifndef MYTH_RATES_PROGRESS_H
#define MYTH_RATES_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_PROGRESS_PLAIN_S = 30 };

typedef struct {
    uint32_t n_part;
    uint64_t total, passed; /* tokens of all prompts, and of those that are answered */
    uint64_t asked, n_tok;  /* tokens of prompts that the model answered; all tokens that it read or wrote */
    double seconds;         /* that these took */
    double drawn_at;        /* when a line was drawn, else when the run began */
} myth_progress;

void myth_progress_begin(myth_progress *p, uint32_t n_part, uint64_t total, double now);
/* A part's first answer is there: n_prompt tokens of the total are passed. */
void myth_progress_pass(myth_progress *p, uint32_t n_prompt, bool is_kept);
/* The model read and wrote so many tokens. */
void myth_progress_add(myth_progress *p, uint32_t n_tok, double seconds);
/* Whether a line is due, and if so, that it is drawn now. */
bool myth_progress_is_due(myth_progress *p, bool is_terminal, double now);
/* "part 12 of 1392: writing 14/240, 5210 tok/s, 3 min 20 s left", without what is not known yet. */
void myth_progress_text(const myth_progress *p, char *dst, size_t cap, uint32_t part, const char *what, uint32_t done,
                        uint32_t total);

#ifdef __cplusplus
}
#endif
#endif
