/* test_results.c - what a job leaves behind when it ends by an error: the rows that were finished and the number of its
 * faults, and none that were made of a file that had changed by then. */
#include "tests/support/check.h"
#include "tests/support/files.h"

#include "frontend/jobs/results.h"

static myth_mem *mem;
static myth_cancel cancel;
static myth_term term = {.is_quiet = true};
static myth_cli cli;

static int begin(void **state)
{
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    cli = (myth_cli){.mem = mem, .cancel = &cancel, .term = &term};
    return 0;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static myth_results open_it(const char *name)
{
    static const myth_journal_fact fact[1] = {{"input", "00ff"}};
    myth_error err = {0};
    myth_results r;
    if (myth_results_open(&r, &cli, files_path(name), fact, 1, true, 4, 100, 10, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return r;
}

static void put(myth_results *r, uint64_t index, const char *fault)
{
    myth_error err = {0};
    const myth_job_prompt it = {.index = index, .line = index + 1};
    if (fault) {
        assert_int_equal(myth_results_fault(r, &it, fault, &err), MYTH_OK);
    } else {
        myth_results_begin(r, index, NULL, 0);
        assert_int_equal(myth_results_end(r, index, &err), MYTH_OK);
    }
}

static void faults_survive_an_error(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_results r = open_it("faults");
    put(&r, 0, "no prompt");
    assert_int_equal(myth_results_commit(&r, &err), MYTH_OK);
    put(&r, 1, NULL);
    put(&r, 2, "no prompt");
    myth_results_close(&r); /* as a job does that ends by an error */
    r = open_it("faults");
    assert_int_equal(r.n_before, 3);
    assert_int_equal(r.n_fault, 2);
    put(&r, 3, NULL);
    assert_int_equal(myth_results_finish(&r, &err), MYTH_OK);
    assert_int_equal(r.n_fault, 2);
    myth_results_close(&r);
}

/* Writes in place. */
static void write_input(const char *text)
{
    FILE *f = fopen(files_path("in"), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void rows_of_a_changed_file_are_not_kept(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) { /* which of the inputs */
        myth_error err = {0};
        myth_lines l;
        write_input("one\ntwo\n");
        assert_int_equal(myth_lines_open(&l, &cli, files_path("in"), &(myth_lines_opts){.stream_bytes = 0}, &err),
                         MYTH_OK);
        myth_results r = open_it("changed");
        r.input[k] = &l;
        put(&r, 0, NULL);
        assert_int_equal(myth_results_commit(&r, &err), MYTH_OK);
        write_input("one\nthree\n");
        put(&r, 1, "no prompt");
        assert_int_equal(myth_results_finish(&r, &err), MYTH_ELIMIT);
        assert_non_null(strstr(err.msg, "changed while it was read"));
        write_input("one\ntwo\n"); /* put back before the job has ended */
        myth_results_close(&r);
        myth_lines_close(&l);
        r = open_it("changed");
        assert_int_equal(r.n_before, 1);
        assert_int_equal(r.n_fault, 0);
        myth_journal_remove(r.journal);
        r.journal = NULL;
        myth_results_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_survive_an_error),
        cmocka_unit_test(rows_of_a_changed_file_are_not_kept),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
