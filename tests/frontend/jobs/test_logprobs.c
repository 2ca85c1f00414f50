/* test_logprobs.c - logprobs says what follows from the logits that `mythos logits` writes; a row has the same bits for
 * every grouping, micro-batch and restart; divergences are finite; memory is as planned. */
#include "tests/frontend/cli/bad_model.h"

#include "frontend/jobs/first_tokens.h"

#include <math.h>
#include <string.h>

enum { VOCAB = 512, N_LINE = 60 };

#define OTHER "-m random:gemma3-tiny:q8_0 "

static cli_result r;

static json_t *read_rows(const char *name)
{
    char path[128], *line = NULL;
    size_t cap = 0;
    json_error_t e;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "r");
    json_t *all = json_array();
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, &e);
        if (!row)
            fail_msg("%s: %.200s", e.text, line);
        json_array_append_new(all, row);
    }
    free(line);
    fclose(f);
    return all;
}

static void same_files(const char *a, const char *b)
{
    char line[256];
    snprintf(line, sizeof(line), "cmp $D/%s $D/%s", a, b);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s %s", r.out, r.err);
}

/* The logits behind each of n ids, by `mythos logits`. */
static void logits_of(const char *model, const int32_t *ids, uint32_t n, float (*row)[VOCAB])
{
    char line[4000], path[128];
    snprintf(line, sizeof(line), "logits %s --fast -o %s/l.npy --ids ", model, cli_dir);
    for (uint32_t i = 0; i < n; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%d", i ? "," : "", ids[i]);
    cli_expect(&r, line, 0);
    snprintf(path, sizeof(path), "%s/l.npy", cli_dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, -(long)(n * sizeof(*row)), SEEK_END), 0);
    assert_int_equal(fread(row, sizeof(*row), n, f), n);
    fclose(f);
}

/* log-probabilities of a row of logits; the entropy. */
static double log_softmax(const float *row, double logp[VOCAB])
{
    double most = -INFINITY, sum = 0.0, entropy = 0.0;
    for (int v = 0; v < VOCAB; v++)
        most = (double)row[v] > most ? (double)row[v] : most;
    for (int v = 0; v < VOCAB; v++)
        sum += exp((double)row[v] - most);
    for (int v = 0; v < VOCAB; v++) {
        logp[v] = (double)row[v] - most - log(sum);
        entropy -= exp(logp[v]) * logp[v];
    }
    return entropy;
}

static double real_at(const json_t *j, const char *key) { return json_number_value(json_object_get(j, key)); }

static void near(double got, double want, const char *what)
{
    if (!(fabs(got - want) <= 2e-5 * (1.0 + fabs(want))))
        fail_msg("%s: %.9g, by hand %.9g", what, got, want);
}

/* A line of n random ids, a token and two completions; returns n. */
static uint32_t make_line(uint64_t *rng, int32_t *ids, uint32_t most)
{
    const uint32_t n = 1 + (uint32_t)check_below(rng, most);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = 3 + (int32_t)check_below(rng, VOCAB - 3);
    return n;
}

static void put_ids(FILE *f, const int32_t *ids, uint32_t n)
{
    fputc('[', f);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s%d", i ? "," : "", ids[i]);
    fputc(']', f);
}

static FILE *open_prompts(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

static void by_hand(void **state)
{
    enum { N = 8, K = 5, MOST = 40, C = 3, C_MOST = 12 };
    static float row[MOST + C_MOST][VOCAB], other[MOST][VOCAB];
    static int32_t ids[N][MOST + C_MOST], done[N][C][C_MOST];
    static double p[VOCAB], q[VOCAB];
    uint32_t n[N], n_done[N][C];
    uint64_t rng = 11;
    (void)state;
    FILE *f = open_prompts("p.jsonl");
    for (int i = 0; i < N; i++) {
        n[i] = make_line(&rng, ids[i], MOST);
        fputs("{\"ids\":", f);
        put_ids(f, ids[i], n[i]);
        fprintf(f, ",\"token\":%d", 3 + 60 * i);
        for (int c = 0; c < C && i % 2; c++) {
            n_done[i][c] = make_line(&rng, done[i][c], C_MOST);
            fputs(c ? "," : ",\"completions\":[", f);
            put_ids(f, done[i][c], n_done[i][c]);
        }
        fputs(i % 2 ? "]}\n" : "}\n", f);
    }
    fclose(f);
    cli_expect(&r, "logprobs " OTHER "$D/p.jsonl -o $D/base.rows --top-k 5 --save-baseline $D/base", 0);
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/o --top-k 5 --baseline $D/base", 0);
    json_t *rows = read_rows("o");
    assert_int_equal(json_array_size(rows), N);
    for (int i = 0; i < N; i++) {
        const json_t *got = json_array_get(rows, (size_t)i), *top = json_object_get(got, "top"),
                     *token = json_object_get(got, "token");
        double mass = 0.0, before = 0.0, kl = 0.0, whole = 0.0, p_mass = 0.0, q_mass = 0.0;
        logits_of(OTHER, ids[i], n[i], other);
        logits_of(TINY, ids[i], n[i], row);
        log_softmax(other[n[i] - 1], p);
        near(real_at(got, "entropy"), log_softmax(row[n[i] - 1], q), "entropy");
        assert_int_equal(json_integer_value(json_object_get(got, "prompt_tokens")), n[i]);
        assert_int_equal(json_array_size(top), K);
        for (size_t k = 0; k < K; k++) {
            const json_t *best = json_array_get(top, k);
            const int id = (int)json_integer_value(json_object_get(best, "id"));
            near(real_at(best, "logprob"), q[id], "log-probability");
            assert_true(k == 0 || real_at(best, "logprob") <= before);
            before = real_at(best, "logprob");
            mass += exp(q[id]);
        }
        near(real_at(got, "tail"), 1.0 - mass, "tail");
        const int asked = 3 + 60 * i;
        int rank = 1;
        for (int v = 0; v < VOCAB; v++)
            rank += row[n[i] - 1][v] > row[n[i] - 1][asked] || (row[n[i] - 1][v] == row[n[i] - 1][asked] && v < asked);
        assert_int_equal(json_integer_value(json_object_get(token, "rank")), rank);
        near(real_at(token, "logprob"), q[asked], "the token's log-probability");
        /* the divergence over the other model's five best and the rest */
        bool is_best[VOCAB] = {false};
        for (int k = 0; k < K; k++) {
            int best = -1;
            for (int v = 0; v < VOCAB; v++)
                if (!is_best[v] && (best < 0 || p[v] > p[best]))
                    best = v;
            is_best[best] = true;
            kl += exp(p[best]) * (p[best] - q[best]);
            p_mass += exp(p[best]);
            q_mass += exp(q[best]);
        }
        kl += (1.0 - p_mass) * log((1.0 - p_mass) / (1.0 - q_mass));
        for (int v = 0; v < VOCAB; v++)
            whole += exp(p[v]) * (p[v] - q[v]);
        if (!(fabs(real_at(got, "kl") - kl) <= 2e-6) || kl > whole + 1e-9)
            fail_msg("kl %.9g, by hand %.9g, of all ids %.9g", real_at(got, "kl"), kl, whole);
        const json_t *scored = json_object_get(got, "completions");
        double most = -INFINITY;
        int best = -1;
        for (int c = 0; c < C && i % 2; c++) {
            const json_t *one = json_array_get(scored, (size_t)c), *logp = json_object_get(one, "logprobs");
            double sum = 0.0;
            memcpy(ids[i] + n[i], done[i][c], n_done[i][c] * sizeof(int32_t));
            logits_of(TINY, ids[i], n[i] + n_done[i][c], row);
            assert_int_equal(json_integer_value(json_object_get(one, "tokens")), n_done[i][c]);
            assert_int_equal(json_array_size(logp), n_done[i][c]);
            for (uint32_t k = 0; k < n_done[i][c]; k++) {
                log_softmax(row[n[i] - 1 + k], q);
                near(json_number_value(json_array_get(logp, k)), q[done[i][c][k]], "a completion's token");
                sum += q[done[i][c][k]];
            }
            near(real_at(one, "sum"), sum, "sum");
            near(real_at(one, "mean"), sum / n_done[i][c], "mean");
            best = sum > most ? c : best;
            most = sum > most ? sum : most;
        }
        if (i % 2)
            assert_int_equal(json_integer_value(json_object_get(got, "best")), best);
        else
            assert_null(scored);
    }
    json_decref(rows);
}

/* Prompts of up to `most` ids; every fourth has completions, every third an id. */
static void write_prompts(uint32_t n_line, uint32_t most)
{
    uint64_t rng = 3;
    int32_t ids[256];
    FILE *f = open_prompts("p.jsonl");
    for (uint32_t i = 0; i < n_line; i++) {
        const uint32_t n = make_line(&rng, ids, most);
        fputs("{\"ids\":", f);
        put_ids(f, ids, n);
        if (i % 3 == 0)
            fprintf(f, ",\"id\":%u,\"token\":%d", i, ids[0]);
        for (int c = 0; c < 5 && i % 4 == 1; c++) {
            const uint32_t m = make_line(&rng, ids, c == 2 && i % 8 == 1 ? 120 : 15);
            fputs(c ? "," : ",\"completions\":[", f);
            put_ids(f, ids, m);
        }
        fputs(i % 4 == 1 ? "]}\n" : "}\n", f);
    }
    fclose(f);
}

static void same_bits_for_every_grouping(void **state)
{
    static const char *const flags[] = {"-ub 512", "-ub 16", "-ub 64", "-ub 100", "-c 300", "-ub 3"};
    char line[512];
    (void)state;
    write_prompts(N_LINE, 90);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        snprintf(line, sizeof(line), "logprobs " TINY "$D/p.jsonl -o $D/g%zu %s", i, flags[i]);
        cli_expect(&r, line, 0);
        snprintf(line, sizeof(line), "g%zu", i);
        same_files("g0", line);
    }
    /* alone, and after the others in reverse */
    json_t *rows = read_rows("g0");
    cli_shell(&r, "tac $D/p.jsonl >$D/r.jsonl");
    cli_expect(&r, "logprobs " TINY "$D/r.jsonl -o $D/back", 0);
    json_t *back = read_rows("back");
    for (uint32_t i = 0; i < N_LINE; i++) {
        json_t *a = json_array_get(rows, i), *b = json_array_get(back, N_LINE - 1 - i);
        json_object_del(a, "index");
        json_object_del(b, "index");
        if (!json_equal(a, b))
            fail_msg("line %u: in reverse %s", i, json_dumps(b, 0));
        if (i % 9)
            continue;
        snprintf(line, sizeof(line), "sed -n '%up' $D/p.jsonl >$D/one.jsonl", i + 1);
        cli_shell(&r, line);
        cli_expect(&r, "logprobs " TINY "$D/one.jsonl -o $D/one", 0);
        json_t *one = read_rows("one");
        json_object_del(json_array_get(one, 0), "index");
        if (!json_equal(a, json_array_get(one, 0)))
            fail_msg("line %u alone: %s", i, json_dumps(one, 0));
        json_decref(one);
    }
    json_decref(back);
    json_decref(rows);
}

static void killed(void **state)
{
    uint64_t rng = check_seed();
    const uint32_t n_kill = check_is_full() ? 200 : 6;
    char line[512];
    (void)state;
    write_prompts(1500, 60);
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/whole --save-baseline $D/whole.base -ub 128", 0);
    for (uint32_t i = 0, before = 0; i < n_kill; i++) {
        const uint32_t ms = 30 + (uint32_t)check_below(&rng, 600);
        snprintf(line, sizeof(line),
                 "$M logprobs " TINY "$D/p.jsonl -o $D/k --save-baseline $D/k.base -ub 128 & p=$!; (sleep 0.%03u; kill "
                 "-%s $p) 2>/dev/null & wait $p",
                 ms, check_below(&rng, 3) ? "KILL" : "TERM");
        cli_shell(&r, line);
        const char *goes = strstr(r.err, ": goes on, ");
        const uint32_t done = goes ? (uint32_t)atoi(goes + 11) : before; /* killed before it looked: no matter */
        if (done < before)
            fail_msg("%u were done, %u are now: %s", before, done, r.err);
        before = done;
        cli_shell(&r, "test -e $D/k"); /* finished, and perhaps killed right after */
        if (r.code == 0) {
            same_files("whole", "k");
            same_files("whole.base", "k.base");
            cli_shell(&r, "rm -f $D/k $D/k.base $D/k.journal*");
            before = 0;
        }
    }
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/k --save-baseline $D/k.base -ub 128 --json", 0);
    assert_int_equal(strncmp(r.out, "{\"rows\":1500,\"faults\":0,\"run_rows\":", 35), 0);
    same_files("whole", "k");
    same_files("whole.base", "k.base");
}

static void faults_are_rows(void **state)
{
    (void)state;
    cli_shell(&r, "printf '%s\\n' '{\"ids\":[3,4],\"completions\":[[5],[6,7]]}' '{\"ids\":[3,4],\"completions\":[]}' "
                  "'{\"ids\":[3],\"completions\":[[]]}' '{\"ids\":[3],\"completions\":[[5,99999]]}' "
                  "'{\"text\":\"a\",\"token\":\"two\"}' '{\"text\":\"a\",\"token\":-1}' 'x' "
                  "'{\"ids\":[3,4,5],\"completions\":[[1,2,3,4,5,6,7]]}' '\"a\"' >$D/p.jsonl");
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/o -c 8 --save-baseline $D/b", 3);
    json_t *rows = read_rows("o");
    static const char *const error[] = {NULL,
                                        "line 2: \"completions\"",
                                        "line 3: \"completions\"",
                                        "line 4: \"completions\": not an id",
                                        "line 5: \"token\"",
                                        "line 6: \"token\"",
                                        "line 7: JSON",
                                        "line 8: completion 0 has 7 tokens, at most 6 fit",
                                        NULL};
    assert_int_equal(json_array_size(rows), 9);
    for (size_t i = 0; i < 9; i++) {
        const char *got = json_string_value(json_object_get(json_array_get(rows, i), "error"));
        if (error[i] ? !got || strncmp(got, error[i], strlen(error[i])) != 0 : got != NULL)
            fail_msg("row %zu: %s", i, got ? got : "no error");
    }
    json_decref(rows);
    json_t *dry = cli_json(&r, "logprobs " TINY "$D/p.jsonl -c 8 --dry-run --json"); /* the look finds them all */
    assert_int_equal((int)cli_number(dry, "faults"), 7);
    assert_int_equal((int)cli_number(dry, "completion_tokens"), 3);
    json_decref(dry);
    cli_shell(
        &r, "printf '%s\\n' '{\"ids\":[3,4],\"completions\":[[5],[6,99999]]}' >$D/f.jsonl"); /* and no other has more */
    cli_expect(&r, "logprobs " TINY "$D/f.jsonl -o $D/of", 3);
    /* a prompt without a distribution has no divergence; other prompts are refused */
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/o2 -c 8 --baseline $D/b", 3);
    rows = read_rows("o2");
    assert_true(fabs(real_at(json_array_get(rows, 0), "kl")) < 1e-8);
    json_decref(rows);
    cli_shell(&r, "echo '\"another\"' >$D/q.jsonl");
    cli_expect(&r, "logprobs " TINY "$D/q.jsonl -o $D/o3 --baseline $D/b", 65);
    assert_non_null(strstr(r.err, "another prompt; make it from the same prompts"));
}

static void suppressed_ids_cost_a_finite_sum(void **state)
{
    const int32_t id[2] = {4, 9};
    const double logp[2] = {log(0.5), log(0.25)}, logq[2] = {-INFINITY, log(0.9)};
    const myth_first_token p = {2, id, logp, 0.25};
    (void)state;
    const double want = 0.5 * (log(0.5) + 100.0) + 0.25 * (log(0.25) - log(0.9)) + 0.25 * (log(0.25) - log(0.1));
    assert_true(fabs(myth_first_token_kl(&p, logq, log(0.1)) - want) < 1e-9);
    const double all[2] = {log(0.5), log(0.5)}; /* no mass is left for the others */
    const double rest = 0.25 * (log(0.25) - log(0.5)) + 0.25 * (log(0.25) + 100.0);
    assert_true(fabs(myth_first_token_kl(&p, all, -INFINITY) - rest) < 1e-9);
    assert_true(myth_first_token_kl(&p, logp, log(0.25)) == 0.0);
    const myth_first_token whole = {2, id, all, 0.0};
    assert_true(myth_first_token_kl(&whole, all, -INFINITY) == 0.0);
    const double apart = 0.5 * (log(0.5) + 100.0) + 0.5 * (log(0.5) - log(0.9));
    assert_true(fabs(myth_first_token_kl(&whole, logq, log(0.1)) - apart) < 1e-9);
}

enum { N_ROW = 5000 };

static bool is_among(const int32_t *ids, uint32_t n, int32_t id)
{
    bool is = false;
    for (uint32_t i = 0; i < n && !is; i++)
        is = ids[i] == id;
    return is;
}

/* Log-sum-exp of the logits that are among the ids, or of those that are not. */
static long double sum_by_hand(const float *row, const int32_t *ids, uint32_t n, bool among)
{
    long double sum = 0.0L;
    for (int32_t v = 0; v < N_ROW; v++)
        if (is_among(ids, n, v) == among)
            sum += expl((long double)row[v]);
    return logl(sum);
}

/* How small the mass of the others may be, it is that of their logits, to the rounding of doubles; the best ids are the
 * best, of equal ones the smaller. */
static void a_small_tail_is_exact(void **state)
{
    static const uint32_t k_of[] = {1, 2, 7, 64, 1024, N_ROW - 1};
    static const float lead[] = {0.0f, 10.0f, 25.0f, 45.0f, 80.0f, 300.0f};
    static float row[N_ROW], heap[N_ROW];
    static int32_t ids[N_ROW];
    uint64_t rng = check_seed();
    (void)state;
    for (size_t c = 0; c < 36; c++) {
        const uint32_t k = k_of[c % 6];
        for (int v = 0; v < N_ROW; v++)
            row[v] = floorf(64.0f * check_unit(&rng)) / 4.0f; /* many are equal */
        for (uint32_t i = 0; i < k; i++)
            row[check_below(&rng, N_ROW)] += lead[c / 6];
        const uint32_t n = myth_first_token_best(row, N_ROW, k, heap, ids);
        assert_int_equal(n, k);
        float least = INFINITY;
        int32_t last = -1;
        for (uint32_t i = 0; i < k; i++) {
            assert_true(i == 0 || ids[i] > ids[i - 1]);
            least = row[ids[i]] < least ? row[ids[i]] : least;
        }
        for (uint32_t i = 0; i < k; i++)
            last = row[ids[i]] == least ? ids[i] : last;
        for (int32_t v = 0; v < N_ROW; v++)
            if (!is_among(ids, k, v) && (row[v] > least || (row[v] == least && v < last)))
                fail_msg("%u best: %d, a logit of %g, is left out", k, v, (double)row[v]);
        const double rest = myth_first_token_rest(row, N_ROW, ids, k), lse = myth_first_token_lse(row, ids, k, rest);
        const long double want = sum_by_hand(row, ids, k, false), in = sum_by_hand(row, ids, k, true);
        const long double all = want > in ? want + log1pl(expl(in - want)) : in + log1pl(expl(want - in));
        if (fabsl((long double)rest - want) > 1e-13L * fabsl(want) ||
            fabsl((long double)lse - all) > 1e-13L * fabsl(all))
            fail_msg("%u best, %g above: %.17g of %.17Lg, others %.17g of %.17Lg", k, (double)lead[c / 6], lse, all,
                     rest, want);
    }
    const int32_t sorted[] = {3, 7, 7, 4000, N_ROW, N_ROW + 5};
    int32_t mixed[] = {N_ROW + 5, 7, 4000, 3, N_ROW, 7};
    const double got = myth_first_token_rest(row, N_ROW, mixed, 6);
    assert_true(fabsl((long double)got - sum_by_hand(row, sorted, 6, false)) < 1e-12L);
    for (int32_t v = 0; v < N_ROW; v++)
        ids[v] = v;
    assert_true(myth_first_token_rest(row, N_ROW, ids, N_ROW) == -INFINITY);
}

/* The divergence of two models that hardly differ, where the terms of its sum are much larger than it. */
static void a_small_divergence_is_exact(void **state)
{
    enum { K = 10 };
    static float row[N_ROW], other[N_ROW], heap[K];
    int32_t id[K], out[K];
    double logp[K], logq[K];
    uint64_t rng = check_seed();
    (void)state;
    for (int c = 0; c < 8; c++) {
        const float lead = 8.0f * (float)(c % 4 + 1);
        for (int v = 0; v < N_ROW; v++)
            row[v] = 6.0f * check_unit(&rng) + (v % 500 == 7 ? lead : 0.0f);
        for (int v = 0; v < N_ROW; v++)
            other[v] = row[v] + ldexpf(check_unit(&rng), -9 - c / 4);
        myth_first_token_best(row, N_ROW, K, heap, id);
        memcpy(out, id, sizeof(out));
        const double rest_p = myth_first_token_rest(row, N_ROW, out, K),
                     rest_q = myth_first_token_rest(other, N_ROW, out, K),
                     lse_p = myth_first_token_lse(row, id, K, rest_p),
                     lse_q = myth_first_token_lse(other, id, K, rest_q);
        const long double in_p = sum_by_hand(row, id, K, true), out_p = sum_by_hand(row, id, K, false),
                          in_q = sum_by_hand(other, id, K, true), out_q = sum_by_hand(other, id, K, false),
                          all_p = in_p + log1pl(expl(out_p - in_p)), all_q = in_q + log1pl(expl(out_q - in_q));
        long double want = expl(out_p - all_p) * (out_p - all_p - (out_q - all_q));
        for (int i = 0; i < K; i++) {
            logp[i] = (double)row[id[i]] - lse_p;
            logq[i] = (double)other[id[i]] - lse_q;
            const long double l = (long double)row[id[i]] - all_p;
            want += expl(l) * (l - ((long double)other[id[i]] - all_q));
        }
        const myth_first_token p = {K, id, logp, exp(rest_p - lse_p)};
        const double got = myth_first_token_kl(&p, logq, rest_q - lse_q);
        if (!(want > 0.0L) || fabsl((long double)got - want) > 1e-8L * want)
            fail_msg("%d: %.12g, not %.12Lg", c, got, want);
    }
}

/* The tail is that of the logits of the other ids, where their mass is so small that 1 less the others' sum is not. */
static void the_tail_is_what_it_is(void **state)
{
    static const uint32_t k_of[] = {VOCAB - 1, VOCAB - 2, 3};
    static const int32_t ids[2][2] = {{3, 4}, {5, 6}};
    static float row[2][VOCAB];
    char line[256];
    (void)state;
    cli_shell(&r, "printf '%s\n' '{\"ids\":[3,4]}' '{\"ids\":[5,6],\"completions\":[[7]]}' >$D/p.jsonl");
    for (size_t c = 0; c < sizeof(k_of) / sizeof(k_of[0]); c++) {
        snprintf(line, sizeof(line), "logprobs " TINY "$D/p.jsonl -o $D/o --top-k %u", k_of[c]);
        cli_expect(&r, line, 0);
        json_t *rows = read_rows("o");
        for (int i = 0; i < 2; i++) {
            const json_t *got = json_array_get(rows, (size_t)i), *top = json_object_get(got, "top");
            double p[VOCAB], tail = 0.0;
            bool is_top[VOCAB] = {false};
            logits_of(TINY, ids[i], 2, row);
            log_softmax(row[1], p);
            for (size_t k = 0; k < json_array_size(top); k++)
                is_top[json_integer_value(json_object_get(json_array_get(top, k), "id"))] = true;
            for (int v = 0; v < VOCAB; v++)
                tail += is_top[v] ? 0.0 : exp(p[v]);
            if (fabs(real_at(got, "tail") - tail) > 1e-7 * tail)
                fail_msg("%u best: a tail of %.9g, not %.9g", k_of[c], real_at(got, "tail"), tail);
        }
        json_decref(rows);
    }
    /* where all are listed nothing is left, and a baseline of it is read */
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/o --top-k 512 --save-baseline $D/b", 0);
    cli_expect(&r, "logprobs " TINY "$D/p.jsonl -o $D/o2 --top-k 512 --baseline $D/b", 0);
    json_t *rows = read_rows("o2");
    for (size_t i = 0; i < 2; i++) {
        const json_t *got = json_array_get(rows, i), *top = json_object_get(got, "top");
        double sum = 0.0;
        assert_int_equal(json_array_size(top), VOCAB);
        for (size_t k = 0; k < VOCAB; k++)
            sum += exp(real_at(json_array_get(top, k), "logprob"));
        assert_true(fabs(sum - 1.0) < 1e-8);
        assert_true(json_number_value(json_object_get(got, "tail")) == 0.0);
        assert_true(fabs(json_number_value(json_object_get(got, "kl"))) < 1e-15);
    }
    json_decref(rows);
}

static void memory_is_as_planned(void **state)
{
    static const char *const flags[] = {"", "--top-k 200", "--save-baseline $D/mb --top-k 20", "--baseline $D/mb",
                                        "-ub 32"};
    char line[512];
    (void)state;
    write_prompts(40, 60);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        snprintf(line, sizeof(line), "logprobs " TINY "$D/p.jsonl %s -o $D/m%zu --mem-report $D/mem.json", flags[i], i);
        cli_expect(&r, line, 0);
        cli_expect_planned(flags[i]);
    }
    json_t *j = cli_json(&r, "logprobs " TINY "$D/p.jsonl --dry-run --json");
    assert_int_equal((int)cli_number(j, "prompts"), 40);
    assert_true(cli_number(j, "completion_tokens") > 0);
    const double all = cli_number(j, "plan.total_bytes");
    json_decref(j);
    snprintf(line, sizeof(line), "logprobs " TINY "$D/p.jsonl -o $D/small --mem-limit %.0f", all * 0.8);
    cli_expect(&r, line, 0); /* smaller micro-batches */
    same_files("m0", "small");
}

/* Logits that are not finite are the error of their line, wherever it is read: in a group, with completions (of which
 * one has them), in pieces of a micro-batch. The rows of the others have the bits that they have without it. */
static void logits_that_are_no_numbers(void **state)
{
    static const char *const good[] = {"{\"ids\":[5,6]}", "{\"ids\":[7,8,9],\"id\":\"g\"}",
                                       "{\"ids\":[5,6],\"completions\":[[3],[4,5]]}", "{\"ids\":[9,2],\"token\":4}"};
    static const char *const bad[] = {"{\"ids\":[5,6,77],\"id\":\"bad\"}", "{\"ids\":[5,6,77],\"completions\":[[3]]}",
                                      "{\"ids\":[5,6],\"completions\":[[3],[77,4]]}", "{\"ids\":[77],\"token\":4}"};
    enum { N = 80 };
    char path[128];
    (void)state;
    make_bad_model();
    for (int which = 0; which < 2; which++) {
        snprintf(path, sizeof(path), "%s/%s.jsonl", cli_dir, which ? "some" : "good");
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (int i = 0; i < N; i++)
            fprintf(f, "%s\n", which && i % 9 == 4 ? bad[i / 9 % 4] : good[i % 4]);
        fputs("{\"ids\":[", f); /* longer than a micro-batch */
        for (int i = 0; i < 40; i++)
            fprintf(f, "%d,", 10 + i);
        fprintf(f, "%d]}\n", which ? BAD_ID : 3);
        fclose(f);
    }
    cli_expect(&r, "logprobs " BAD_MODEL "$D/good.jsonl -o $D/good.out -ub 32 --save-baseline $D/good.base", 0);
    for (int ub = 16; ub <= 512; ub *= 8) {
        char line[200];
        snprintf(line, sizeof(line), "logprobs " BAD_MODEL "$D/some.jsonl -o $D/some.out -ub %d --resume off", ub);
        cli_expect(&r, line, 3);
        assert_non_null(strstr(r.err, "10 lines have no result: \"error\" says why in the row"));
        json_t *want = read_rows("good.out"), *got = read_rows("some.out");
        assert_int_equal(json_array_size(got), N + 1);
        for (int i = 0; i <= N; i++) {
            const char *why = json_string_value(json_object_get(json_array_get(got, (size_t)i), "error"));
            assert_int_equal(why != NULL, i == N || i % 9 == 4);
            if (why)
                assert_non_null(strstr(why, "logits are infinite or NaN"));
            else
                assert_true(json_equal(json_array_get(got, (size_t)i), json_array_get(want, (size_t)i)));
        }
        json_decref(want);
        json_decref(got);
    }
    cli_expect(&r, "logprobs " BAD_MODEL "$D/some.jsonl -o $D/kl.out --baseline $D/good.base", 65); /* other prompts */
    cli_expect(&r, "logprobs " BAD_MODEL "$D/some.jsonl -o $D/some.out --save-baseline $D/some.base --resume off", 3);
    cli_expect(&r, "logprobs " BAD_MODEL "$D/some.jsonl -o $D/kl.out --baseline $D/some.base --resume off", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(same_bits_for_every_grouping),
        cmocka_unit_test(killed),
        cmocka_unit_test(faults_are_rows),
        cmocka_unit_test(suppressed_ids_cost_a_finite_sum),
        cmocka_unit_test(a_small_tail_is_exact),
        cmocka_unit_test(a_small_divergence_is_exact),
        cmocka_unit_test(the_tail_is_what_it_is),
        cmocka_unit_test(logits_that_are_no_numbers),
        cmocka_unit_test(memory_is_as_planned),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
