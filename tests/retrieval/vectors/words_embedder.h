/* words_embedder.h - an embedder whose vectors a test can compute: the normalised sum of a random direction for
 * each word. A table of two makes pairs of words that share a direction. It counts its texts, can be slow, and can
 * ask for a stop. */
#ifndef MYTH_TESTS_WORDS_EMBEDDER_H
#define MYTH_TESTS_WORDS_EMBEDDER_H

#include "tests/support/check.h"
#include "engine/base/half.h"
#include "retrieval/vectors/vectors.h"

#include <ctype.h>
#include <math.h>
#include <time.h>

enum { WORDS_DIM = 24 };

typedef struct {
    uint64_t n_text;  /* texts given since it was set to 0     */
    long pause_ns;    /* of each text                          */
    uint64_t stop_at; /* sets *stop after so many; 0 = never   */
    myth_cancel *stop;
} words_state;

static inline uint64_t words_hash(const char *s, size_t n)
{
    uint64_t h = 14695981039346656037u;
    if (n == 10 && strncmp(s, "automobile", n) == 0) {
        s = "car";
        n = 3;
    }
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)tolower((unsigned char)s[i])) * 1099511628211u;
    return h;
}

static inline void words_vector(float v[WORDS_DIM], const char *text, size_t n)
{
    double sum[WORDS_DIM] = {0}, ss = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && isalnum((unsigned char)text[end]))
            end++;
        if (end > i) {
            uint64_t state = words_hash(text + i, end - i);
            for (int d = 0; d < WORDS_DIM; d++)
                sum[d] += (double)check_unit(&state) - 0.5;
        }
        i = end + 1;
    }
    for (int d = 0; d < WORDS_DIM; d++)
        ss += sum[d] * sum[d];
    for (int d = 0; d < WORDS_DIM; d++)
        v[d] = ss > 0 ? (float)(sum[d] / sqrt(ss)) : 0.0f;
}

/* As it comes back from where it is kept: in half precision. */
static inline void words_kept(float v[WORDS_DIM], const char *text, size_t n)
{
    words_vector(v, text, n);
    for (int d = 0; d < WORDS_DIM; d++)
        v[d] = myth_f16_to_f32(myth_f32_to_f16(v[d]));
}

static inline myth_status words_embed(void *arg, float *out, const myth_embedder_text *text, uint32_t n_text,
                                      bool is_query, myth_error *err)
{
    words_state *s = arg;
    (void)is_query;
    (void)err;
    for (uint32_t i = 0; i < n_text; i++) {
        words_vector(out + (size_t)i * WORDS_DIM, text[i].text, text[i].n_text);
        if (s->pause_ns)
            nanosleep(&(struct timespec){.tv_nsec = s->pause_ns}, NULL);
        s->n_text++;
        if (s->stop_at && s->n_text == s->stop_at)
            *s->stop = true;
    }
    return MYTH_OK;
}

static inline myth_text_embedder words_embedder(words_state *s)
{
    return (myth_text_embedder){
        .dim = WORDS_DIM,
        .model = "words, version 1",
        .name = "words",
        .prompt = "document",
        .embed = words_embed,
        .arg = s,
    };
}

static inline double words_dot(const float *a, const float *b)
{
    double sum = 0;
    for (int d = 0; d < WORDS_DIM; d++)
        sum += (double)a[d] * (double)b[d];
    return sum;
}

#endif
