/* test_residual_rows.c - the index of the rows that `residuals --rows` keeps. */
#include "tests/frontend/cli/cli_run.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_id_is_whole)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
