/* sampler.h - chooses the next token from the k best logits of a row: greedily, or with top-k, top-p, min-p and
 * temperature.
 *
 * Input    the k best logits, best first (equal logits by ascending id), k <= 1,024
 * Order    top-k, top-p, min-p, temperature, as in llama.cpp. The repeat penalty comes before these and concerns the
 *          whole row, so it is not applied here: run/generate.c applies it while it makes the list of the k best
 * Random   numbers are a function of (seed, sequence, position) and have the same bits on the host and on a device
 * Errors   none; every value of the parameters is accepted
 * Threads  no state besides the arguments */
#ifndef MYTH_SAMPLER_H
#define MYTH_SAMPLER_H

#include "status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct {    /* zero = greedy, no penalty */
    float temp;     /* 0 = greedy                                           */
    uint32_t top_k; /* 0 = 1,024                                            */
    float top_p;    /* 0 or 1 = off                                         */
    float min_p;
    float repeat_penalty;   /* 0 or 1 = off                                         */
    uint32_t repeat_last_n; /* 0 = 64                                               */
    uint64_t seed;
} myth_sample_params;

/* How many of the best logits these parameters need. */
uint32_t myth_sample_k(const myth_sample_params *p);
/* Uniform in [0, 1) with 24 bits, from Philox4x32-10 keyed by seed, counter (sequence, position). */
float myth_random_uniform(uint64_t seed, uint32_t seq, uint32_t pos);
/* Returns the index of the chosen one of n >= 1 candidates. */
uint32_t myth_sample(const myth_sample_params *p, const float *logit, uint32_t n, uint32_t seq, uint32_t pos);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
