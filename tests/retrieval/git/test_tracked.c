/* test_tracked.c - the names of git's index, as git wrote it, are the files that git lists.
 *
 * Indexes  of random names, in every version, in one part or two, with ids of SHA-1 and SHA-256
 * Oracle   git ls-files, for the files and for the folders above them
 * Damage   every cut, and many changed bytes: an answer or an error, never a crash; each allocation refused in turn */
#include "engine/base/map.h"
#include "retrieval/git/tracked.h"
#include "tests/support/files.h"

#include <string.h>

enum { MOST = 64 };

static myth_mem *mem;

/* Whether a command that runs in the repository succeeds. */
static bool runs(const char *command)
{
    char line[1024];
    snprintf(line, sizeof(line), "cd '%s' && %s", files_path("repo"), command);
    return system(line) == 0;
}

/* A repository with random files, of which two goes put some into the index: the second one makes the second part of a
 * split index. */
static void random_index(uint64_t *r, bool is_wide)
{
    static const char *const part[] = {"a", "ab", "a.b", "a-", "build", "vendor", "A", "\xc3\xa4", "b c", "a0"};
    char command[256], path[200];
    bytes list[3] = {{0}};
    files_mkdir("repo");
    assert_true(runs(is_wide ? "git init -q --object-format=sha256 ." : "git init -q ."));
    for (uint32_t i = 0; i < MOST; i++) {
        size_t n = (size_t)sprintf(path, "repo/");
        for (uint32_t depth = check_below(r, 3); depth > 0; depth--)
            n += (size_t)sprintf(path + n, "%s/", part[check_below(r, 10)]);
        sprintf(path + n, "%s_%u", part[check_below(r, 10)], i);
        files_put_deep(path, "x\n", 2);
        bytes_put(&list[check_below(r, 3)], path + 5, strlen(path + 5) + 1);
    }
    for (int k = 0; k < 2; k++) {
        files_put("list", list[k].data, list[k].len);
        snprintf(command, sizeof(command),
                 "git -c index.version=%u -c core.splitIndex=%s update-index -z --add --stdin < ../list",
                 2 + check_below(r, 3), check_below(r, 2) ? "true" : "false");
        assert_true(runs(command));
        if (check_below(r, 4) == 0) /* a flag that needs the second pair of bytes */
            assert_true(runs("git ls-files -z | head -z -n 2 | git update-index -z --skip-worktree --stdin"));
    }
    for (int k = 0; k < 3; k++)
        bytes_free(&list[k]);
}

/* Asks for every name that git prints, and for the folders above it. */
static void compare(const myth_tracked *t, bool is_wanted, const char *flags)
{
    char command[600], *line = NULL;
    size_t cap = 0;
    uint32_t n = 0;
    snprintf(command, sizeof(command), "cd '%s' && git ls-files -z %s", files_path("repo"), flags);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    for (; getdelim(&line, &cap, 0, p) > 0; n++) {
        if (myth_tracked_has(t, line) != is_wanted)
            fail_msg("'%s' is %s", line, is_wanted ? "tracked and not found" : "found and not tracked");
        for (char *slash; is_wanted && (slash = strrchr(line, '/')) != NULL;) {
            *slash = '\0';
            if (!myth_tracked_has_below(t, line) || myth_tracked_has(t, line))
                fail_msg("the folder '%s' of a tracked file", line);
        }
    }
    assert_true(pclose(p) == 0 && n > 0);
    free(line);
}

static void as_git_lists(void **state)
{
    (void)state;
    uint64_t r = check_seed();
    uint32_t n_split = 0, n_wide = 0, n_four = 0, i = 0;
    for (const uint32_t n = check_is_full() ? 400 : check_sample(24); check_goes_on(i, n, n_split && n_wide && n_four);
         i++) {
        const bool is_wide = check_below(&r, 3) == 0;
        myth_tracked *t;
        myth_error err = {0};
        random_index(&r, is_wide);
        if (myth_tracked_open(&t, mem, files_path("repo/.git"), &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        compare(t, true, "-c");
        compare(t, false, "-o");
        assert_true(!myth_tracked_has_below(t, "nothing") && !myth_tracked_has_below(t, "a_") &&
                    !myth_tracked_has(t, "") && !myth_tracked_has(t, "zzz"));
        myth_tracked_close(t);
        n_split += runs("ls .git/sharedindex.* >/dev/null 2>&1");
        n_four += runs("head -c 8 .git/index | tail -c 1 | grep -q \"$(printf '\\004')\"");
        n_wide += is_wide;
        files_clear("repo");
        assert_int_equal(remove(files_path("repo")), 0);
    }
    print_message("%u indexes: %u of two parts, %u of version 4, %u with long ids\n", i, n_split, n_four, n_wide);
    assert_true(n_split && n_wide && n_four);
}

static void nothing_is_tracked(void **state)
{
    (void)state;
    myth_tracked *t;
    files_mkdir("empty");
    assert_int_equal(myth_tracked_open(&t, mem, files_path("empty"), NULL), MYTH_OK);
    assert_false(myth_tracked_has(t, "a") || myth_tracked_has_below(t, "a"));
    myth_tracked_close(t);
}

/* What can be read of a damaged index must be within its bytes; the sanitizers watch. */
static void damage(void **state)
{
    (void)state;
    uint64_t r = check_seed();
    uint32_t n_refused = 0, n_read = 0;
    unsigned char *index;
    size_t n;
    files_mkdir("hurt");
    for (uint32_t round = 0; round < (check_is_full() ? 30u : 3u); round++) {
        random_index(&r, round % 3 == 2);
        assert_true(runs(round % 2 ? "git update-index --no-split-index --index-version 4"
                                   : "git update-index --no-split-index --index-version 2"));
        assert_int_equal(myth_file_read(&index, &n, mem, files_path("repo/.git/index"), 1 << 20, NULL), MYTH_OK);
        for (uint32_t i = 0; i < 1500; i++) {
            const size_t at = i < n ? i : check_below(&r, (uint32_t)n);
            const unsigned char before = index[at];
            const bool is_cut = i % 3 == 0;
            index[at] = check_below(&r, 2) ? (unsigned char)check_below(&r, 256) : (unsigned char)(0xff * (i & 1));
            files_put("hurt/index", index, is_cut ? at : n);
            index[at] = before;
            myth_tracked *t = NULL;
            const myth_status st = myth_tracked_open(&t, mem, files_path("hurt"), NULL);
            assert_true(st == MYTH_OK || st == MYTH_EFORMAT);
            if (st == MYTH_OK) {
                (void)myth_tracked_has(t, "a");
                (void)myth_tracked_has_below(t, "build");
            }
            *(st == MYTH_OK ? &n_read : &n_refused) += 1;
            myth_tracked_close(t);
        }
        for (uint64_t nth = 1;; nth++) {
            myth_mem *m;
            myth_tracked *t = NULL;
            assert_int_equal(myth_mem_open(&m, 0, NULL), MYTH_OK);
            myth_mem_set_fault(m, &(myth_fault){.fail_nth = nth, .forever = true});
            const myth_status st = myth_tracked_open(&t, m, files_path("repo/.git"), NULL);
            const bool is_past = myth_mem_n_alloc(m) < nth;
            assert_int_equal(st, is_past ? MYTH_OK : MYTH_ENOMEM);
            myth_tracked_close(t);
            assert_int_equal(myth_mem_close(m), 0);
            if (is_past)
                break;
        }
        myth_free(mem, index);
        files_clear("repo");
        assert_int_equal(remove(files_path("repo")), 0);
    }
    assert_true(n_refused > 500 && n_read > 50);
}

static int begin(void **state)
{
    (void)state;
    files_git_alone();
    if (system("git --version >/dev/null 2>&1") != 0) {
        print_message("skipped: no git\n");
        exit(CHECK_SKIP);
    }
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_git_lists),
        cmocka_unit_test(nothing_is_tracked),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
