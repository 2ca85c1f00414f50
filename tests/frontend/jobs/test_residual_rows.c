/* test_residual_rows.c - the index of the rows that `residuals --rows` keeps, and that a folder is one job's. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/jobs/residual_rows.h"

static cli_result r;

/* An id of any length is in the index of the rows whole, on a line with a fault, too, and when shares are put together.
 * */
static void a_long_id_is_whole(void **state)
{
    (void)state;
    enum { MOST = 9000, N_LINE = 6 };
    static const uint32_t length[N_LINE] = {1, MOST, 4159, 1024, 4096, 3};
    static char got[2 * MOST], want[2 * MOST], id[MOST + 1];
    char path[256];
    memset(id, 'i', MOST);
    snprintf(path, sizeof(path), "%s/long_ids", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < N_LINE; i++)
        fprintf(f, "{\"id\":\"%.*s\",\"label\":\"a\",\"ids\":[%d]}\n", (int)length[i], id, i == 3 ? 99999 : 5);
    fclose(f);
    cli_expect(&r, "residuals " TINY "$D/long_ids -o $D/long.st --rows $D/longrows", 3);
    snprintf(path, sizeof(path), "%s/longrows/rows.jsonl", cli_dir);
    f = fopen(path, "r");
    assert_non_null(f);
    for (uint32_t i = 0; i < N_LINE; i++) {
        assert_non_null(fgets(got, sizeof(got), f));
        snprintf(want, sizeof(want), "\"id\":\"%.*s\",\"label\":\"a\"}\n", (int)length[i], id);
        assert_non_null(strstr(got, want));
        assert_int_equal(strstr(got, "\"fault\"") != NULL, i == 3);
    }
    assert_null(fgets(got, sizeof(got), f));
    fclose(f);
    cli_expect(&r, "residuals " TINY "$D/long_ids -o $D/long2.st --rows $D/longrows2 --share 1/2", 0);
    cli_expect(&r, "residuals " TINY "$D/long_ids -o $D/long2.st --rows $D/longrows2 --share 2/2", 3);
    cli_expect(&r, "residuals " TINY "$D/long_ids -o $D/long2.st --rows $D/longrows2 --share merge/2", 3);
    cli_shell(&r, "diff -r $D/longrows $D/longrows2");
    assert_int_equal(r.code, 0);
}

static void write_prompts(const char *name, int n, int first)
{
    char line[256];
    snprintf(line, sizeof(line), "for i in $(seq %d); do echo \"{\\\"ids\\\":[$((i %% 40 + %d)),5]}\"; done >$D/%s", n,
             first, name);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
}

/* A folder that is complete has the files of one run: other layers of an earlier one are neither left beside the new
 * ones nor removed. */
static void other_layers_are_refused(void **state)
{
    (void)state;
    write_prompts("few", 4, 3);
    write_prompts("more", 6, 9);
    cli_expect(&r, "residuals " TINY "$D/few -o $D/few.st --rows $D/layers --layers 0,2", 0);
    cli_shell(&r, "cp -r $D/layers $D/layers1");
    cli_expect(&r, "residuals " TINY "$D/more -o $D/more.st --rows $D/layers --layers 2", 73);
    assert_non_null(
        strstr(r.err, "/layers: has layer-000.npy, rows of another run, which this one would leave beside"));
    cli_expect(&r, "residuals " TINY "$D/more -o $D/more.st --rows $D/layers --layers 2 --share 1/2", 73);
    cli_shell(&r, "diff -r $D/layers $D/layers1 && ls $D | grep more.st");
    assert_string_equal(r.out, "");
    cli_expect(&r, "residuals " TINY "$D/more -o $D/more.st --rows $D/layers --layers 0-2", 0); /* all are replaced */
    cli_shell(&r, "wc -l <$D/layers/rows.jsonl; ls $D/layers | tr '\\n' ' '");
    assert_string_equal(r.out, "6\nlayer-000.npy layer-001.npy layer-002.npy rows.jsonl ");
}

/* Where not all files got their names, the index of the run before does not stand beside them. */
static void an_index_is_of_the_files_beside_it(void **state)
{
    (void)state;
    write_prompts("few", 4, 3);
    write_prompts("more", 6, 9);
    cli_expect(&r, "residuals " TINY "$D/few -o $D/few.st --rows $D/half --layers 0,2", 0);
    cli_shell(&r, "rm $D/half/layer-002.npy && mkdir $D/half/layer-002.npy");
    cli_expect(&r, "residuals " TINY "$D/more -o $D/more.st --rows $D/half --layers 0,2", 73);
    cli_shell(&r, "test ! -e $D/half/rows.jsonl && rmdir $D/half/layer-002.npy");
    assert_int_equal(r.code, 0);
    cli_expect(&r, "residuals " TINY "$D/more -o $D/more.st --rows $D/half --layers 0,2", 0);
    cli_shell(&r, "wc -l <$D/half/rows.jsonl; ls $D/half | grep -c part");
    assert_string_equal(r.out, "6\n0\n");
}

/* Puts rows [from, to) of both layers, each value the row's number, and a line for each. */
static void put_rows(myth_residual_rows *w, uint64_t from, uint64_t to, uint64_t *at)
{
    float row[6];
    for (uint64_t i = from; i < to; i++) {
        for (int k = 0; k < 6; k++)
            row[k] = (float)i;
        for (uint32_t idx = 0; idx < 2; idx++)
            assert_int_equal(myth_residual_rows_put(w, idx, i, row, NULL), MYTH_OK);
        assert_int_equal(myth_residual_rows_index(w, at, "a line\n", 7, NULL), MYTH_OK);
    }
}

/* The sums are of the rows that are done, however often and where a job was stopped. */
static void sums_do_not_depend_on_breaks(void **state)
{
    enum { N_ROW = 200 };
    static const uint64_t stop[] = {0, 1, 70, 71, N_ROW};
    static const uint32_t layer[] = {0, 3};
    static myth_residual_rows w;
    char dir[2][256], journal[256], name[300];
    uint64_t sum[2][3], at = 0;
    (void)state;
    snprintf(journal, sizeof(journal), "%s/sums.journal", cli_dir);
    const myth_residual_rows_job job = {myth_residual_rows_number(), journal};
    for (int k = 0; k < 2; k++) {
        snprintf(dir[k], sizeof(dir[k]), "%s/sums%d", cli_dir, k);
        assert_int_equal(myth_residual_rows_open(&w, dir[k], layer, 2, N_ROW, 6, &job, NULL, NULL), MYTH_OK);
        at = 0;
        for (size_t i = 1; i < sizeof(stop) / sizeof(stop[0]); i++) {
            put_rows(&w, stop[i - 1], stop[i], &at);
            if (k == 0 && stop[i] < N_ROW)
                continue; /* in one step */
            assert_int_equal(myth_residual_rows_sync(&w, stop[i], at, NULL), MYTH_OK);
            if (k == 0 || i != 2)
                continue;
            memcpy(sum[1], w.sum, sizeof(sum[1]));
            const myth_residual_rows_done done = {.n_row = stop[i], .at = at, .sum = sum[1]};
            uint64_t more = at; /* what was not synced does not count */
            put_rows(&w, stop[i], stop[i] + 3, &more);
            myth_residual_rows_close(&w);
            assert_int_equal(myth_residual_rows_open(&w, dir[k], layer, 2, N_ROW, 6, &job, &done, NULL), MYTH_OK);
        }
        memcpy(sum[k], w.sum, sizeof(sum[k]));
        myth_residual_rows_close(&w);
    }
    assert_memory_equal(sum[0], sum[1], sizeof(sum[0]));
    assert_true(sum[0][0] == sum[0][1] && sum[0][0] != sum[0][2]);
    /* each byte counts, the last one too */
    const myth_residual_rows_done all = {.n_row = N_ROW, .at = at, .sum = sum[0], .is_whole = true};
    for (int i = 0; i < 3; i++) {
        static const char *const file[] = {"layer-000.npy", "layer-003.npy", "rows.jsonl"};
        snprintf(name, sizeof(name), "%s/%s.part", dir[0], file[i]);
        for (int is_back = 0; is_back < 2; is_back++) {
            FILE *f = fopen(name, "r+");
            assert_non_null(f);
            fseek(f, -1, SEEK_END);
            const int was = fgetc(f);
            fseek(f, -1, SEEK_END);
            fputc(was ^ 1, f);
            fclose(f);
            assert_int_equal(myth_residual_rows_open(&w, dir[0], layer, 2, N_ROW, 6, &job, &all, NULL),
                             is_back ? MYTH_OK : MYTH_EFORMAT);
            myth_residual_rows_close(&w);
        }
    }
}

/* What the disk or a program changed of the files to go on with, which are in $D/mine and copied in $D/mine1. */
static void changed_rows_are_refused(const char *job)
{
    static const struct {
        const char *change, *file;
    } row[] = {
        {"printf '\\377\\377' | dd of=$F bs=1 seek=130 conv=notrunc", "layer-000.npy.part"}, /* in the first row */
        {"printf '\\377\\377' | dd of=$F bs=1 seek=130 conv=notrunc", "layer-002.npy.part"},
        {"printf X | dd of=$F bs=1 seek=3 conv=notrunc", "rows.jsonl.part"},
        {"truncate -s 20 $F", "rows.jsonl.part"},
    };
    char line[512];
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        snprintf(line, sizeof(line), "F=$D/mine/%s; { %s; } 2>/dev/null && ! cmp -s $F $D/mine1/%s", row[i].file,
                 row[i].change, row[i].file);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        cli_expect(&r, job, 65);
        snprintf(line, sizeof(line), "/mine/%s: damaged: it is not what the job wrote; begin anew with --resume off",
                 row[i].file);
        assert_non_null(strstr(r.err, line));
        snprintf(line, sizeof(line), "cp $D/mine1/%s $D/mine/%s && test ! -e $D/mine/rows.jsonl", row[i].file,
                 row[i].file);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
    }
}

/* The rows of a job that was killed are not another's, neither to replace nor to go on with. */
static void unfinished_rows_are_one_jobs(void **state)
{
    static const char *const job = "residuals " TINY "$D/many -o $D/a.st --rows $D/mine --batch 2 -t 1";
    char line[1024];
    (void)state;
    write_prompts("many", (int)cli_lines(5000), 3);
    snprintf(line, sizeof(line),
             "\"$M\" %s & P=$!; i=0; until [ $(cat $D/a.st.journal-wal 2>/dev/null | wc -c) -gt 30000 ] || "
             "[ $i -ge 1000 ]; do sleep 0.01; i=$((i + 1)); done; kill -9 $P; wait $P; "
             "test -e $D/a.st.journal && test -e $D/mine/rows.jsonl.part && test ! -e $D/mine/rows.jsonl",
             job);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    cli_shell(&r, "cp -r $D/mine $D/mine1");
    cli_expect(&r, "residuals " TINY "$D/many -o $D/b.st --rows $D/mine", 73);
    assert_non_null(strstr(r.err, "/mine: has unfinished rows of another job, that of /"));
    assert_non_null(strstr(r.err, "/a.st.journal; finish it, remove that file, or give another folder"));
    cli_shell(&r, "diff -r $D/mine $D/mine1 && test ! -e $D/b.st.journal");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "cp $D/mine/job.part $D/mark && sed -i 's/^./g/' $D/mine/job.part"); /* of no number */
    cli_expect(&r, job, 65);
    assert_non_null(strstr(r.err, "/mine: its files are not those of this job; begin anew with --resume off"));
    cli_shell(&r, "cp $D/mark $D/mine/job.part");
    changed_rows_are_refused(job);
    cli_expect(&r, job, 0);
    assert_non_null(strstr(r.err, "going on after "));
    cli_expect(&r, "residuals " TINY "$D/many -o $D/b.st --rows $D/mine2", 0);
    cli_shell(&r, "diff -r $D/mine $D/mine2");
    assert_int_equal(r.code, 0);
    /* where the journal is gone nobody goes on, and what is unfinished goes whole */
    cli_shell(&r, "cp $D/mark $D/mine/job.part && touch $D/mine/layer-099.npy.part");
    cli_expect(&r, "residuals " TINY "$D/many -o $D/b.st --rows $D/mine", 0);
    cli_shell(&r, "diff -r $D/mine $D/mine2");
    assert_int_equal(r.code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_id_is_whole),
        cmocka_unit_test(other_layers_are_refused),
        cmocka_unit_test(an_index_is_of_the_files_beside_it),
        cmocka_unit_test(sums_do_not_depend_on_breaks),
        cmocka_unit_test(unfinished_rows_are_one_jobs),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
