/* test_since.c - the lines that changed since a revision are those that git's own diff names, for random edits in the
 * working tree, the index and a commit; also with renames, new files, line ends and folders. Needs git. */
#include "frontend/inspect/select/since.h"
#include "tests/support/files.h"

#include <unistd.h>

enum { LINES_MAX = 400 };

static myth_mem *mem;
static char home[4096];

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK && getcwd(home, sizeof(home)) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return chdir(home) == 0 && myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Runs a shell line in the test's repository. git reads no settings of the user or the machine. */
static void shell(const char *line)
{
    char whole[4096];
    snprintf(whole, sizeof(whole),
             "cd '%s' && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a "
             "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a && "
             "mkdir -p r && cd r && { %s ; } >../out 2>../err",
             files_dir(), line);
    if (system(whole) != 0) {
        print_error("%s\n", line);
        fail();
    }
}

/* ---- random files ---- */

typedef struct {
    uint32_t line[LINES_MAX], n;
} text;

static void write_text(const text *t, const char *name)
{
    bytes b = {0};
    char line[40];
    for (uint32_t i = 0; i < t->n; i++) {
        snprintf(line, sizeof(line), "line %u;\n", t->line[i]);
        bytes_text(&b, line);
    }
    files_put(name, b.data ? (const char *)b.data : "", b.len);
    bytes_free(&b);
}

static void edit(text *t, uint64_t *seed)
{
    for (uint32_t k = check_below(seed, 6); k > 0; k--) {
        uint32_t at = check_below(seed, t->n + 1), n = 1 + check_below(seed, 4);
        switch (check_below(seed, 3)) {
        case 0:
            for (uint32_t i = at; i < at + n && i < t->n; i++)
                t->line[i] = check_below(seed, 1000000);
            break;
        case 1:
            if (t->n + n > LINES_MAX)
                break;
            memmove(t->line + at + n, t->line + at, (t->n - at) * sizeof(t->line[0]));
            for (uint32_t i = at; i < at + n; i++)
                t->line[i] = check_below(seed, 40);
            t->n += n;
            break;
        default:
            n = n < t->n - at ? n : t->n - at;
            memmove(t->line + at, t->line + at + n, (t->n - at - n) * sizeof(t->line[0]));
            t->n -= n;
        }
    }
}

/* Reads git's diff: changed[i] = line i + 1 is changed or new; gap[i] = lines were removed directly before line i + 1
 * and none took their place. */
static void read_git(bool changed[LINES_MAX + 1], bool gap[LINES_MAX + 1])
{
    char line[256];
    FILE *f = fopen(files_path("out"), "rb");
    memset(changed, 0, LINES_MAX + 1);
    memset(gap, 0, LINES_MAX + 1);
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        unsigned first = 0, n = 1;
        const char *plus = strncmp(line, "@@ ", 3) == 0 ? strchr(line, '+') : NULL;
        if (!plus)
            continue;
        assert_true(sscanf(plus, "+%u,%u", &first, &n) >= 1);
        if (!strchr(plus, ',') || strchr(plus, ',') > strchr(plus, ' '))
            n = 1;
        for (unsigned i = 0; i < n; i++)
            changed[first - 1 + i] = true;
        if (n == 0)
            gap[first] = true;
    }
    fclose(f);
}

static void check_ranges(myth_since *s, const char *path, uint32_t n_line, const bool *changed, const bool *gap,
                         uint64_t *seed)
{
    unsigned char *data = NULL;
    size_t n = 0;
    char where[4096];
    myth_source src = {0};
    snprintf(where, sizeof(where), "r/%s", path);
    FILE *f = fopen(files_path(where), "rb");
    assert_non_null(f);
    data = malloc(1 << 20);
    n = fread(data, 1, 1 << 20, f);
    fclose(f);
    assert_int_equal(myth_source_open(&src, mem, path, data, n, NULL), MYTH_OK);
    assert_int_equal(src.n_line, n_line);
    for (uint32_t first = 1; first <= n_line; first++) {
        uint32_t last = first + check_below(seed, 6);
        last = last < n_line ? last : n_line;
        bool want = false;
        for (uint32_t i = first; i <= last; i++)
            want = want || changed[i - 1] || (i > first && gap[i - 1]);
        if (myth_since_touches(s, &src, first, last) != want) {
            print_error("%s: lines %u-%u: expected %s\n", path, first, last, want ? "changed" : "as they were");
            fail();
        }
    }
    const char *why;
    assert_int_equal(myth_since_n_failed(s, &why), 0);
    myth_source_close(&src);
    free(data);
}

static void test_lines_are_those_of_git(void **unused)
{
    static const struct {
        const char *git;
        myth_revision_opts side;
    } kind[] = {
        {"git -c diff.indentHeuristic=false diff -U0 HEAD~1 -- a.c", {0}},
        {"git add a.c && git -c diff.indentHeuristic=false diff -U0 --cached HEAD~1 -- a.c", {.is_staged = true}},
        {"git -c diff.indentHeuristic=false diff -U0 HEAD~2 HEAD -- a.c", {.spec = "HEAD~1..HEAD"}},
    };
    static text t;
    static bool changed[LINES_MAX + 1], gap[LINES_MAX + 1];
    char root[4096];
    uint64_t seed = check_seed();
    uint32_t n_changed = 0, n_gap = 0;
    (void)unused;
    for (uint32_t i = 0; i < (check_is_full() ? 600 : 24); i++) {
        uint32_t k = i % 3;
        t.n = check_below(&seed, 120);
        for (uint32_t m = 0; m < t.n; m++)
            t.line[m] = check_below(&seed, 40);
        shell("rm -rf .git a.c && git init -q && echo >b");
        write_text(&t, "r/a.c");
        shell("git add -A && git commit -qm 1 && git commit -q --allow-empty -m 2");
        edit(&t, &seed);
        write_text(&t, "r/a.c");
        shell(k == 2 ? "git commit -q --allow-empty -am 3" : "true");
        shell(kind[k].git);
        read_git(changed, gap);
        for (uint32_t m = 0; m <= LINES_MAX; m++) {
            n_changed += changed[m];
            n_gap += gap[m];
        }
        snprintf(root, sizeof(root), "%s", files_path("r"));
        myth_revision_opts side = kind[k].side;
        side.root = root;
        myth_since *s = NULL;
        myth_error err = {0};
        if (myth_since_open(&s, &side, NULL, k == 2 ? "HEAD~2" : "HEAD~1", &err) != MYTH_OK)
            print_error("%s\n", err.msg);
        assert_non_null(s);
        check_ranges(s, "a.c", t.n, changed, gap, &seed);
        myth_since_close(s);
    }
    printf("%u changed lines, %u places where lines went away\n", n_changed, n_gap);
    assert_true(n_changed && n_gap);
}

/* ---- cases ---- */

/* Returns the numbers of a file's changed lines, such as "2 5". The path is below root, or below the current folder
 * when root is NULL. */
static const char *changed_lines(const char *root, const char *path, const char *rev)
{
    static char list[1024];
    char where[4096];
    unsigned char *data = malloc(1 << 16);
    myth_since *s = NULL;
    myth_source src = {0};
    myth_error err = {0};
    size_t used = 0;
    if (myth_since_open(&s, &(myth_revision_opts){.root = root}, path, rev, &err) != MYTH_OK)
        print_error("%s\n", err.msg);
    assert_non_null(s);
    snprintf(where, sizeof(where), "%s%s%s", root ? root : "", root ? "/" : "", path);
    FILE *f = fopen(where, "rb");
    assert_non_null(f);
    size_t n = fread(data, 1, 1 << 16, f);
    fclose(f);
    assert_int_equal(myth_source_open(&src, mem, path, data, n, NULL), MYTH_OK);
    list[0] = '\0';
    for (uint32_t i = 1; i <= src.n_line; i++)
        if (myth_since_touches(s, &src, i, i))
            used += (size_t)snprintf(list + used, sizeof(list) - used, used ? " %u" : "%u", i);
    myth_source_close(&src);
    myth_since_close(s);
    free(data);
    return list;
}

static void test_files(void **unused)
{
    char root[4096], below[4200];
    (void)unused;
    shell("rm -rf .git * && git init -q && mkdir -p d/e && seq 1 9 >d/e/n.txt && printf 'a\\r\\nb\\r\\nc\\r\\n' >w.txt "
          "&& printf 'bin\\0' >bin && seq 20 40 >moved.txt && "
          "printf '*.txt text\\n' >.gitattributes && git add -A && git commit -qm 1");
    snprintf(root, sizeof(root), "%s", files_path("r"));
    snprintf(below, sizeof(below), "%s/d", root);
    assert_int_equal(chdir(root), 0);
    assert_string_equal(changed_lines(NULL, "d/e/n.txt", "HEAD"), "");
    assert_string_equal(changed_lines(NULL, "w.txt", "HEAD"), ""); /* has CR LF here and LF in the commit */
    assert_string_equal(changed_lines(NULL, "bin", "HEAD"), "");
    shell("sed -i 's/^3$/three/' d/e/n.txt && sed -i 's/b/B/' w.txt && printf 'bin\\0x' >bin && seq 1 3 >new.txt && "
          "seq 1 2 >ignored.o && echo '*.o' >.gitignore && "
          "git mv moved.txt d/went.txt && sed -i 's/^30$/thirty/' d/went.txt && ln -s d/e/n.txt link");
    assert_string_equal(changed_lines(NULL, "d/e/n.txt", "HEAD"), "3");
    assert_string_equal(changed_lines(root, "d/e/n.txt", "HEAD"), "3");
    assert_string_equal(changed_lines(below, "e/n.txt", "HEAD"), "3");
    assert_string_equal(changed_lines(NULL, "link", "HEAD"), "3"); /* a link: the lines of the file that it leads to */
    assert_string_equal(changed_lines(NULL, "w.txt", "HEAD"), "2");
    assert_string_equal(changed_lines(NULL, "bin", "HEAD"), "1");
    assert_string_equal(changed_lines(NULL, "new.txt", "HEAD"), "1 2 3"); /* a file that git does not track is new */
    assert_string_equal(changed_lines(NULL, "ignored.o", "HEAD"), "1 2");
    assert_string_equal(changed_lines(below, "went.txt", "HEAD"),
                        "11"); /* under another name, from outside of the root */
    assert_int_equal(chdir("d/e"), 0);
    assert_string_equal(changed_lines(NULL, "../../w.txt", "HEAD"), "2");
    assert_string_equal(changed_lines(NULL, "n.txt", "HEAD"), "3");
    snprintf(below, sizeof(below), "%s/d/e/n.txt", root);
    assert_string_equal(changed_lines(NULL, below, "HEAD"), "3");
}

static void refused(const char *root, const char *path, const char *rev, myth_status want, const char *says)
{
    myth_since *s = NULL;
    myth_error err = {0};
    assert_int_equal(myth_since_open(&s, &(myth_revision_opts){.root = root}, path, rev, &err), want);
    assert_null(s);
    if (!strstr(err.msg, says))
        print_error("%s\n", err.msg);
    assert_non_null(strstr(err.msg, says));
}

static void test_refusals(void **unused)
{
    (void)unused;
    shell("rm -rf .git * && git init -q && echo 1 >a && git add a && git commit -qm 1");
    assert_int_equal(chdir(files_path("r")), 0);
    refused(NULL, "-", "HEAD", MYTH_EARG, "standard input");
    refused(NULL, "a", "nowhere", MYTH_EARG, "nowhere");
    refused(NULL, "a", "HEAD..HEAD", MYTH_EARG, "one revision");
    refused(NULL, "a", "", MYTH_EARG, "one revision");
    refused(files_path("r"), NULL, "nowhere", MYTH_EARG, "nowhere");
    files_mkdir("none");
    files_text("none/a", "1\n");
    refused(files_path("none"), NULL, "HEAD", MYTH_ENOTFOUND, "no git repository");
}

int main(void)
{
    if (system("command -v git >/dev/null") != 0) {
        printf("no git\n");
        return CHECK_SKIP;
    }
    setenv("GIT_CEILING_DIRECTORIES", files_dir(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_those_of_git),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
