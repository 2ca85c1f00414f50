/* test_sampler.c - the random numbers equal the published vectors of Philox; the choice equals that of the filters,
 * written out here in double. */
#include "engine/base/sampler.h"
#include "tests/support/check.h"

#include <math.h>

/* Philox4x32-10 as the paper has it (Salmon et al., SC 2011), over the whole counter and key. */
static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k[1],
                            (uint32_t)p0};
        memcpy(c, next, sizeof(c));
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof(c));
}

static void random_numbers_are_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        /* Random123 kat_vectors, philox4x32 10 */
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t out[4];
    for (int i = 0; i < 3; i++) {
        philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof(out));
    }
    assert_true(myth_random_uniform(0, 0, 0) == (float)(0x6627e8d5u >> 8) / 16777216.0f);
    uint64_t rng = check_seed();
    for (int i = 0; i < 100000; i++) {
        uint64_t seed = check_rand(&rng);
        uint32_t seq = (uint32_t)check_rand(&rng), pos = (uint32_t)check_rand(&rng), c[4] = {pos, seq, 0, 0};
        uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
        philox(out, c, key);
        assert_true(myth_random_uniform(seed, seq, pos) == (float)(out[0] >> 8) / 16777216.0f);
    }
}

static void neighbours_are_independent(void **state)
{
    (void)state;
    enum { N = 65536, BINS = 64 };
    for (int kind = 0; kind < 3; kind++) { /* consecutive positions, sequences, seeds */
        uint32_t bin[BINS] = {0};
        double chi = 0, product = 0, before = 0.5;
        for (uint32_t i = 0; i < N; i++) {
            double u = (double)myth_random_uniform(kind == 2 ? i : 7, kind == 1 ? i : 3, kind == 0 ? i : 5);
            assert_true(u >= 0 && u < 1);
            bin[(int)(u * BINS)]++;
            product += (u - 0.5) * (before - 0.5);
            before = u;
        }
        for (int i = 0; i < BINS; i++)
            chi += ((double)bin[i] - N / BINS) * ((double)bin[i] - N / BINS) / (N / BINS);
        assert_true(chi > 25 && chi < 125); /* 63 degrees of freedom, beyond six sigma either way */
        assert_true(fabs(product / N * 12) < 6 / sqrt(N));
    }
}

static void zero_parameters_are_greedy(void **state)
{
    (void)state;
    const float logit[3] = {1.0f, 1.0f, 0.5f};
    myth_sample_params p = {0};
    assert_int_equal(myth_sample_k(&p), 1);
    for (uint32_t pos = 0; pos < 100; pos++)
        assert_int_equal(myth_sample(&p, logit, 3, 0, pos), 0);
    p.top_k = 40;
    assert_int_equal(myth_sample_k(&p), 1);
    p.temp = 1;
    assert_int_equal(myth_sample_k(&p), 40);
    p.top_k = 0;
    assert_int_equal(myth_sample_k(&p), 1024);
    p.top_k = 5000;
    assert_int_equal(myth_sample_k(&p), 1024);
    p.top_k = 1;
    for (uint32_t pos = 0; pos < 100; pos++)
        assert_int_equal(myth_sample(&p, logit, 3, 0, pos), 0);
    p.top_k = 0;
    assert_int_equal(myth_sample(&p, logit, 1, 0, 0), 0);
}

/* Probability of each candidate after top-k, top-p, min-p and temperature, in that order. Returns how many remain. */
static uint32_t distribution(double *prob, const myth_sample_params *p, const float *logit, uint32_t n)
{
    double sum = 0, mass = 0;
    uint32_t left = p->top_k && p->top_k < n ? p->top_k : n;
    for (uint32_t i = 0; i < left; i++)
        sum += exp((double)logit[i] - (double)logit[0]);
    if (p->top_p > 0 && p->top_p < 1)
        for (uint32_t i = 0; i < left; i++) {
            mass += exp((double)logit[i] - (double)logit[0]) / sum;
            if (mass >= (double)p->top_p)
                left = i + 1;
        }
    for (uint32_t i = 1; p->min_p > 0 && i < left; i++)
        if (exp((double)logit[i] - (double)logit[0]) < (double)p->min_p)
            left = i;
    sum = 0;
    for (uint32_t i = 0; i < left; i++)
        sum += prob[i] = exp(((double)logit[i] - (double)logit[0]) / (double)p->temp);
    for (uint32_t i = 0; i < left; i++)
        prob[i] /= sum;
    return left;
}

static void the_choice_follows_the_filters(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_border = 0, n_try = check_is_full() ? 2000000 : 100000;
    for (uint32_t t = 0; t < n_try; t++) {
        float logit[64];
        double prob[64];
        uint32_t n = 1 + check_below(&rng, 64);
        myth_sample_params p = {.temp = 0.05f + 3 * check_unit(&rng), .seed = check_rand(&rng)};
        if (check_below(&rng, 2))
            p.top_k = 1 + check_below(&rng, 70);
        if (check_below(&rng, 2))
            p.top_p = check_unit(&rng);
        if (check_below(&rng, 2))
            p.min_p = check_unit(&rng) * 0.3f;
        logit[0] = check_unit(&rng) * 40 - 20;
        for (uint32_t i = 1; i < n; i++)
            logit[i] = logit[i - 1] - (check_below(&rng, 4) ? check_unit(&rng) : 0);
        uint32_t left = distribution(prob, &p, logit, n), seq = check_below(&rng, 9), pos = check_below(&rng, 9999);
        uint32_t got = myth_sample(&p, logit, n, seq, pos);
        double u = (double)myth_random_uniform(p.seed, seq, pos), below = 0;
        if (got > left || (got == left && got == n))
            fail_msg("index %u of %u candidates, %u left", got, n, left);
        for (uint32_t i = 0; i < got && i < left; i++)
            below += prob[i];
        double above = below + (got < left ? prob[got] : 0);
        bool is_inside = u >= below - 1e-9 && u < above + 1e-9;
        n_border += !is_inside; /* a filter's border decided by the last bit */
        assert_int_equal(myth_sample(&p, logit, n, seq, pos), got);
    }
    assert_true(n_border <= n_try / 10000);
}

static void frequencies_match_the_probabilities(void **state)
{
    (void)state;
    enum { N = 200000 };
    const float logit[6] = {2.0f, 1.7f, 1.0f, 0.2f, -0.5f, -3.0f};
    static const myth_sample_params params[] = {
        {.temp = 1, .seed = 1},
        {.temp = 0.5f, .seed = 2},
        {.temp = 2, .top_k = 4, .seed = 3},
        {.temp = 1, .top_p = 0.8f, .seed = 4},
        {.temp = 1.5f, .min_p = 0.2f, .seed = 5},
    };
    for (size_t k = 0; k < sizeof(params) / sizeof(params[0]); k++) {
        uint32_t seen[6] = {0};
        double prob[6] = {0};
        uint32_t left = distribution(prob, &params[k], logit, 6);
        for (uint32_t pos = 0; pos < N; pos++)
            seen[myth_sample(&params[k], logit, 6, 1, pos)]++;
        for (uint32_t i = 0; i < 6; i++) {
            double p = i < left ? prob[i] : 0, sigma = sqrt(p * (1 - p) * N);
            assert_true(fabs(seen[i] - p * N) <= 6 * sigma);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_philox),           cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(zero_parameters_are_greedy),          cmocka_unit_test(the_choice_follows_the_filters),
        cmocka_unit_test(frequencies_match_the_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
