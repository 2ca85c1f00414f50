/* test_same_prompt.c - the same bytes give the same prompt: the prompts and reports about a file are equal byte by byte
 * for random spellings of its path, working directories, clones, copies and linked work trees; so are those about a
 * symbol, a question and a change, however the directory is spelled. A line that is added to a definition changes the
 * prompt of its part alone. Needs git. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/files.h"

#include <limits.h>
#include <sys/stat.h>

static cli_result r;

static const char *const files[] = {"top.c", "src/demo.c", "lib/a/b/deep.c"};
/* The same tree in five places; the last one is a link to the first. */
static const char *const trees[] = {"r", "far/away/clone", "w/tree", "copy of it", "link"};
/* Where the command is run; some of them lie in a tree that does not hold the file. */
static const char *const folders[] = {"", "r", "r/src", "r/lib/a/b", "far", "far/away/clone/lib", "w/tree", "link/src"};
enum {
    N_FILE = sizeof(files) / sizeof(files[0]),
    N_TREE = sizeof(trees) / sizeof(trees[0]),
    N_FOLDER = sizeof(folders) / sizeof(folders[0])
};

static void shell(const char *line)
{
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s\n  exit %d: %s", line, r.code, r.err);
}

static int begin(void **state)
{
    static char home[PATH_MAX];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(home, sizeof(home), "%s/state", cli_dir);
    setenv("XDG_STATE_HOME", home, 1);
    setenv("GIT_CEILING_DIRECTORIES", cli_dir, 1);
    shell(
        "cd $D && mkdir -p r/src r/lib/a/b far/away w && cd r && git init -q && "
        "printf 'int f(char *s)\\n{\\n\\treturn strlen(s) + 1;\\n}\\n' >src/demo.c && "
        "printf 'int g;\\n' >lib/a/b/deep.c && printf 'int f(char *);\\nint main(void) { return f(0); }\\n' >top.c && "
        "git add -A && git -c user.name=n -c user.email=e@e commit -qm 1 && "
        "printf 'int twice(int n) { return 2 * n; }\n' >src/more.c && git add -A && "
        "git -c user.name=n -c user.email=e@e commit -qm 2 && "
        "git clone -q . ../far/away/clone && git worktree add -q ../w/tree && cp -r . '../copy of it' && "
        "for t in . ../far/away/clone ../w/tree '../copy of it'; do "
        "printf 'int f(char *s)\n{\n\treturn s[0];\n}\n' >\"$t/src/demo.c\"; done && ln -s r ../link");
    return 0;
}

typedef struct {
    char text[2 * PATH_MAX];
    size_t n;
} spelling;

static void put(spelling *s, const char *text, size_t n)
{
    assert_true(s->n + n < sizeof(s->text));
    memcpy(s->text + s->n, text, n);
    s->n += n;
    s->text[s->n] = '\0';
}

/* Spells an absolute path at random: from the root or from the current folder, with detours that lead nowhere. */
static void spell(spelling *s, const char *path, const char *folder, uint64_t *rand)
{
    *s = (spelling){0};
    if (check_below(rand, 3)) {
        char real[PATH_MAX];
        assert_non_null(realpath(folder, real));
        for (const char *p = real; *p; p++)
            if (*p == '/' && p[1])
                put(s, "../", 3);
    } else {
        put(s, "/", 1);
    }
    for (const char *p = path + 1, *end; *p; p = *end ? end + 1 : end) {
        end = p + strcspn(p, "/");
        size_t n = (size_t)(end - p);
        switch (check_below(rand, 6)) {
        case 0: put(s, "./", 2); break;
        case 1: put(s, *end ? "/" : "", *end ? 1 : 0); break;
        case 2: /* into a folder and out again */
            if (*end && s->n && strncmp(p, "link", n) != 0) {
                put(s, p, n);
                put(s, "/../", 4);
            }
            break;
        default: break;
        }
        put(s, p, n + (*end == '/'));
    }
}

/* What the command prints about a file: the whole prompt; or the report of a run, and the hash of every prompt's
 * tokens. */
static void print_about(const char *folder, const char *path, bool is_run)
{
    static char line[4 * PATH_MAX];
    snprintf(line, sizeof(line),
             is_run ? "cd \"%s\" && { $M inspect-file \"%s\" " TINY
                      "-n 8 --format json --fail-level never; test $? = 3; "
                      "} && $M log show last --json | grep -o '\"ids_hash\":[^,]*'"
                    : "cd \"%s\" && $M prompt --json \"%s\" " TINY,
             folder, path);
    shell(line);
}

static void a_file_has_one_prompt(void **state)
{
    static char want[2][N_FILE][sizeof(r.out)];
    char folder[PATH_MAX + 64], path[PATH_MAX + 64], root[PATH_MAX];
    const uint32_t n = check_is_full() ? 1000 : check_sample(120);
    uint64_t rand = check_seed();
    spelling s;
    (void)state;
    assert_non_null(realpath(cli_dir, root));
    snprintf(folder, sizeof(folder), "%s/r", root);
    for (int is_run = 0; is_run < 2; is_run++)
        for (uint32_t i = 0; i < N_FILE; i++) {
            print_about(folder, files[i], is_run != 0);
            snprintf(want[is_run][i], sizeof(want[0][0]), "%s", r.out);
            assert_non_null(strstr(r.out, files[i]));
            assert_null(strstr(r.out, cli_dir));
        }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t file = check_below(&rand, N_FILE);
        const bool is_run = i % 8 == 0;
        snprintf(folder, sizeof(folder), "%s/%s", root, folders[check_below(&rand, N_FOLDER)]);
        snprintf(path, sizeof(path), "%s/%s/%s", root, trees[check_below(&rand, N_TREE)], files[file]);
        spell(&s, path, folder, &rand);
        print_about(folder, s.text, is_run);
        if (strcmp(r.out, want[is_run][file]) != 0)
            fail_msg("from %s, %s: got\n%.1500s\nexpected\n%.1500s", folder, s.text, r.out, want[is_run][file]);
    }
}

/* ---- commands that select code from a directory ---- */

static const char *const selecting[] = {
    "inspect-diff --fail-level never",
    "inspect-diff HEAD~1..HEAD --fail-level never",
    "inspect-symbol f --fail-level never",
    "inspect-symbol src/demo.c::f --fail-level never",
    "inspect-topic \"which function returns what\" --lexical",
};
static const char *const below[] = {"", "/src"};
enum { N_SELECTING = sizeof(selecting) / sizeof(selecting[0]), N_BELOW = sizeof(below) / sizeof(below[0]) };

/* The report of a run and the hashes of the prompts' tokens; with is_shown the prompts. */
static void print_selected(const char *folder, const char *command, const char *dir, bool is_shown)
{
    static char line[4 * PATH_MAX];
    snprintf(line, sizeof(line),
             "cd \"%s\" && { $M %s -C \"%s\" " TINY "-n 8 --prompt-style full --format json; "
             "test $? = 3; } && $M log show last %s",
             folder, command, dir, is_shown ? "--prompts" : "--json | grep -o '\"ids_hash\":[^,]*'");
    shell(line);
}

static void a_selection_has_one_prompt(void **state)
{
    static char want[N_SELECTING][N_BELOW][sizeof(r.out)];
    char folder[PATH_MAX + 64], path[PATH_MAX + 64], root[PATH_MAX];
    const uint32_t n = check_is_full() ? 1000 : check_sample(60);
    uint64_t rand = check_seed();
    spelling s;
    (void)state;
    assert_non_null(realpath(cli_dir, root));
    snprintf(folder, sizeof(folder), "%s/r", root);
    for (uint32_t i = 0; i < N_SELECTING; i++)
        for (uint32_t k = 0; k < N_BELOW; k++) {
            snprintf(path, sizeof(path), "%s/r%s", root, below[k]);
            print_selected(folder, selecting[i], path, true);
            assert_non_null(strstr(r.out, "<file path=\"src/"));
            print_selected(folder, selecting[i], path, false);
            snprintf(want[i][k], sizeof(want[0][0]), "%s", r.out);
            assert_null(strstr(r.out, root));
            if (i < N_SELECTING - 1) /* all that it selects is in src; a question would find more in the whole tree */
                assert_string_equal(want[i][k], want[i][0]);
        }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t command = check_below(&rand, N_SELECTING), k = check_below(&rand, N_BELOW);
        snprintf(folder, sizeof(folder), "%s/%s", root, folders[check_below(&rand, N_FOLDER)]);
        snprintf(path, sizeof(path), "%s/%s%s", root, trees[check_below(&rand, N_TREE)], below[k]);
        spell(&s, path, folder, &rand);
        print_selected(folder, selecting[command], s.text, false);
        if (strcmp(r.out, want[command][k]) != 0)
            fail_msg("from %s, %s -C %s: got\n%.1500s\nexpected\n%.1500s", folder, selecting[command], s.text, r.out,
                     want[command][k]);
    }
    /* inside of the directory none has to be named */
    for (uint32_t i = 0; i < N_SELECTING; i++) {
        snprintf(folder, sizeof(folder), "%s/far/away/clone/src", root);
        print_selected(folder, selecting[i], ".", false);
        assert_string_equal(r.out, want[i][1]);
    }
}

/* A folder that git tracks nothing of has names of its own for a symbol, but a change of it has the repository's. */
static void an_untracked_folder_is_its_own_tree(void **state)
{
    (void)state;
    shell("mkdir -p $D/r/fresh && printf 'int fresh(void) { return 1; }\n' >$D/r/fresh/new.c");
    print_selected(cli_dir, "inspect-symbol fresh", "r/fresh", true);
    assert_non_null(strstr(r.out, "<file path=\"new.c\""));
    print_selected(cli_dir, "inspect-diff --untracked", "r/fresh", true);
    assert_non_null(strstr(r.out, "<file path=\"fresh/new.c\""));
    shell("rm -r $D/r/fresh");
}

/* What is defined elsewhere is said to be elsewhere. */
static void a_folder_bounds_what_is_selected(void **state)
{
    (void)state;
    cli_shell(&r, "cd $D/r && $M inspect-symbol f -C lib " TINY);
    assert_int_equal(r.code, 66);
    assert_non_null(strstr(r.err, "f: not defined below lib/, but in src/demo.c"));
    cli_shell(&r, "cd $D/r && $M inspect-diff -C lib " TINY);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "src/demo.c: it is outside of the directory"));
    /* of two definitions the one below the folder */
    shell("printf 'int twice(void) { return 1; }\n' >$D/r/src/twice.c && printf 'int twice(void) { return 2; }\n' "
          ">$D/r/lib/twice.c");
    print_selected(cli_dir, "inspect-symbol twice", "r/lib", true);
    assert_non_null(strstr(r.out, "return 2;"));
    assert_null(strstr(r.out, "return 1;"));
    shell("rm $D/r/src/twice.c $D/r/lib/twice.c");
}

/* Without a repository a file has no path but its own name. */
static void outside_of_a_repository_it_is_the_name(void **state)
{
    static const char *const way[] = {"src/demo.c", "./src/../src/demo.c", "$D/plain/src/demo.c"};
    static char want[sizeof(r.out)];
    (void)state;
    shell("mkdir -p $D/plain && cp -r $D/r/src $D/plain && cd $D/plain/src && $M prompt --json demo.c " TINY);
    snprintf(want, sizeof(want), "%s", r.out);
    assert_non_null(strstr(want, "<file path=\\\"demo.c\\\""));
    for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "cd $D/plain && $M prompt --json \"%s\" " TINY, way[i]);
        shell(line);
        assert_string_equal(r.out, want);
    }
}

/* ---- parts ---- */

enum { N_FUNCTION = 48, HASHES_MAX = 160, NAME = 20 };

/* A file of functions, each with lines of its own. extra: the function that has a comment more, before or in it. */
static void put_functions(const char *name, int extra, bool is_inside, uint64_t rand)
{
    char path[300];
    const bool is_python = strstr(name, ".py") != NULL;
    snprintf(path, sizeof(path), "%s/r/%s", cli_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < N_FUNCTION; i++) {
        const uint32_t n = 1 + check_below(&rand, 6);
        if (i == extra && !is_inside)
            fputs(is_python ? "# one line more\n" : "// one line more\n", f);
        fprintf(f, is_python ? "def f%u(a):\n" : "int f%u(int a)\n{\n", (uint32_t)check_rand(&rand));
        if (i == extra && is_inside)
            fputs(is_python ? "    # one line more\n" : "    // one line more\n", f);
        for (uint32_t k = 0; k < n; k++)
            fprintf(f, is_python ? "    a += %u\n" : "    a += %u;\n", check_below(&rand, 1000));
        fputs(is_python ? "    return a\n\n\n" : "    return a;\n}\n\n", f);
    }
    fclose(f);
}

/* Runs an inspection in parts and lists the hashes of its prompts. */
static uint32_t hashes_of(char dst[HASHES_MAX][NAME], const char *name)
{
    static char line[512];
    uint32_t n = 0;
    snprintf(
        line, sizeof(line),
        "cd $D/r && { $M inspect-file %s " TINY "--prompt-style compact --max-prompt-tokens 700 -n 1 "
        "--fail-level never; test $? = 3; } >/dev/null && "
        "$M log show last --json | grep -o '\"ids_hash\":\"sha256:[0-9a-f]*' | sed 's/.*sha256:\\(.\\{16\\}\\).*/\\1/'",
        name);
    shell(line);
    for (const char *p = r.out; *p; p = strchr(p, '\n') + 1) {
        assert_true(n < HASHES_MAX);
        snprintf(dst[n++], NAME, "%.16s", p);
    }
    return n;
}

static uint32_t n_without(char a[HASHES_MAX][NAME], uint32_t n_a, char b[HASHES_MAX][NAME], uint32_t n_b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_a; i++) {
        uint32_t k = 0;
        while (k < n_b && strcmp(a[i], b[k]) != 0)
            k++;
        n += k == n_b;
    }
    return n;
}

/* A comment that is added to a function changes the prompt of the part that has the function, and no other. When that
 * part has no room for the line, it becomes two. In a language without a parser paragraphs take the place of
 * definitions, and their first lines that of names, so there the line is added inside. */
static void a_line_more_changes_one_part(void **state)
{
    static char before[HASHES_MAX][NAME], after[HASHES_MAX][NAME];
    static const char *const name[] = {"many.c", "many.py", "many.unknown"};
    const uint32_t n_try = check_is_full() ? 60 : check_sample(12);
    uint64_t rand = check_seed();
    (void)state;
    for (uint32_t i = 0; i < 3 * n_try; i++) {
        const uint64_t text = check_rand(&rand);
        const int extra = (int)check_below(&rand, N_FUNCTION);
        put_functions(name[i % 3], -1, false, text);
        const uint32_t n_before = hashes_of(before, name[i % 3]);
        put_functions(name[i % 3], extra, check_below(&rand, 2) || i % 3 == 2, text);
        const uint32_t n_after = hashes_of(after, name[i % 3]);
        assert_true(n_before > 6);
        if (n_without(before, n_before, after, n_after) != 1 || n_without(after, n_after, before, n_before) > 2)
            fail_msg("%s, function %d: %u of %u prompts are gone, %u of %u are new", name[i % 3], extra,
                     n_without(before, n_before, after, n_after), n_before, n_without(after, n_after, before, n_before),
                     n_after);
    }
}

int main(void)
{
    if (system("command -v git >/dev/null") != 0) {
        printf("no git\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_one_prompt),
        cmocka_unit_test(a_selection_has_one_prompt),
        cmocka_unit_test(an_untracked_folder_is_its_own_tree),
        cmocka_unit_test(a_folder_bounds_what_is_selected),
        cmocka_unit_test(outside_of_a_repository_it_is_the_name),
        cmocka_unit_test(a_line_more_changes_one_part),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
