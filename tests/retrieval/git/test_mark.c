/* test_mark.c - what ranges of revisions compare, by what git compares: REV^! and REV^-N of plain commits, merges, tags
 * and the first commit, in shallow clones, beside A..B, A...B, @{u}, :/text and tags. */
#define _GNU_SOURCE
#include "retrieval/revision.h"
#include "engine/base/asan.h"
#include "tests/support/files.h"

#include <stdio.h>

#if HAS_ASAN
/* libgit2 1.5 loses what PCRE2 matches with, at each commit that :/text looks at in vain. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libpcre2-8.so\n"; }
#endif

static myth_mem *mem;

static int begin(void **state)
{
    (void)state;
    files_git_alone();
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Runs a line of the shell among the files of the test; what it prints, with a space for each line end. */
static const char *run(const char *line)
{
    static char text[4096];
    char command[4096];
    snprintf(command, sizeof(command), "cd '%s' && { %s\n} 2>'%s'", files_dir(), line, files_path("err"));
    FILE *p = popen(command, "r");
    assert_non_null(p);
    text[fread(text, 1, sizeof(text) - 1, p)] = '\0';
    if (pclose(p) != 0)
        fail_msg("%s", command);
    for (char *s = text; (s = strchr(s, '\n'));)
        *s = ' ';
    return text;
}

static void make_history(void **state)
{
    (void)state;
    run("git init -q -b main up && cd up && git config user.email a@b && git config user.name a && "
        "put() { seq 1 $2 >$1 && git add $1 && git commit -qm \"adds $1\"; } && put a 3 && put b 4 && git tag light && "
        "git tag -a -m annotated whole && git checkout -qb side && put c 5 && git checkout -q main && put d 6 && "
        "git merge -q --no-edit side && cd .. && git clone -q up down && cd down && git config user.email a@b && "
        "git config user.name a && seq 1 7 >e && git add e && git commit -qm 'adds e' && seq 1 8 >>a && cd .. && "
        "git clone -q --depth 1 \"file://$PWD/down\" shallow");
}

/* The paths of the difference, with a space behind each. */
static myth_status changed(char dst[512], const char *repo, const char *spec, myth_error *err)
{
    myth_revision *r = NULL;
    char *text = NULL;
    size_t n = 0, used = 0;
    const myth_revision_opts o = {.root = files_path(repo), .spec = spec};
    myth_status st = myth_revision_open(&r, mem, &o, err);
    if (st == MYTH_OK)
        st = myth_revision_diff(r, &text, &n, err);
    dst[0] = '\0';
    for (const char *s = text; s && (s = strstr(s, "diff --git a/")); s++)
        used += (size_t)snprintf(dst + used, 512 - used, "%c ", s[13]);
    myth_free(mem, text);
    myth_revision_close(r);
    return st;
}

/* Each range, and what is given to git diff for the same. */
static void as_git_compares(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *git;
    } row[] = {
        {"HEAD^!", "HEAD^!"},
        {"@^!", "HEAD^ HEAD"},
        {"HEAD^-", "HEAD^-"},
        {"HEAD^-1", "HEAD^-1"},
        {"HEAD~1^!", "HEAD~1^1 HEAD~1"}, /* a merge */
        {"HEAD~1^-", "HEAD~1^-"},
        {"HEAD~1^-2", "HEAD~1^-2"},
        {"light^!", "light^!"},
        {"whole^!", "whole^!"},
        {"whole^{}^!", "whole^{}^!"},
        {":/adds b^!", "light^ light"},
        {"HEAD^{/adds d}^!", "HEAD^{/adds d}^!"},
        {"main@{u}^!", "main@{u}^1 main@{u}"},
        {"light~1^!", "4b825dc642cb6eb9a060e54bf8d69288fbee4904 light~1"}, /* the first commit: all is new */
        {"HEAD~2..HEAD", "HEAD~2..HEAD"},
        {"light..", "light.."},
        {"..light", "..light"},
        {"light..whole", "light..whole"},
        {"origin/side...", "origin/side..."},
        {"@{u}...", "@{u}..."},
        {"@{u}", "@{u}"},
        {":/adds b", ":/adds b"},
        {":/adds a..HEAD", ":/adds a..HEAD"},
        {":/adds a...HEAD", ":/adds a...HEAD"},
        {"whole", "whole"},
        {"HEAD^{tree}", "HEAD^{tree}"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        char got[512], line[512];
        myth_error err = {0};
        const char *git = row[i].git, *second = strstr(git, "/adds") ? NULL : strchr(git, ' '); /* of two revisions */
        snprintf(line, sizeof(line), "cd down && git diff --name-only '%.*s' %s --", second ? (int)(second - git) : 200,
                 git, second ? second : "");
        if (changed(got, "down", row[i].spec, &err) != MYTH_OK)
            fail_msg("%s: %s", row[i].spec, err.msg);
        const char *want = run(line);
        if (strcmp(got, want) != 0)
            fail_msg("%s: %s; expected %s", row[i].spec, got, want);
    }
}

static void what_is_no_range(void **state)
{
    (void)state;
    static const struct {
        const char *repo, *spec, *says;
    } row[] = {
        {"down", "nothing^!", "no such revision"},
        {"down", "^!", "no such revision"},
        {"down", "^-", "no such revision"},
        {"down", "HEAD^-0", "no such revision"},
        {"down", "HEAD^-2", "HEAD^-2: the commit has 1 parent"},
        {"down", "HEAD~1^-3", "HEAD~1^-3: the commit has 2 parents"},
        {"down", "light~1^-", "light~1^-: the commit has 0 parents"},
        {"down", "HEAD^-99999999999", "no such revision"},
        {"down", "light..HEAD^!", "no such revision"},
        {"down", "HEAD:a^!", "no such revision"},
        {"shallow", "HEAD^!", "HEAD^!: this shallow clone lacks the parent"},
        {"shallow", "HEAD^-", "HEAD^-: this shallow clone lacks the parent"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        char got[512];
        myth_error err = {0};
        assert_int_equal(changed(got, row[i].repo, row[i].spec, &err), MYTH_EARG);
        if (!strstr(err.msg, row[i].says))
            fail_msg("%s: %s; expected %s", row[i].spec, err.msg, row[i].says);
    }
    myth_revision *r = NULL;
    myth_error err = {0};
    const myth_revision_opts o = {.root = files_path("down"), .spec = "HEAD^!", .is_staged = true};
    assert_int_equal(myth_revision_open(&r, mem, &o, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "the new side of one revision"));
}

/* The side that is new is the commit, also for whoever reads its files. */
static void the_commit_is_the_new_side(void **state)
{
    (void)state;
    myth_revision *r = NULL;
    unsigned char *content = NULL;
    char id[MYTH_REVISION_ID];
    int64_t time_s;
    size_t n = 0;
    assert_int_equal(
        myth_revision_open(&r, mem, &(myth_revision_opts){.root = files_path("down"), .spec = "light~1^!"}, NULL),
        MYTH_OK);
    assert_false(myth_revision_is_worktree(r));
    assert_int_equal(myth_revision_read(r, &content, &n, "a", 100, NULL), MYTH_OK);
    assert_int_equal(n, 6); /* three lines; the working tree has more */
    assert_true(myth_revision_commit(r, id, &time_s));
    assert_memory_equal(run("cd down && git rev-parse light~1"), id, 40);
    myth_revision_old_id(r, id);
    assert_string_equal(id, "");
    myth_free(mem, content);
    myth_revision_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(make_history),
        cmocka_unit_test(as_git_compares),
        cmocka_unit_test(what_is_no_range),
        cmocka_unit_test(the_commit_is_the_new_side),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
