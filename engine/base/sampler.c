/* sampler.c - chooses among the k best.
 *
 * Source   Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); order of the filters:
 *          llama.cpp's default chain */
#include "sampler.h"

#include <math.h>

enum { K_MAX = 1024 };

uint32_t myth_sample_k(const myth_sample_params *p)
{
    if (p->temp <= 0.0f)
        return 1;
    return p->top_k == 0 || p->top_k > K_MAX ? K_MAX : p->top_k;
}

float myth_random_uniform(uint64_t seed, uint32_t seq, uint32_t pos)
{
    uint32_t c[4] = {pos, seq, 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
        uint32_t n0 = (uint32_t)(b >> 32) ^ c[1] ^ key[0], n2 = (uint32_t)(a >> 32) ^ c[3] ^ key[1];
        c[0] = n0;
        c[1] = (uint32_t)b;
        c[2] = n2;
        c[3] = (uint32_t)a;
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return (float)(c[0] >> 8) * 0x1p-24f;
}

uint32_t myth_sample(const myth_sample_params *p, const float *logit, uint32_t n, uint32_t seq, uint32_t pos)
{
    if (p->temp <= 0.0f || n == 1)
        return 0;
    uint32_t k = myth_sample_k(p);
    if (n > k)
        n = k;
    double sum = 0, mass = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)logit[i] - logit[0]);
    if (p->top_p > 0.0f && p->top_p < 1.0f) /* the shortest prefix that holds top_p of the mass */
        for (uint32_t i = 0; i < n; i++) {
            mass += exp((double)logit[i] - logit[0]) / sum;
            if (mass >= p->top_p) {
                n = i + 1;
                break;
            }
        }
    if (p->min_p > 0.0f) {
        double least = log((double)p->min_p) + logit[0];
        while (n > 1 && logit[n - 1] < least)
            n--;
    }
    sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(((double)logit[i] - logit[0]) / p->temp);
    double u = myth_random_uniform(p->seed, seq, pos) * sum;
    for (uint32_t i = 0; i + 1 < n; i++) {
        u -= exp(((double)logit[i] - logit[0]) / p->temp);
        if (u < 0)
            return i;
    }
    return n - 1;
}
