/* test_git_memory.c - for every n, libgit2 gets no memory from its nth request on: the process must end with its
 * own message. If it got a null pointer instead, libgit2 1.5 would crash at some of them. */
#include "retrieval/retrieval.h"
#include "tests/support/files.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED = 71 };

static void end(size_t n)
{
    (void)n;
    _exit(ENDED);
}

/* What inspect-diff does with one kind of difference, and where a patch finds its repository. */
static myth_status compare(myth_mem *mem, const char *spec, bool is_staged)
{
    myth_revision *r = NULL;
    char *text = NULL, path[4096];
    unsigned char *file = NULL;
    size_t n;
    myth_error err;
    const myth_revision_opts opts = {.root = files_path("r"), .spec = spec, .is_staged = is_staged};
    myth_status st = myth_revision_open(&r, mem, &opts, &err);
    if (st == MYTH_OK)
        st = myth_revision_diff(r, &text, &n, &err);
    myth_free(mem, text);
    text = NULL;
    if (st == MYTH_OK)
        st = myth_revision_diff_file(r, &text, &n, "new.c", "int c;\n", 7, &err);
    if (st == MYTH_OK)
        st = myth_revision_read(r, &file, &n, "new.c", 1000, &err);
    if (st == MYTH_OK)
        st = myth_patch_path(path, sizeof(path), mem, files_path("r/new.c"), &err);
    myth_free(mem, text);
    myth_free(mem, file);
    myth_revision_close(r);
    return st;
}

static myth_status work(void)
{
    myth_mem *mem;
    myth_status st = myth_mem_open(&mem, 0, NULL);
    if (st == MYTH_OK)
        st = compare(mem, NULL, false);
    if (st == MYTH_OK)
        st = compare(mem, "HEAD~1", true);
    if (st == MYTH_OK)
        st = compare(mem, "HEAD~1...HEAD", false);
    assert_int_equal(myth_mem_close(mem), 0);
    return st;
}

static void every_request_fails_for_ever(void **state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof(line),
             "cd '%s' && git init -q r && cd r && echo 'int a;' >a.c && git add . && "
             "git config user.name a && git config user.email a@b && git commit -qm first && git mv a.c new.c && "
             "echo '*.c text' >.gitattributes && git add . && git commit -qm second && git pack-refs --all && "
             "git gc -q && echo 'int b;' >>new.c",
             files_dir());
    if (system("command -v git >/dev/null") != 0)
        check_skip("git is missing");
    assert_int_equal(system(line), 0);
    setenv("HOME", files_dir(), 1);
    myth_git_on_no_memory(end);
    myth_git_fail_from(0);
    assert_int_equal(work(), MYTH_OK);
    const uint64_t n_alloc = myth_git_fail_from(0);
    assert_true(n_alloc > 300);
    const uint64_t step = getenv("MYTHOS_TEST_FULL") ? 1 : n_alloc / 100; /* each is a process */
    for (uint64_t nth = 1; nth <= n_alloc; nth += step) {
        int st;
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(60);
            signal(SIGSEGV, SIG_DFL); /* the test's own handler would hide it */
            myth_git_fail_from(nth);
            _exit(work() == MYTH_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &st, 0), pid);
        if (!WIFEXITED(st) || (WEXITSTATUS(st) != ENDED && WEXITSTATUS(st) != 0))
            fail_msg("request %llu of %llu: %s %d", (unsigned long long)nth, (unsigned long long)n_alloc,
                     WIFSIGNALED(st) ? "signal" : "exit", WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_request_fails_for_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
