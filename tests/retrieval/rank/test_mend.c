/* test_mend.c - slips of the keys against a distance by its definition, and words mended from an index. */
#include "tests/support/check.h"
#include "retrieval/rank/mend.h"

static myth_mem *mem;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Damerau's distance with neighbours swapped, by its recurrence. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t d[16][16];
    for (size_t i = 0; i <= n_a; i++)
        for (size_t j = 0; j <= n_b; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n_a][n_b];
}

static void a_slip_is_distance_one(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_slip = 0, n_round = check_is_full() ? 2000000 : 100000;
    for (uint32_t round = 0; round < n_round; round++) {
        char a[12], b[12];
        size_t n_a = check_below(&rng, 8), n_b = 0;
        for (size_t i = 0; i < n_a; i++)
            a[i] = (char)('a' + check_below(&rng, 3));
        for (size_t i = 0; i < n_a && n_b < sizeof b - 2; i++) {
            if (check_below(&rng, 8))
                b[n_b++] = check_below(&rng, 8) ? a[i] : (char)('a' + check_below(&rng, 3));
            if (check_below(&rng, 12) == 0)
                b[n_b++] = (char)('a' + check_below(&rng, 3));
        }
        if (n_b > 1 && check_below(&rng, 3) == 0) {
            size_t at = check_below(&rng, (uint32_t)n_b - 1);
            char t = b[at];
            b[at] = b[at + 1];
            b[at + 1] = t;
        }
        bool want = distance(a, n_a, b, n_b) == 1;
        n_slip += want;
        if (myth_mend_is_slip(a, n_a, b, n_b) != want)
            fail_msg("%.*s, %.*s: %d", (int)n_a, a, (int)n_b, b, want);
    }
    assert_true(n_slip > n_round / 20);
}

static void mended_from_an_index(void **state)
{
    (void)state;
    static const char *const text[] = {"git_repository_open session", "the repository", "a sessions table",
                                       "repositories of sections", "handle section"};
    static const struct {
        const char *word, *meant;
        int64_t n_row;
    } row[] = {
        {"repositroy", "repository", 3},
        {"reposittory", "repository", 3},
        {"repsitory", "repository", 3},
        {"sesion", "session", 2},
        {"sesssions", "sessions", 2},
        {"epository", "", 0},
        {"handel", "handle", 1},
        {"tabel", "table", 1},
        {"hadnles", "handles", 1},
        {"tablse", "tables", 1},
        {"repositoris", "repositories", 3},
        {"sectoins", "sections", 2},
        {"opn", "", 0},
        {"zzzzzzz", "", 0},
    };
    sqlite3 *db;
    sqlite3_stmt *s;
    myth_postings *p;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(myth_fts_register(db, NULL), MYTH_OK);
    assert_int_equal(sqlite3_exec(db, MYTH_FTS_TABLE, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO fts(rowid, body, path, names) VALUES(?1, ?2, '', '')", -1, &s, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        sqlite3_bind_int(s, 1, (int)i + 1);
        sqlite3_bind_text(s, 2, text[i], -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    assert_int_equal(myth_postings_open(&p, mem, db, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char meant[MYTH_WORD_BYTES];
        size_t n;
        int64_t n_row;
        myth_postings_word where;
        assert_int_equal(myth_mend_word(p, row[i].word, strlen(row[i].word), meant, &n, &where, &n_row, NULL), MYTH_OK);
        if (n != strlen(row[i].meant) || memcmp(meant, row[i].meant, n) != 0 || n_row != row[i].n_row)
            fail_msg("%s: %.*s in %lld rows, expected %s in %lld", row[i].word, (int)n, meant, (long long)n_row,
                     row[i].meant, (long long)row[i].n_row);
    }
    myth_postings_close(p);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_slip_is_distance_one),
                                       cmocka_unit_test(mended_from_an_index)};
    return cmocka_run_group_tests(tests, begin, end);
}
