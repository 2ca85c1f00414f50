/* test_snapshot.c - the files of a commit are written as git has them, a patch is applied as git applies it, and what
 * cannot be written is refused. Needs git. */
#include "tests/support/files.h"
#include "frontend/eval/snapshot.h"

#include <unistd.h>

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

/* Runs a shell line in the test's folder and returns its exit status. git reads no settings of the user or machine. */
static int shell(const char *line)
{
    char whole[4096];
    snprintf(
        whole, sizeof(whole),
        "cd '%s' && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a "
        "GIT_COMMITTER_EMAIL=a@a && { %s ; } >/dev/null 2>&1",
        files_dir(), line);
    return system(whole);
}

static const char *read_line(const char *name)
{
    static char text[128];
    FILE *f = fopen(files_path(name), "rb");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static bool make_repository(void)
{
    if (shell("command -v git") != 0)
        return false;
    return shell("rm -rf repo bare && git init -q repo && cd repo && mkdir -p a/b/c && printf 'one\\r\\n' >a/b/c/x.c "
                 "&& printf 'two' >y.h && printf 'z' >'odd \\\n name.c' && "
                 "printf '*.c text eol=lf\\n' >.gitattributes && ln -s y.h link.h && chmod +x y.h && git add -A && git "
                 "commit -qm one && git rev-parse HEAD >../one && "
                 "git rm -qr a && printf 'three' >y.h && git add -A && git commit -qm two && git rev-parse HEAD "
                 ">../two && git clone -q --bare . ../bare") == 0;
}

static myth_status take(uint64_t *n, const char *git_dir, const char *commit, const char *dir,
                        const char *const *suffix, myth_error *err)
{
    char g[2048], d[2048];
    snprintf(g, sizeof(g), "%s", files_path(git_dir));
    snprintf(d, sizeof(d), "%s", files_path(dir));
    shell("true");
    return myth_snapshot(
        n, &(myth_snapshot_opts){.mem = mem, .git_dir = g, .commit = commit, .dir = d, .suffix = suffix}, err);
}

static void files_are_those_of_git(void **state)
{
    (void)state;
    if (!make_repository())
        check_skip("no git");
    static const char *const from[] = {"repo/.git", "bare", "repo"};
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        uint64_t n;
        char commit[128];
        snprintf(commit, sizeof(commit), "%s", read_line("one"));
        assert_int_equal(shell("rm -rf out want && mkdir out want && cd repo && git show \"$(cat ../one)\":a/b/c/x.c "
                               ">../want/x && git show \"$(cat ../one)\":y.h >../want/y"),
                         0);
        assert_int_equal(take(&n, from[i], commit, "out", NULL, NULL), MYTH_OK);
        assert_int_equal(n, 4); /* the symbolic link is left out */
        assert_int_equal(shell("cmp out/a/b/c/x.c want/x && cmp out/y.h want/y && test -f out/.gitattributes && test ! "
                               "-e out/link.h && test ! -x out/y.h && "
                               "test \"$(find out -type f | wc -l)\" = 5"), /* the name with a line end is two lines */
                         0);
    }
}

static void suffixes_choose(void **state)
{
    (void)state;
    if (!make_repository())
        check_skip("no git");
    static const char *const h[] = {".h", NULL};
    uint64_t n;
    char commit[128];
    snprintf(commit, sizeof(commit), "%s", read_line("two"));
    assert_int_equal(shell("rm -rf out && mkdir out"), 0);
    assert_int_equal(take(&n, "repo/.git", commit, "out", h, NULL), MYTH_OK);
    assert_int_equal(n, 1);
    assert_int_equal(shell("test \"$(cat out/y.h)\" = three && test ! -e out/a"), 0);
}

static void what_is_not_there(void **state)
{
    (void)state;
    if (!make_repository())
        check_skip("no git");
    uint64_t n;
    myth_error err = {0};
    assert_int_equal(shell("rm -rf out && mkdir out"), 0);
    assert_int_equal(take(&n, "repo/.git", "0123456789012345678901234567890123456789", "out", NULL, &err),
                     MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "0123456789"));
    assert_int_equal(take(&n, "out", "0123456789012345678901234567890123456789", "out", NULL, NULL), MYTH_ENOTFOUND);
    assert_int_equal(take(&n, "repo/.git", "nonsense", "out", NULL, NULL), MYTH_EARG);
    char commit[128];
    snprintf(commit, sizeof(commit), "%s", read_line("two"));
    assert_int_equal(take(&n, "repo/.git", commit, "nowhere", NULL, NULL), MYTH_EIO);
    assert_int_equal(shell("mkdir out2 && touch out2/y.h"), 0);
    assert_int_equal(take(&n, "repo/.git", commit, "out2", NULL, NULL),
                     MYTH_EIO); /* existing files are not written over */
}

/* libgit2 would wait for ever for somebody to write into some of these pipes; the alarm would then end the test. */
static void a_pipe_in_the_repository(void **state)
{
    (void)state;
    static const char *const at[] = {"HEAD", "packed-refs", "config", "objects/info/alternates"};
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        uint64_t n = 1;
        myth_error err = {0};
        char commit[128], line[256];
        if (!make_repository())
            check_skip("no git");
        snprintf(commit, sizeof(commit), "%s", read_line("two"));
        snprintf(line, sizeof(line), "rm -rf out && mkdir out && cd repo/.git && rm -f %s && mkfifo %s", at[i], at[i]);
        assert_int_equal(shell(line), 0);
        alarm(60);
        assert_int_equal(take(&n, "repo/.git", commit, "out", NULL, &err), MYTH_EIO);
        alarm(0);
        snprintf(line, sizeof(line), ".git/%s: a pipe or a device", at[i]);
        assert_non_null(strstr(err.msg, line));
        assert_int_equal(n, 0);
        assert_int_equal(shell("rmdir out"), 0); /* nothing was written */
    }
}

/* A tree has an entry "..", which leads out of the folder and which git itself would not write. */
static void a_damaged_tree_does_not_leave(void **state)
{
    (void)state;
    if (!make_repository())
        check_skip("no git");
    int rc = shell("cd repo && b=$(printf evil | git hash-object -w --stdin) && printf '100644 ..\\0' >../t && printf "
                   "\"$(echo $b | sed 's/../\\\\x&/g')\" >>../t && "
                   "t=$(git hash-object -w -t tree --literally ../t) && git commit-tree -m bad $t >../bad");
    if (rc != 0)
        check_skip("this git does not write a tree with an entry \"..\"");
    uint64_t n;
    char commit[128];
    snprintf(commit, sizeof(commit), "%s", read_line("bad"));
    assert_int_equal(shell("rm -rf out && mkdir out"), 0);
    assert_int_not_equal(take(&n, "repo/.git", commit, "out", NULL, NULL), MYTH_OK);
    assert_int_equal(n, 0);
}

/* A copy with a patch is the tree that the patch was made from; a patch that does not fit changes nothing. */
static void a_patch_is_applied_to_a_copy(void **state)
{
    (void)state;
    if (!make_repository())
        check_skip("no git");
    char from[2048], to[2048], patch[4096];
    snprintf(from, sizeof(from), "%s", files_path("plain"));
    snprintf(to, sizeof(to), "%s", files_path("copy"));
    assert_int_equal(shell("rm -rf plain copy wanted && mkdir -p plain/d copy wanted && seq 1 20 >plain/d/n.txt && "
                           "printf gone >plain/old && ln -s old plain/link && "
                           "cp -R plain/d plain/old wanted && cd wanted && git init -q . && git add . && sed -i "
                           "'s/^7$/seven/' d/n.txt && rm old && printf 'new\\n' >e && "
                           "git add -N e && git diff >../p && rm -rf .git"),
                     0);
    FILE *f = fopen(files_path("p"), "rb");
    size_t n = fread(patch, 1, sizeof(patch), f);
    fclose(f);
    myth_error err = {0};
    assert_int_equal(myth_snapshot_copy(from, to, &err), MYTH_OK);
    assert_int_equal(shell("cmp plain/d/n.txt copy/d/n.txt && cmp plain/old copy/old && test ! -e copy/link"), 0);
    if (myth_snapshot_patch(to, patch, n, &err) != MYTH_OK)
        print_error("%s\n", err.msg);
    assert_int_equal(shell("rm -rf copy/.git && diff -r copy wanted"), 0);
    assert_int_equal(myth_snapshot_copy(from, to, NULL), MYTH_EIO); /* existing files are not written over */
    assert_int_equal(myth_snapshot_copy("/nowhere/at/all", to, NULL), MYTH_ENOTFOUND);
    assert_int_equal(shell("rm -rf copy && mkdir copy && cp -R plain/d plain/old copy && echo other >copy/d/n.txt && "
                           "cp -R copy before"),
                     0);
    assert_int_equal(myth_snapshot_patch(to, patch, n, NULL), MYTH_EFORMAT); /* no part of the patch is applied */
    assert_int_equal(shell("rm -rf copy/.git && diff -r copy before"), 0);
    assert_int_equal(myth_snapshot_patch(to, "--- a/x\n+++ b/x\n@@ nonsense\n", 29, NULL), MYTH_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_those_of_git),
        cmocka_unit_test(suffixes_choose),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(a_pipe_in_the_repository),
        cmocka_unit_test(a_damaged_tree_does_not_leave),
        cmocka_unit_test(a_patch_is_applied_to_a_copy),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
