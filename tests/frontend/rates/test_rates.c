/* test_rates.c - the kept file of rates: what is written comes back, rates are merged by their weight, damaged files
 * and rows do no harm, the file stays small, and processes that write at once lose nothing. */
#include "frontend/rates/rates.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[128];

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/mythos-rates-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/deep/mythos/rates.csv", folder);
    return 0;
}

static int end(void **state)
{
    char line[160];
    (void)state;
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

static const myth_rate_key a_key = {
    .machine = "AMD EPYC, 2 threads, avx2",
    .setup = "cpu",
    .model = "m.gguf",
    .type = "q8_0",
    .shape = "0123456789abcdef",
};

static void add(const myth_rate_key *key, uint32_t at, uint32_t n, double pp_s, double tg_s)
{
    myth_pace p = {.n_answer = 1, .answer_tokens = n};
    myth_error err;
    myth_pace_add(&p, MYTH_PREFILL, at, n, pp_s);
    myth_pace_add(&p, MYTH_DECODE, at, n, tg_s);
    const myth_status st = myth_rates_add(path, key, &p, &err);
    if (st != MYTH_OK)
        fail_msg("%s", err.msg);
}

static void put(const char *text)
{
    char dir[128];
    snprintf(dir, sizeof(dir), "mkdir -p %.100s/deep/mythos", folder);
    assert_int_equal(system(dir), 0);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-4 * fabs(b); }

static void what_is_kept_comes_back(void **state)
{
    (void)state;
    myth_rates r;
    struct stat s;
    myth_rates_read(&r, path, &a_key); /* no file yet */
    assert_false(myth_rates_are_known(&r));
    add(&a_key, 0, 100, 0.1, 2);
    myth_rates_read(&r, path, &a_key);
    assert_true(myth_rates_are_known(&r));
    assert_true(is_near(myth_rates_seconds(&r, MYTH_PREFILL, 0, 1000), 1));
    assert_true(is_near(myth_rates_seconds(&r, MYTH_DECODE, 5000, 100), 2));
    assert_true(is_near(r.answer_tokens / r.n_answer, 100));
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    /* Of twice the tokens: 300 tokens in 0.1 + 0.5 s. */
    add(&a_key, 0, 200, 0.5, 4);
    myth_rates_read(&r, path, &a_key);
    assert_true(is_near(myth_rates_seconds(&r, MYTH_PREFILL, 0, 300), 0.6));
    assert_true(is_near(r.answer_tokens / r.n_answer, 150));
}

static void keys_do_not_mix(void **state)
{
    (void)state;
    myth_rates r;
    add(&a_key, 0, 100, 1, 1);
    for (int i = 0; i < 4; i++) {
        myth_rate_key other = a_key;
        strcpy(i == 0 ? other.machine : i == 1 ? other.setup : i == 2 ? other.type : other.shape, "another");
        myth_rates_read(&r, path, &other);
        assert_int_equal(r.n_point[MYTH_PREFILL], 0);
    }
    myth_rate_key renamed = a_key;
    strcpy(renamed.model, "fine-tuned.gguf"); /* the same speed, whatever it is called */
    myth_rates_read(&r, path, &renamed);
    assert_true(myth_rates_are_known(&r));
}

static void depths_are_interpolated(void **state)
{
    (void)state;
    myth_rates r;
    add(&a_key, 0, 100, 0.1, 1);    /* 1 ms and 10 ms a token at depth 0 */
    add(&a_key, 2048, 100, 0.3, 2); /* 3 ms and 20 ms at 2048 */
    myth_rates_read(&r, path, &a_key);
    assert_int_equal(r.n_point[MYTH_PREFILL], 2);
    assert_true(is_near(myth_rates_seconds(&r, MYTH_PREFILL, 1024, 1), 0.002));
    assert_true(is_near(myth_rates_seconds(&r, MYTH_DECODE, 1536, 1), 0.0175));
    assert_true(is_near(myth_rates_seconds(&r, MYTH_DECODE, 9000, 1), 0.02));
}

static void a_rate_of_few_tokens_is_joined_with_the_next(void **state)
{
    (void)state;
    myth_rates r;
    add(&a_key, 0, 100, 0.1, 1);
    add(&a_key, 512, 4, 4, 4); /* a second a token, of four tokens */
    myth_rates_read(&r, path, &a_key);
    assert_int_equal(r.n_point[MYTH_PREFILL], 1);
    assert_true(is_near(myth_rates_seconds(&r, MYTH_PREFILL, 0, 104), 4.1));
}

static void old_measurements_do_not_outweigh_new_ones(void **state)
{
    (void)state;
    myth_rates r;
    for (int i = 0; i < 4; i++)
        add(&a_key, 0, 1 << 20, 1 << 20, 1 << 20); /* one token a second */
    add(&a_key, 0, 1 << 20, 1024, 1024);
    myth_rates_read(&r, path, &a_key);
    assert_int_equal(r.n_point[MYTH_PREFILL], 1);
    assert_true(1 / myth_rates_seconds(&r, MYTH_PREFILL, 0, 1) > 10);
}

static void damage_costs_only_the_damaged_rows(void **state)
{
    static const char head[] = "processor,setup,model,type,shape,test,depth,tok_s,tokens,answers\n",
                      whole[] = "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,pp,0,1000,50,\n";
    static const char *const bad[] = {
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,-5,50,\n",
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,nan,50,\n",
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,1e300,50,\n",
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,12x,50,\n",
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,12,50,,,,,,,,,,,,,,,,,,,,,,,,,,\n",
        "\"AMD EPYC, 2 threads, avx2\n",
        "\"AMD EPYC, 2 threads, avx2\"x,\"cpu\",\"m\",q8_0,0123456789abcdef,tg,0,12,50,\n",
        "\"AMD EPYC, 2 threads, avx2\",\"cpu\",\"m\",q8_0,0123456789abcdef,answer,,,50,0\n",
        "\x01\x02\n\n,,,,\n\"\"\"\"\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[1024];
        myth_rates r;
        snprintf(text, sizeof(text), "%s%s%s", head, bad[i], whole);
        put(text);
        myth_rates_read(&r, path, &a_key);
        assert_int_equal(r.n_point[MYTH_PREFILL], 1);
        assert_int_equal(r.n_point[MYTH_DECODE], 0);
        assert_true(r.n_answer == 0);
        add(&a_key, 0, 50, 0.05, 1);
        myth_rates_read(&r, path, &a_key);
        assert_true(myth_rates_are_known(&r));
        assert_true(is_near(myth_rates_seconds(&r, MYTH_PREFILL, 0, 1000), 1));
    }
    put("no table at all\n\n\n"); /* made anew */
    add(&a_key, 0, 50, 0.05, 1);
    myth_rates r;
    myth_rates_read(&r, path, &a_key);
    assert_true(myth_rates_are_known(&r));
}

static void what_is_no_file_is_not_read(void **state)
{
    (void)state;
    myth_rates r;
    put("");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* a read would wait for ever */
    myth_rates_read(&r, path, &a_key);
    assert_false(myth_rates_are_known(&r));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    myth_rates_read(&r, path, &a_key);
    assert_false(myth_rates_are_known(&r));
}

static void the_file_stays_small_and_forgets_the_oldest(void **state)
{
    (void)state;
    myth_rates r;
    struct stat s;
    myth_rate_key key = a_key;
    for (int i = 0; i < 300; i++) {
        snprintf(key.shape, sizeof(key.shape), "%016x", i);
        add(&key, 0, 100, 1, 1);
        if (i % 100 == 99) /* measured again, so it stays */
            add(&a_key, 0, 100, 1, 1);
    }
    FILE *f = fopen(path, "rb");
    int n = 0;
    for (int c; (c = fgetc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    assert_in_range(n, MYTH_RATES_ROWS - 4, MYTH_RATES_ROWS + 1);
    assert_int_equal(stat(path, &s), 0);
    assert_true(s.st_size <= MYTH_RATES_BYTES);
    myth_rates_read(&r, path, &a_key);
    assert_true(myth_rates_are_known(&r));
    snprintf(key.shape, sizeof(key.shape), "%016x", 0);
    myth_rates_read(&r, path, &key);
    assert_false(myth_rates_are_known(&r));
}

static void processes_at_once_lose_nothing(void **state)
{
    enum { CHILDREN = 6, TIMES = 5 };
    (void)state;
    pid_t child[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            int n_failed = 0;
            for (int k = 0; k < TIMES; k++) {
                myth_pace p = {.n_answer = 1, .answer_tokens = 10};
                myth_pace_add(&p, MYTH_PREFILL, 0, 100, 0.1);
                for (int tries = 0; tries < 20 && myth_rates_add(path, &a_key, &p, NULL) != MYTH_OK; tries++)
                    n_failed += tries == 19;
            }
            _exit(n_failed);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    myth_rates r;
    myth_rates_read(&r, path, &a_key);
    assert_true(is_near(r.n_answer, CHILDREN * TIMES));
    assert_true(is_near(r.point[MYTH_PREFILL][0].n_tok, 100.0 * CHILDREN * TIMES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_comes_back, begin, end),
        cmocka_unit_test_setup_teardown(keys_do_not_mix, begin, end),
        cmocka_unit_test_setup_teardown(depths_are_interpolated, begin, end),
        cmocka_unit_test_setup_teardown(a_rate_of_few_tokens_is_joined_with_the_next, begin, end),
        cmocka_unit_test_setup_teardown(old_measurements_do_not_outweigh_new_ones, begin, end),
        cmocka_unit_test_setup_teardown(damage_costs_only_the_damaged_rows, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_not_read, begin, end),
        cmocka_unit_test_setup_teardown(the_file_stays_small_and_forgets_the_oldest, begin, end),
        cmocka_unit_test_setup_teardown(processes_at_once_lose_nothing, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
