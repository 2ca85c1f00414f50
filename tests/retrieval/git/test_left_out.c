/* test_left_out.c - files whose content is left out of a difference have one header each, however many there are and
 * in how many differences they stand: a file of the working tree may be in that of the index, too. */
#include "retrieval/retrieval.h"
#include "tests/support/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a command that runs in the repository succeeds. */
static bool runs(const char *command)
{
    char line[1024];
    snprintf(line, sizeof(line), "cd '%s' && %s", files_path("repo"), command);
    return system(line) == 0;
}

static void put_binary(uint32_t i, char with)
{
    char path[64];
    const char text[] = {with, '\0', 'b', '\n'};
    snprintf(path, sizeof(path), "repo/%u.bin", i);
    files_put(path, text, sizeof(text));
}

static char *difference(myth_mem *mem, const char *spec, bool is_staged, size_t *n)
{
    myth_revision *r = NULL;
    myth_error err;
    char *text = NULL;
    const myth_revision_opts o = {.root = files_path("repo"), .spec = spec, .is_staged = is_staged};
    assert_int_equal(myth_revision_open(&r, mem, &o, &err), MYTH_OK);
    assert_int_equal(myth_revision_diff(r, &text, n, &err), MYTH_OK);
    myth_revision_close(r);
    return text;
}

/* How often the header of a file, and how many headers of all files there are. */
static uint32_t count(const char *text, size_t n, const char *what)
{
    uint32_t k = 0;
    const size_t len = strlen(what);
    for (size_t i = 0; i + len <= n; i++)
        k += (i == 0 || text[i - 1] == '\n') && !memcmp(text + i, what, len);
    return k;
}

static void one_header_each(void **state)
{
    (void)state;
    enum { N = 50 };
    char what[96];
    size_t n;
    myth_mem *mem = NULL;
    if (system("command -v git >/dev/null") != 0)
        check_skip("git is missing");
    setenv("HOME", files_dir(), 1);
    files_mkdir("repo");
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    for (uint32_t i = 0; i < N; i++)
        put_binary(i, '1');
    assert_true(runs("git init -q . && git config user.email a@b && git config user.name a && git add -A && "
                     "git commit -qm one"));
    for (uint32_t i = 0; i < N; i++)
        put_binary(i, '2');
    assert_true(runs("git add -A"));
    for (uint32_t i = 0; i < N; i += 2) /* half of them are in both differences */
        put_binary(i, '3');
    for (int is_staged = 0; is_staged < 2; is_staged++) {
        char *text = difference(mem, NULL, is_staged, &n);
        assert_int_equal(count(text, n, "diff --git "), N);
        assert_int_equal(count(text, n, "Binary files differ\n"), N);
        for (uint32_t i = 0; i < N; i++) {
            snprintf(what, sizeof(what), "diff --git \"a/%u.bin\" \"b/%u.bin\"\n", i, i);
            assert_int_equal(count(text, n, what), 1);
        }
        myth_free(mem, text);
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_header_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
