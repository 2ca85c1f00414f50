/* test_shares.c - a job divided among processes: the output is that of one process, byte for byte, for every job and
 * number of shares, also when some of them, or all, were killed on the way; shares computed one by one and merged; what
 * does not go together is refused. */
#include "tests/frontend/cli/cli_run.h"
#include "frontend/cli/exit.h"
#include "frontend/jobs/journal.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *name, *args;
    bool is_whole; /* also in a quick run */
} job[] = {
    {"means", "residuals $D/p.jsonl " TINY, true},
    {"all that is kept of rows", "residuals $D/p.jsonl --stats all " TINY, true},
    {"means over prompts", "residuals $D/p.jsonl --position mean --winsorize 0.95 " TINY, false},
    {"every token", "residuals $D/p.jsonl --position every --layers 0,3-5 " TINY, false},
    {"rows", "residuals $D/p.jsonl --rows $D/%s.rows --layers 1,3 " TINY, true},
    {"rows of every token", "residuals $D/p.jsonl --rows $D/%s.rows --position every --layers 0,4 " TINY, true},
    {"next tokens", "logprobs $D/p.jsonl --save-baseline $D/%s.base " TINY, true},
    {"answers", "generate --jsonl $D/p.jsonl -n 9 --temp 0.8 --seed 3 " TINY, true},
    {"vectors", "embed --jsonl $D/p.jsonl -m random:embeddinggemma-tiny:f32 ", true},
    {"an array of vectors", "embed --jsonl $D/p.jsonl --format npy -m random:embeddinggemma-tiny:f32 ", false},
};
/* clang-format on */
enum { JOB_N = sizeof(job) / sizeof(job[0]), LINE = 1024 };

static cli_result r;

/* Lines of which every 41st is no prompt; every second has label b. */
static void write_prompts(uint32_t n)
{
    uint64_t rng = 7;
    char path[64];
    snprintf(path, sizeof(path), "%s/p.jsonl", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 41 == 40) {
            fputs("{\"text\":7}\n", f);
            continue;
        }
        fprintf(f, "{\"id\":\"p%u\",\"label\":\"%c\",\"text\":\"prompt %u", i, "ab"[i % 2], i);
        for (uint32_t k = check_below(&rng, 14); k > 0; k--)
            fprintf(f, " w%u", (unsigned)check_below(&rng, 1000));
        fputs("\"}\n", f);
    }
    fclose(f);
}

/* The command of job j with more flags, its output $D/name. */
static void command(char line[LINE], uint32_t j, const char *name, const char *more)
{
    char args[LINE / 2];
    snprintf(args, sizeof(args), job[j].args, name); /* the one with %s */
    snprintf(line, LINE, "%s -o $D/%s %s", args, name, more);
}

static void run_job(uint32_t j, const char *name, const char *more, int code)
{
    char line[LINE];
    command(line, j, name, more);
    cli_expect(&r, line, code);
}

static void same(uint32_t j, const char *a, const char *b)
{
    char line[400];
    snprintf(line, sizeof(line),
             "cd $D && cmp %s %s && { ! test -e %s.base || cmp %s.base %s.base; } && { ! test -e %s.rows || diff -r "
             "%s.rows %s.rows; }",
             a, b, a, a, b, a, a, b);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s: %s %s", job[j].name, r.out, r.err);
}

static void nothing_is_left(uint32_t j)
{
    cli_shell(&r, "ls -R $D | grep -c -e journal -e -of- -e '[.]part'");
    if (strcmp(r.out, "0\n") != 0)
        fail_msg("%s: journals or folders are left", job[j].name);
}

static void outputs_are_those_of_one_process(void **state)
{
    static const char *const devices[] = {"cpu,cpu", "cpu,cpu,cpu,cpu,cpu"};
    (void)state;
    write_prompts(203);
    for (uint32_t j = 0; j < JOB_N; j++) {
        if (!job[j].is_whole && !check_is_full() && check_quick() > 1)
            continue;
        run_job(j, "one", "", MYTH_EXIT_INCOMPLETE); /* the lines that are no prompts */
        for (int k = 0; k < 2; k++) {
            char flags[96];
            snprintf(flags, sizeof(flags), "--data-parallel --device %s", devices[k]);
            run_job(j, "many", flags, MYTH_EXIT_INCOMPLETE);
            same(j, "one", "many");
            nothing_is_left(j);
        }
        cli_shell(&r, "rm -rf $D/one* $D/many*");
    }
}

/* On several machines: in any order, one given again, then merged. There may be more shares than prompts. */
static void shares_are_computed_apart_and_merged(void **state)
{
    (void)state;
    for (uint32_t j = 0; j < JOB_N; j++) {
        if (j > 1 && !check_is_case(j, JOB_N))
            continue;
        write_prompts(j % 2 ? 3 : 70);
        run_job(j, "one", "", j % 2 ? 0 : MYTH_EXIT_INCOMPLETE);
        for (int k = 4; k > 0; k--) {
            char share[32], line[LINE];
            command(line, j, "many", "--share merge/4");
            cli_run(&r, line);
            assert_int_equal(r.code, MYTH_EXIT_USAGE);
            assert_non_null(strstr(r.err, "--share 1/4"));
            snprintf(share, sizeof(share), "--share %d/4", k);
            command(line, j, "many", share);
            cli_run(&r, line);
            assert_true(r.code == 0 || r.code == MYTH_EXIT_INCOMPLETE);
        }
        run_job(j, "many", "--share 2/4", 0); /* has nothing to do, and no line at fault: the 41st is of share 1 */
        cli_shell(&r, "test -e $D/many || ls $D/many.1-of-4.journal $D/many.4-of-4.journal");
        assert_int_equal(r.code, 0);
        run_job(j, "many", "--share merge/4", j % 2 ? 0 : MYTH_EXIT_INCOMPLETE);
        same(j, "one", "many");
        nothing_is_left(j);
        cli_shell(&r, "rm -rf $D/one* $D/many*");
    }
}

/* Kills the leading process, or one of its children, or all, again and again until one run comes through. */
static void kills_lose_nothing(void **state)
{
    static const char *const whom[] = {"kill -9 $p", "kill -9 $(cut -d' ' -f2 /proc/$p/task/$p/children)",
                                       "kill -TERM $p", "kill -TERM $(cut -d' ' -f1 /proc/$p/task/$p/children)"};
    uint64_t rng = check_seed();
    const uint32_t n_round = check_is_full() ? 40 : check_sample(4);
    (void)state;
    write_prompts(1200);
    for (uint32_t round = 0; round < n_round; round++) {
        const uint32_t j = check_below(&rng, JOB_N);
        char args[LINE], line[2 * LINE];
        run_job(j, "one", "", MYTH_EXIT_INCOMPLETE);
        command(args, j, "many", "--data-parallel --device cpu,cpu");
        bool is_done = false;
        for (uint32_t n = 0; n < 25 && !is_done; n++) {
            snprintf(line, sizeof(line), "$M %s & p=$!; (sleep 0.%03u; %s) 2>/dev/null & wait $p; c=$?; wait; exit $c",
                     args, (unsigned)(20 + check_below(&rng, 60 + 30 * n)), whom[check_below(&rng, 4)]);
            cli_shell(&r, line);
            cli_shell(&r, "test -e $D/many && ! test -e $D/many.journal");
            is_done = r.code == 0;
        }
        if (!is_done)
            run_job(j, "many", "--data-parallel --device cpu,cpu", MYTH_EXIT_INCOMPLETE);
        same(j, "one", "many");
        cli_shell(&r, "rm -rf $D/one* $D/many*");
    }
}

static void what_does_not_go_together_is_refused(void **state)
{
    static const struct {
        const char *args, *says;
    } wrong[] = {
        {"residuals $D/p.jsonl -o $D/x --data-parallel " TINY, "name them"},
        {"residuals $D/p.jsonl -o $D/x --data-parallel --device cpu " TINY, "name them"},
        {"residuals $D/p.jsonl -o $D/x --data-parallel --device cuda:0,cpu " TINY, "not of one kind"},
        {"residuals - -o $D/x --data-parallel --device cpu,cpu " TINY, "name a file"},
        {"residuals $D/p.jsonl -o $D/x --share 3/2 " TINY, "expected K/N"},
        {"residuals $D/p.jsonl -o $D/x --share 0/2 " TINY, "expected K/N"},
        {"residuals $D/p.jsonl -o $D/x --share merge/65 " TINY, "at most 64"},
        {"logprobs $D/p.jsonl -o $D/x --data-parallel --device cpu,cpu --control $D/s " TINY, "leave them out"},
        {"logprobs $D/p.jsonl -o $D/x --data-parallel --device cpu,cpu --mem-limit @$D/l " TINY, "leave them out"},
        {"generate -p x --share 1/2 " TINY, "add --jsonl"},
        {"embed $D/p.jsonl -o $D/x --share 1/2 -m random:embeddinggemma-tiny:f32", "--jsonl or --files"},
        {"embed --jsonl $D/p.jsonl --share 1/2 -m random:embeddinggemma-tiny:f32", "-o FILE is missing"},
    };
    (void)state;
    write_prompts(20);
    cli_shell(&r, "echo 1GiB >$D/l");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cli_run(&r, wrong[i].args);
        if (r.code != MYTH_EXIT_USAGE || !strstr(r.err, wrong[i].says))
            fail_msg("%s\nexit %d: %s", wrong[i].args, r.code, r.err);
    }
    cli_shell(&r, "test -e $D/x");
    assert_int_equal(r.code, 1);
}

/* A job that was begun in shares is not begun again by other means without saying so, and --resume off forgets them.
 * All shares have the same flags. */
static void shares_are_not_mixed(void **state)
{
    (void)state;
    write_prompts(20);
    run_job(0, "many", "--share 1/2", 0);
    run_job(0, "many", "", MYTH_EXIT_USAGE);
    assert_non_null(strstr(r.err, "begun in 2 shares"));
    run_job(0, "many", "--share 2/3", MYTH_EXIT_USAGE);
    run_job(0, "many", "--data-parallel --device cpu,cpu,cpu", MYTH_EXIT_USAGE);
    run_job(0, "many", "--share 2/2 --layers 2", 0);
    run_job(0, "many", "--share merge/2", MYTH_EXIT_USAGE);
    assert_non_null(strstr(r.err, "other flags"));
    run_job(0, "one", "", 0);
    run_job(0, "many", "--data-parallel --device cpu,cpu,cpu --resume off", 0);
    same(0, "one", "many");
    nothing_is_left(0);
    cli_shell(&r, "$M residuals $D/p.jsonl " TINY " -o $D/many & p=$!; sleep 0.01; kill -9 $p; wait $p");
    cli_shell(&r, "rm -rf $D/one* $D/many*");
    run_job(0, "many", "--share 1/1", 0); /* the whole, as one share */
    cli_shell(&r, "rm -rf $D/many*");
}

/* The folder of a share that is not there, is cut or has a byte changed ends the merge, which goes on when it is whole
 * again; so does one that was ended while it put rows together, or had just done so. */
static void rows_of_shares_must_all_be_there(void **state)
{
    static const struct {
        const char *before, *says, *after;
    } step[] = {
        {"mv $D/many.rows.2-of-3 $D/away", "bring the folder of share 2/3", "mv $D/away $D/many.rows.2-of-3"},
        {"cp -r $D/many.rows.3-of-3 $D/away && truncate -s -4 $D/many.rows.3-of-3/layer-004.npy.part",
         "is not of this job", "rm -r $D/many.rows.3-of-3 && mv $D/away $D/many.rows.3-of-3"},
        {"cp -r $D/many.rows.1-of-3 $D/away && sed -i 1d $D/many.rows.1-of-3/rows.jsonl.part",
         "/rows.jsonl.part: damaged", "rm -r $D/many.rows.1-of-3 && mv $D/away $D/many.rows.1-of-3"},
        {"cp -r $D/many.rows.2-of-3 $D/away && printf '\\377\\377' | dd of=$D/many.rows.2-of-3/layer-004.npy.part bs=1 "
         "seek=130 conv=notrunc 2>/dev/null",
         "2-of-3/layer-004.npy.part: damaged", "rm -r $D/many.rows.2-of-3 && mv $D/away $D/many.rows.2-of-3"},
    };
    const uint32_t j = 5; /* rows of every token */
    (void)state;
    write_prompts(70);
    run_job(j, "one", "", MYTH_EXIT_INCOMPLETE);
    for (int k = 1; k <= 3; k++) {
        char share[32];
        snprintf(share, sizeof(share), "--share %d/3", k);
        run_job(j, "many", share, k == 2 ? MYTH_EXIT_INCOMPLETE : 0); /* the 41st */
    }
    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        char line[LINE];
        cli_shell(&r, step[i].before);
        assert_int_equal(r.code, 0);
        command(line, j, "many", "--share merge/3");
        cli_run(&r, line);
        if (r.code != MYTH_EXIT_DATA || !strstr(r.err, step[i].says))
            fail_msg("%s\nexit %d: %s", step[i].before, r.code, r.err);
        cli_shell(&r, step[i].after);
        assert_int_equal(r.code, 0);
    }
    char merge[LINE], line[2 * LINE];
    command(merge, j, "many", "--share merge/3");
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof(line), "timeout -s KILL 0.%03d $M %s", 5 + i, merge);
        cli_shell(&r, line);
        cli_shell(&r, "test -e $D/many");
        if (r.code == 0)
            break;
    }
    cli_shell(&r, "test -e $D/many && ! test -e $D/many.journal");
    if (r.code)
        run_job(j, "many", "--share merge/3", MYTH_EXIT_INCOMPLETE);
    same(j, "one", "many");
    nothing_is_left(j);
    cli_shell(&r, "rm -rf $D/one* $D/many*");
}

/* A share that is begun anew leaves the others as they are; a job that is begun anew leaves no folder of an earlier
 * division. */
static void shares_begun_anew_forget_their_rows(void **state)
{
    const uint32_t j = 4; /* rows */
    (void)state;
    write_prompts(20);
    run_job(j, "one", "", 0);
    run_job(j, "many", "--share 1/2", 0);
    run_job(j, "many", "--share 2/2", 0);
    run_job(j, "many", "--share 1/2 --resume off", 0);
    run_job(j, "many", "--share merge/2", 0);
    same(j, "one", "many");
    nothing_is_left(j);
    cli_shell(&r, "rm -rf $D/many*");
    run_job(j, "many", "--share 1/2", 0);
    run_job(j, "many", "--data-parallel --device cpu,cpu,cpu --resume off", 0);
    same(j, "one", "many");
    nothing_is_left(j);
    cli_shell(&r, "rm -rf $D/one* $D/many*");
}

/* Nothing is begun anew while a share is computed, and its rows stay. */
static void shares_at_work_are_not_forgotten(void **state)
{
    static const char *const how[] = {"--resume off", "--share 1/2 --resume off", "--share 2/3 --resume off",
                                      "--data-parallel --device cpu,cpu,cpu --resume off",
                                      "--data-parallel --device cpu,cpu --resume off"};
    const uint32_t j = 4; /* rows */
    char output[80];
    myth_error err = {0};
    myth_journal *share = NULL;
    (void)state;
    write_prompts(20);
    run_job(j, "one", "", 0);
    run_job(j, "many", "--share 1/2", 0);
    run_job(j, "many", "--share 2/2", 0);
    snprintf(output, sizeof(output), "%s/many.1-of-2", cli_dir);
    assert_int_equal(myth_journal_open(&share, output, NULL, 0, true, &err), MYTH_OK); /* as one that is at work */
    for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
        run_job(j, "many", how[i], MYTH_EXIT_IO);
        assert_non_null(strstr(r.err, "another command is writing this output"));
    }
    myth_journal_close(share);
    run_job(j, "many", "--share merge/2", 0);
    same(j, "one", "many");
    nothing_is_left(j);
    cli_shell(&r, "rm -rf $D/one* $D/many*");
}

/* Each process has its part of the host's limit, and one that does not fit says so for all. */
static void limits_are_divided(void **state)
{
    char line[LINE];
    (void)state;
    write_prompts(20);
    command(line, 0, "many", "--dry-run --json");
    json_t *plan = cli_json(&r, line);
    const double total = cli_number(json_object_get(plan, "plan"), "total_bytes");
    assert_true(total > 0);
    json_decref(plan);
    for (int k = 0; k < 2; k++) {
        char flags[128];
        snprintf(flags, sizeof(flags), "--data-parallel --device cpu,cpu --mem-limit %.0f", total * (k ? 2.1 : 0.4));
        run_job(0, "many", flags, k ? 0 : MYTH_EXIT_MEMORY);
        assert_true(k || strstr(r.err, "share 1/2 cpu") || strstr(r.err, "share 2/2 cpu"));
    }
    run_job(0, "many", "--data-parallel --device cpu,cpu --max-memory-gb 0.001 --resume off", MYTH_EXIT_MEMORY);
    run_job(0, "many", "--data-parallel --device cpu,cpu --max-memory-gb=4 --resume off", 0);
    setenv("MYTHOS_MAX_MEMORY_GB", "0.001", 1); /* divided among them, whatever it was said by */
    run_job(0, "many", "--data-parallel --device cpu,cpu --resume off", MYTH_EXIT_MEMORY);
    setenv("MYTHOS_MAX_MEMORY_GB", "4", 1);
    run_job(0, "many", "--data-parallel --device cpu,cpu --resume off", 0);
    unsetenv("MYTHOS_MAX_MEMORY_GB");
    run_job(0, "many", "--data-parallel --device cpu,cpu --dry-run", 0);
    cli_shell(&r, "rm -rf $D/many*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_one_process),
        cmocka_unit_test(shares_are_computed_apart_and_merged),
        cmocka_unit_test(kills_lose_nothing),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(shares_are_not_mixed),
        cmocka_unit_test(rows_of_shares_must_all_be_there),
        cmocka_unit_test(shares_begun_anew_forget_their_rows),
        cmocka_unit_test(shares_at_work_are_not_forgotten),
        cmocka_unit_test(limits_are_divided),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
