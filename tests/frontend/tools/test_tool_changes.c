/* test_tool_changes.c - recent_changes in repositories of every shape: shallow, sparse, with settings that libgit2 does
 * not know, and with changes of every kind that are not committed. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/cli/exit.h"

#include <string.h>

static cli_result r;

/* Runs a shell line with g() for git as a user without settings, and with o(), the same in $D/origin. */
static void git(const char *script)
{
    char line[4000];
    snprintf(line, sizeof(line),
             "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; g() { git -c user.name=n -c user.email=e "
             "-c protocol.file.allow=always \"$@\"; }; o() { g -C $D/origin \"$@\"; }; %s",
             script);
    cli_shell(&r, line);
    if (r.code != 0)
        fail_msg("%s: exit %d: %s", script, r.code, r.err);
}

/* The changes of $D/<dir> as "COMMIT CHANGE PATH, CHANGE PATH | ...", a commit by its subject. */
static const char *changes(const char *dir, const char *args, bool is_complete)
{
    static char text[4000];
    char line[1000];
    size_t n = 0, i, k;
    json_t *item, *file;
    snprintf(line, sizeof(line), "$M tool recent_changes $D/%s --args '%s'", dir, args);
    cli_shell(&r, line);
    if (r.code != 0 && r.code != MYTH_EXIT_FINDINGS)
        fail_msg("%s %s: exit %d: %s", dir, args, r.code, r.err);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_non_null(j);
    if (json_is_true(json_object_get(j, "complete")) != is_complete)
        fail_msg("%s %s: complete is wrong: %s", dir, args, r.out);
    text[0] = '\0';
    json_array_foreach(json_object_get(j, "changes"), i, item)
    {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:", i ? " | " : "",
                              json_string_value(json_object_get(item, "subject")));
        json_array_foreach(json_object_get(item, "files"), k, file) n += (size_t)snprintf(
            text + n, sizeof(text) - n, "%s %s %s", k ? "," : "", json_string_value(json_object_get(file, "change")),
            json_string_value(json_object_get(file, "path")));
    }
    json_decref(j);
    return text;
}

#define SAYS(dir, args, is_complete, want)                                           \
    do {                                                                             \
        const char *got_ = changes(dir, args, is_complete);                          \
        if (strcmp(got_, want) != 0)                                                 \
            fail_msg("%s %s:\n%s\nexpected:\n%s\n%s", dir, args, got_, want, r.out); \
    } while (0)

/* A shallow clone has its commits up to the border, and what is not committed. */
static void a_shallow_clone_is_read_up_to_its_border(void **state)
{
    (void)state;
    git("for i in 1 2 3; do g clone -q --depth $i file://$D/origin $D/d$i; done; echo more >>$D/d1/src/a.c");
    SAYS("d1", "{}", false, "not committed: M src/a.c");
    assert_non_null(strstr(r.out, "the clone is shallow"));
    SAYS("d2", "{}", false, "third: M src/a.c");
    SAYS("d2", "{\"max_commits\":1}", false, "third: M src/a.c");
    SAYS("d3", "{}", true, "third: M src/a.c | second: A doc/b.txt | first: A doc/a.txt, A src/a.c");
}

/* What a sparse checkout leaves out is not deleted, and its settings keep nobody out. */
static void a_sparse_checkout_deletes_nothing(void **state)
{
    (void)state;
    git("g clone -q file://$D/origin $D/sparse && g -C $D/sparse sparse-checkout set src && "
        "test ! -e $D/sparse/doc/a.txt && g clone -q file://$D/origin $D/own && "
        "g -C $D/own config core.repositoryformatversion 1 && g -C $D/own config extensions.worktreeConfig true && "
        "g -C $D/own config extensions.partialClone origin");
    SAYS("sparse", "{\"max_commits\":1}", true, "third: M src/a.c");
    SAYS("own", "{\"max_commits\":1}", true, "third: M src/a.c");
    git("rm $D/sparse/src/a.c");
    SAYS("sparse", "{\"max_commits\":1}", true, "not committed: D src/a.c | third: M src/a.c");
    git("cd $D/sparse && $M inspect-diff --dry-run -q --no-log >$D/dry 2>&1; ! grep doc/ $D/dry");
}

/* What an agent has just done is there: new, moved, linked, conflicting files, and another commit of a submodule. */
static void every_change_that_is_not_committed_is_shown(void **state)
{
    (void)state;
    git("g clone -q file://$D/origin $D/w && cd $D/w && mkdir lib && g init -q lib/m && echo 1 >lib/m/x && "
        "g -C lib/m add x && g -C lib/m commit -qm one && g add lib/m 2>/dev/null && echo x >top && echo y >dead && "
        "g add top dead && g commit -qm start && g mv src/a.c src/moved.c && echo new >src/new.c && ln -sf b.txt "
        "doc/a.txt && rm dead && echo more >>top && echo '*.log' >.gitignore && echo x >x.log && echo 2 >lib/m/x && "
        "g -C lib/m commit -qam two");
    SAYS("w", "{\"max_commits\":1}", true,
         "not committed: D dead, T doc/a.txt, D src/a.c, A src/moved.c, M top, M lib/m, ? .gitignore, ? src/new.c | "
         "start: A dead, A lib/m, A top");
    assert_non_null(strstr(r.out, "{\"path\":\"top\",\"change\":\"M\",\"lines_added\":1,\"lines_removed\":0}"));
    assert_non_null(strstr(r.out, "{\"path\":\"src/moved.c\",\"change\":\"A\"}"));
    SAYS("w/src", "{\"max_commits\":1,\"path\":\"new.c\"}", true, "not committed: ? new.c");
    SAYS("w", "{\"path\":\"none.c\"}", true, "");
    assert_non_null(strstr(r.out, "none.c: there is no such path, and no commit changed one"));
    SAYS("w", "{\"path\":\"x.log\"}", true, "");
    assert_non_null(strstr(r.out, "x.log: no change of it is known; git may not track it"));
    git("g init -q $D/unborn && echo x >$D/unborn/a.c");
    SAYS("unborn", "{}", true, "not committed: ? a.c");
    git("g clone -q file://$D/origin $D/merge && cd $D/merge && g checkout -q -b other && echo o >src/a.c && "
        "g commit -qam other && g checkout -q - && echo m >src/a.c && g commit -qam mine && ! g merge -q other");
    SAYS("merge", "{\"max_commits\":1}", true, "not committed: U src/a.c | mine: M src/a.c");
}

/* An answer that shows nothing of what was found is not one that found nothing. */
static void a_budget_that_holds_no_change_is_too_small(void **state)
{
    (void)state;
    git("g init -q $D/many && cd $D/many && for i in $(seq 40); do echo >a_file_with_a_name_that_is_long_enough_$i.c; "
        "done");
    cli_shell(&r, "$M tool recent_changes $D/many --args '{\"max_bytes\":1024}'");
    assert_int_equal(r.code, MYTH_EXIT_INCOMPLETE);
    assert_non_null(strstr(r.out, "\"changes\":[],\"left_out\":1,\"complete\":false"));
    assert_non_null(strstr(r.out, "raise max_bytes"));
    SAYS("many", "{\"path\":\"a_file_with_a_name_that_is_long_enough_7.c\",\"max_bytes\":1024}", true,
         "not committed: ? a_file_with_a_name_that_is_long_enough_7.c");
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    git("mkdir -p $D/origin/src $D/origin/doc && o init -q && "
        "c() { t=$1; shift; GIT_AUTHOR_DATE=\"$t +0000\" GIT_COMMITTER_DATE=\"$t +0000\" o commit -q \"$@\"; }; "
        "echo 1 >$D/origin/src/a.c && echo 1 >$D/origin/doc/a.txt && o add . && c 1700000000 -m first && "
        "echo 1 >$D/origin/doc/b.txt && o add . && c 1700000100 -m second && "
        "echo 2 >$D/origin/src/a.c && o add . && c 1700000200 -m third");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shallow_clone_is_read_up_to_its_border),
        cmocka_unit_test(a_sparse_checkout_deletes_nothing),
        cmocka_unit_test(every_change_that_is_not_committed_is_shown),
        cmocka_unit_test(a_budget_that_holds_no_change_is_too_small),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
