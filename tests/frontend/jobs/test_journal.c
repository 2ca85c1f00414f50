/* test_journal.c - a journal gives back what was committed, refuses what was begun otherwise, and survives the death of
 * its process at any moment. */
#define _GNU_SOURCE /* memmem */
#include "tests/support/check.h"
#include "tests/support/files.h"

#include "frontend/jobs/journal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const myth_journal_fact facts[2] = {{"--layers", "all"}, {"input", "00ff"}};

static myth_journal *open_it(const char *name, bool goes_on)
{
    myth_error err = {0};
    myth_journal *j = NULL;
    if (myth_journal_open(&j, files_path(name), facts, 2, goes_on, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return j;
}

static bool is_there(const char *name)
{
    char path[700];
    snprintf(path, sizeof(path), "%s.journal", files_path(name));
    return access(path, F_OK) == 0;
}

typedef struct {
    char text[400];
} told;

static myth_status tell(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    told *t = user;
    const size_t at = strlen(t->text);
    (void)err;
    snprintf(t->text + at, sizeof(t->text) - at, "%llu=%.*s;", (unsigned long long)index, (int)n, (const char *)row);
    return MYTH_OK;
}

static void rows_come_back_in_order(void **state)
{
    (void)state;
    myth_error err = {0};
    told t = {""};
    myth_journal *j = open_it("order", true);
    assert_int_equal(myth_journal_put(j, 7, "seven", 5, &err), MYTH_OK);
    assert_int_equal(myth_journal_put(j, 2, "", 0, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    assert_int_equal(myth_journal_put(j, 0, "zero", 4, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    assert_true(myth_journal_is_done(j, 2));
    assert_false(myth_journal_is_done(j, 1));
    assert_int_equal(myth_journal_n_done(j), 3);
    assert_int_equal(myth_journal_each(j, tell, &t, &err), MYTH_OK);
    assert_string_equal(t.text, "0=zero;2=;7=seven;");
    assert_int_equal(myth_journal_put(j, 7, "again", 5, &err), MYTH_EIO);
    myth_journal_remove(j);
    assert_false(is_there("order"));
}

static void what_was_not_committed_is_gone(void **state)
{
    (void)state;
    myth_error err = {0};
    char sum[4] = "....";
    bool has = true;
    myth_journal *j = open_it("commit", true);
    assert_int_equal(myth_journal_put(j, 1, "a", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_put_state(j, "sum", "0001", 4, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    assert_int_equal(myth_journal_put(j, 2, "b", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_put_state(j, "sum", "0002", 4, &err), MYTH_OK);
    myth_journal_close(j);
    j = open_it("commit", true);
    assert_int_equal(myth_journal_n_done(j), 1);
    assert_false(myth_journal_is_done(j, 2));
    assert_int_equal(myth_journal_get_state(j, "sum", sum, 4, &has, &err), MYTH_OK);
    assert_true(has);
    assert_memory_equal(sum, "0001", 4);
    assert_int_equal(myth_journal_get_state(j, "sum", sum, 3, &has, &err), MYTH_OK);
    assert_false(has);
    assert_int_equal(myth_journal_get_state(j, "other", sum, 4, &has, &err), MYTH_OK);
    assert_false(has);
    myth_journal_close(j);
    j = open_it("commit", false); /* begun anew */
    assert_int_equal(myth_journal_n_done(j), 0);
    myth_journal_remove(j);
}

static void another_fact_is_named(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_journal_fact other[2] = {{"--layers", "3"}, {"input", "00ff"}};
    for (int k = 0; k < 2; k++) {
        myth_journal *j = open_it("fact", true);
        assert_int_equal(k ? myth_journal_put_state(j, "sum", "1", 1, &err) : myth_journal_put(j, 1, "a", 1, &err),
                         MYTH_OK);
        assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
        myth_journal_close(j);
        assert_int_equal(myth_journal_open(&j, files_path("fact"), other, 2, true, &err), MYTH_EARG);
        assert_null(j);
        assert_non_null(strstr(err.msg, "another --layers (all, now 3)"));
        assert_non_null(strstr(err.msg, "--resume off"));
        assert_int_equal(myth_journal_open(&j, files_path("fact"), other, 2, false, &err), MYTH_OK);
        myth_journal_remove(j);
    }
}

/* Killed before the first commit: there is nothing that other flags could not go with. */
static void an_empty_journal_takes_other_facts(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_journal_fact other[1] = {{"--layers", "3"}};
    myth_journal *j = open_it("empty", true);
    assert_int_equal(myth_journal_put(j, 1, "a", 1, &err), MYTH_OK);
    myth_journal_close(j); /* not committed */
    assert_int_equal(myth_journal_open(&j, files_path("empty"), other, 1, true, &err), MYTH_OK);
    assert_int_equal(myth_journal_n_done(j), 0);
    assert_int_equal(myth_journal_put(j, 1, "a", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    myth_journal_close(j);
    /* and holds on to them */
    assert_int_equal(myth_journal_open(&j, files_path("empty"), facts, 2, true, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "another --layers (3, now all)"));
    assert_int_equal(myth_journal_open(&j, files_path("empty"), other, 1, true, &err), MYTH_OK);
    myth_journal_remove(j);
}

static void two_commands_cannot_write_one_output(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_journal *j = open_it("lock", true), *second = NULL;
    assert_int_equal(myth_journal_open(&second, files_path("lock"), facts, 2, true, &err), MYTH_EIO);
    assert_null(second);
    assert_non_null(strstr(err.msg, "another command"));
    assert_int_equal(myth_journal_put(j, 1, "a", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    myth_journal_remove(j);
}

/* Who begins anew takes nothing away from a command that is still at work. */
static void a_journal_in_use_is_not_begun_anew(void **state)
{
    (void)state;
    myth_error err = {0};
    char output[2][700];
    snprintf(output[0], sizeof(output[0]), "%s", files_path("use"));
    snprintf(output[1], sizeof(output[1]), "%s.2-of-3", files_path("use"));
    for (int k = 0; k < 2; k++) { /* the journal of the output, and that of a share of it */
        myth_journal *first = NULL, *j = NULL, *second = NULL;
        assert_int_equal(myth_journal_open(&first, output[1 - k], facts, 2, true, &err), MYTH_OK);
        assert_int_equal(myth_journal_put(first, 1, "b", 1, &err), MYTH_OK);
        assert_int_equal(myth_journal_commit(first, &err), MYTH_OK);
        myth_journal_close(first);
        assert_int_equal(myth_journal_open(&j, output[k], facts, 2, true, &err), MYTH_OK);
        assert_int_equal(myth_journal_put(j, 1, "a", 1, &err), MYTH_OK);
        assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
        assert_int_equal(myth_journal_open(&second, output[k], facts, 2, false, &err), MYTH_EIO);
        assert_non_null(strstr(err.msg, "another command"));
        assert_int_equal(myth_journal_remove_all(output[0], 3, &err), MYTH_EIO);
        assert_non_null(strstr(err.msg, "another command"));
        assert_int_equal(myth_journal_put(j, 2, "a", 1, &err), MYTH_OK);
        assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
        myth_journal_close(j);
        for (int i = 0; i < 2; i++) { /* both are as they were left */
            assert_int_equal(myth_journal_open(&j, output[i], facts, 2, true, &err), MYTH_OK);
            assert_int_equal(myth_journal_n_done(j), i == k ? 2 : 1);
            myth_journal_close(j);
        }
        assert_int_equal(myth_journal_remove_all(output[0], 3, &err), MYTH_OK);
        assert_false(is_there("use"));
        assert_false(is_there("use.2-of-3"));
    }
}

/* Somebody took the file away, and another command has begun: its journal stays. */
static void a_journal_removes_its_own_file_alone(void **state)
{
    (void)state;
    myth_error err = {0};
    char path[700];
    myth_journal *first = open_it("own", true);
    assert_int_equal(myth_journal_put(first, 1, "a", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(first, &err), MYTH_OK);
    static const char *const tail[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s.journal%s", files_path("own"), tail[i]);
        unlink(path);
    }
    myth_journal *second = open_it("own", true);
    assert_int_equal(myth_journal_put(second, 1, "b", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(second, &err), MYTH_OK);
    myth_journal_remove(first);
    assert_true(is_there("own"));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(myth_journal_put(second, 2, "b", 1, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(second, &err), MYTH_OK);
    myth_journal_close(second);
    second = open_it("own", true);
    assert_int_equal(myth_journal_n_done(second), 2);
    myth_journal_remove(second);
    assert_false(is_there("own"));
}

static void what_is_no_journal_is_refused_and_kept(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_journal *j = NULL;
    char path[700], text[32] = "";
    snprintf(path, sizeof(path), "%s.journal", files_path("no"));
    FILE *f = fopen(path, "w");
    fputs("a diary of somebody's, longer than the header of a database, which has a hundred bytes, as everybody knows",
          f);
    fclose(f);
    assert_int_equal(myth_journal_open(&j, files_path("no"), facts, 2, true, &err), MYTH_EIO);
    assert_non_null(strstr(err.msg, "--resume off"));
    f = fopen(path, "r");
    assert_int_equal(fread(text, 1, 7, f), 7);
    fclose(f);
    assert_string_equal(text, "a diary");
    j = open_it("no", false);
    myth_journal_remove(j);
}

/* The bytes of a closed journal. */
static void take_image(bytes *b, const char *name)
{
    char path[700];
    int c;
    snprintf(path, sizeof(path), "%s.journal", files_path(name));
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while ((c = fgetc(f)) != EOF)
        bytes_uint(b, (uint64_t)c, 1);
    fclose(f);
}

/* Puts them in its place, with the byte at `at` changed by the bits of `by`. */
static void put_image(const char *name, const bytes *b, size_t at, unsigned char by)
{
    static const char *const tail[] = {"-wal", "-shm", ""};
    char path[720];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s.journal%s", files_path(name), tail[i]);
        unlink(path);
    }
    b->data[at] ^= by;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
    assert_int_equal(fclose(f), 0);
    b->data[at] ^= by;
}

/* Whether the journal gives back something else than was put, without an error. What it forgot is computed again. */
static bool gives_another_answer(const char *name)
{
    myth_error err = {0};
    myth_journal *j = NULL;
    told t = {""};
    char sum[8] = "";
    bool has = false;
    if (myth_journal_open(&j, files_path(name), facts, 2, true, &err) != MYTH_OK)
        return false;
    const uint64_t n = myth_journal_n_done(j);
    const bool is_other_state = myth_journal_get_state(j, "sum", sum, 8, &has, &err) == MYTH_OK && has &&
                                memcmp(sum, "00000042", 8) != 0,
               is_read = myth_journal_each(j, tell, &t, &err) == MYTH_OK,
               is_other_row = is_read && n == 3 && strcmp(t.text, "0=zero;2=two;7=seven;") != 0;
    myth_journal_close(j);
    if (!is_read && !strstr(err.msg, "--resume off"))
        fail_msg("%s", err.msg);
    return is_other_state || is_other_row;
}

/* A byte that the disk changed is found before it becomes a part of the output. */
static void a_changed_byte_is_found(void **state)
{
    (void)state;
    myth_error err = {0};
    uint64_t rng = check_seed();
    bytes b = {0};
    myth_journal *j = open_it("byte", false);
    assert_int_equal(myth_journal_put(j, 0, "zero", 4, &err), MYTH_OK);
    assert_int_equal(myth_journal_put(j, 2, "two", 3, &err), MYTH_OK);
    assert_int_equal(myth_journal_put(j, 7, "seven", 5, &err), MYTH_OK);
    assert_int_equal(myth_journal_put_state(j, "sum", "00000042", 8, &err), MYTH_OK);
    assert_int_equal(myth_journal_commit(j, &err), MYTH_OK);
    myth_journal_close(j);
    take_image(&b, "byte");
    assert_false(gives_another_answer("byte"));
    for (uint32_t i = 0, n = check_sample(4000); i < n; i++) {
        /* the cells of a page stand at its end */
        const size_t page = check_below(&rng, b.len / 4096), in = check_below(&rng, 160);
        const size_t at = i % 4 ? page * 4096 + 4095 - in : check_below(&rng, b.len);
        put_image("byte", &b, at, (unsigned char)(1u << check_below(&rng, 8)));
        if (gives_another_answer("byte"))
            fail_msg("byte %zu of %zu", at, b.len);
    }
    static const char *const part[] = {"seven", "00000042"};
    for (size_t p = 0; p < 2; p++) {
        char sum[8];
        bool has;
        told t = {""};
        const unsigned char *at = memmem(b.data, b.len, part[p], strlen(part[p]));
        assert_non_null(at);
        put_image("byte", &b, (size_t)(at - b.data), 1);
        j = open_it("byte", true);
        assert_int_equal(
            p ? myth_journal_get_state(j, "sum", sum, 8, &has, &err) : myth_journal_each(j, tell, &t, &err), MYTH_EIO);
        assert_non_null(strstr(err.msg, "damaged"));
        myth_journal_close(j);
    }
    put_image("byte", &b, 63, 1); /* the version of the tables, in the header of the database */
    assert_int_equal(myth_journal_open(&j, files_path("byte"), facts, 2, true, &err), MYTH_EIO);
    assert_non_null(strstr(err.msg, "another version of mythos"));
    myth_journal_remove(open_it("byte", false));
    assert_false(is_there("byte"));
    bytes_free(&b);
}

/* A child puts items and a sum of them, and dies at a moment that it does not choose. */
static void a_kill_leaves_items_and_state_of_one_commit(void **state)
{
    (void)state;
    myth_error err = {0};
    const int n_kill = check_is_full() ? 200 : 12;
    uint64_t done = 0;
    for (int k = 0; k < n_kill; k++) {
        const pid_t child = fork();
        if (child == 0) {
            myth_journal *j = NULL;
            uint64_t sum = 0, i = 0;
            bool has;
            if (myth_journal_open(&j, files_path("kill"), facts, 2, true, &err) != MYTH_OK)
                _exit(1);
            myth_journal_get_state(j, "sum", &sum, sizeof(sum), &has, &err);
            for (i = myth_journal_n_done(j);; i++) {
                sum += i;
                if (myth_journal_put(j, i, &i, sizeof(i), &err) != MYTH_OK ||
                    myth_journal_put_state(j, "sum", &sum, sizeof(sum), &err) != MYTH_OK ||
                    (i % 3 == 0 && myth_journal_commit(j, &err) != MYTH_OK))
                    _exit(1);
            }
        }
        usleep(1000 + 1000 * (unsigned)(check_seed() + (uint64_t)k * 7) % 30000);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        myth_journal *j = open_it("kill", true);
        uint64_t n = myth_journal_n_done(j), sum = 0;
        bool has;
        assert_true(n >= done);
        assert_int_equal(myth_journal_get_state(j, "sum", &sum, sizeof(sum), &has, &err), MYTH_OK);
        assert_int_equal(has, n > 0);
        assert_int_equal(sum, n ? n * (n - 1) / 2 : 0);
        done = n;
        myth_journal_close(j);
    }
    assert_true(done > 0);
    myth_journal_remove(open_it("kill", true));
    assert_false(is_there("kill"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_in_order),
        cmocka_unit_test(what_was_not_committed_is_gone),
        cmocka_unit_test(another_fact_is_named),
        cmocka_unit_test(an_empty_journal_takes_other_facts),
        cmocka_unit_test(two_commands_cannot_write_one_output),
        cmocka_unit_test(a_journal_in_use_is_not_begun_anew),
        cmocka_unit_test(a_journal_removes_its_own_file_alone),
        cmocka_unit_test(what_is_no_journal_is_refused_and_kept),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(a_kill_leaves_items_and_state_of_one_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
