/* sampler.h - the next token from the k best logits: greedy by default, else temperature, top-k, top-p, min-p;
 * penalties of repeated tokens.
 *
 * Input    top-k of the device in (logit descending, id ascending) order, k <= 1,024; top_k 0 means 1,024
 * Order    penalties (of the whole row: by who makes the list of the k best), top-k, top-p, min-p, temperature:
 *          llama.cpp's order
 * Random   counter-based: f(seed, sequence, position), the same on host and device
 * Threads  no state beside the arguments */
#ifndef MYTH_SAMPLER_H
#define MYTH_SAMPLER_H

#include "status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {    /* zero = greedy, no penalty */
    float temp;     /* 0 = greedy                                           */
    uint32_t top_k; /* 0 = 1,024                                            */
    float top_p;    /* 0 or 1 = off                                         */
    float min_p;
    float repeat_penalty;   /* 0 or 1 = off                                         */
    uint32_t repeat_last_n; /* 0 = 64                                               */
    uint64_t seed;
} myth_sample_params;

/* k the device must return for these parameters. */
uint32_t myth_sample_k(const myth_sample_params *p);
/* Uniform in [0, 1) with 24 bits, from Philox4x32-10 keyed by seed, counter (sequence, position). */
float myth_random_uniform(uint64_t seed, uint32_t seq, uint32_t pos);
/* Index into the n (>= 1) candidates. */
uint32_t myth_sample(const myth_sample_params *p, const float *logit, uint32_t n, uint32_t seq, uint32_t pos);

#ifdef __cplusplus
}
#endif
#endif
