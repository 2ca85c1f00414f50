/* test_diff.c - the reader of diffs: for generated repositories and all forms of `git diff` it finds the changed lines
 * and counts that git itself gives; also diffs of other programs, odd names, and text that is cut or changed. */
#include "frontend/inspect/select/diff.h"
#include "tests/support/check.h"
#include "tests/support/files.h"

#include <sys/stat.h>
#include <unistd.h>

static myth_mem *mem;
static uint32_t n_old_line;

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

/* ---- written by hand ---- */

static void expect(myth_diff *d, const char *text)
{
    myth_error err = {0};
    if (myth_diff_parse(d, mem, text, strlen(text), &err) != MYTH_OK)
        fail_msg("%s\n%.400s", err.msg, text);
}

static void expect_refused(const char *text, const char *word)
{
    myth_diff d;
    myth_error err = {0};
    myth_status st = myth_diff_parse(&d, mem, text, strlen(text), &err);
    if (st != MYTH_EFORMAT || !strstr(err.msg, word))
        fail_msg("%d \"%s\", expected \"%s\"\n%.400s", (int)st, err.msg, word, text);
    assert_null(d.file);
}

static void lines_are_of_the_new_side(void **state)
{
    myth_diff d;
    (void)state;
    expect(&d, "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1,4 +1,5 @@ int f(void)\n "
               "a\n-b\n+B\n+C\n c\n d\n@@ -10,3 +11,2 @@\n x\n-y\n z\n");
    assert_int_equal(d.n_file, 1);
    const myth_diff_file *f = &d.file[0];
    assert_string_equal(f->path, "x.c");
    assert_int_equal(f->kind, MYTH_DIFF_CHANGED);
    assert_null(f->skipped);
    assert_int_equal(f->n_added, 1);
    assert_int_equal(f->added[0].first, 2);
    assert_int_equal(f->added[0].last, 3);
    assert_int_equal(f->n_removed, 2);
    assert_int_equal(f->removed[0].before, 2);
    assert_int_equal(f->removed[0].n, 1);
    assert_int_equal(f->removed[1].before, 12);
    assert_true(f->removed[0].len == 2 && !memcmp(f->old_text + f->removed[0].off, "b\n", 2));
    assert_true(f->removed[1].len == 2 && !memcmp(f->old_text + f->removed[1].off, "y\n", 2));
    assert_int_equal(f->lines_added, 2);
    assert_int_equal(f->lines_removed, 2);
    assert_int_equal(f->hunk[1].first, 11);
    assert_int_equal(f->hunk[1].last, 12);
    assert_true(myth_diff_touches(f, 3, 9) && !myth_diff_touches(f, 4, 10) && myth_diff_touches(f, 11, 11) &&
                myth_diff_touches(f, 12, 20));
    assert_true(!myth_diff_touches(f, 13, 20) && myth_diff_shows(f, 5, 8) && !myth_diff_shows(f, 6, 10));
    myth_diff_free(&d);
}

static void forms_of_git(void **state)
{
    myth_diff d;
    (void)state;
    expect(
        &d,
        "From 0123 Mon Sep 17\nSubject: [PATCH] x\n\n---\n a | 2 +-\n\n"
        "diff --git a/old name.c b/new.c\nsimilarity index 90%\nrename from old name.c\nrename to new.c\n--- a/old "
        "name.c\t\n+++ b/new.c\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/gone.c b/gone.c\ndeleted file mode 100644\n--- a/gone.c\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
        "diff --git a/new.h b/new.h\nnew file mode 100644\n--- /dev/null\n+++ b/new.h\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No "
        "newline at end of file\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n"
        "diff --git a/q.png b/q.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV?d\n\n"
        "diff --git \"a/t\\303\\244b\\t.c\" \"b/t\\303\\244b\\t.c\"\n--- \"a/t\\303\\244b\\t.c\"\n+++ "
        "\"b/t\\303\\244b\\t.c\"\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../x\n\\ No newline at end "
        "of file\n"
        "diff --git a/c.c b/d.c\nsimilarity index 100%\ncopy from c.c\ncopy to d.c\n"
        "diff --git a/with blank.c b/with blank.c\nold mode 100644\nnew mode 100755\n-- \n2.39\n");
    static const struct {
        const char *path, *old_path;
        myth_diff_kind kind;
        bool is_shown;
    } want[] = {
        {"new.c", "old name.c", MYTH_DIFF_RENAMED, true},
        {"gone.c", "gone.c", MYTH_DIFF_DELETED, false},
        {"new.h", "new.h", MYTH_DIFF_ADDED, true},
        {"run.sh", "run.sh", MYTH_DIFF_CHANGED, true},
        {"p.png", "p.png", MYTH_DIFF_CHANGED, true}, /* the diff alone does not say whether the file is binary */
        {"q.png", "q.png", MYTH_DIFF_CHANGED, true},
        {"t\xc3\xa4"
         "b\t.c",
         "t\xc3\xa4"
         "b\t.c",
         MYTH_DIFF_CHANGED, true},
        {"l", "l", MYTH_DIFF_ADDED, false},
        {"d.c", "c.c", MYTH_DIFF_COPIED, true},
        {"with blank.c", "with blank.c", MYTH_DIFF_CHANGED, true},
    };
    assert_int_equal(d.n_file, sizeof(want) / sizeof(want[0]));
    for (uint32_t i = 0; i < d.n_file; i++) {
        assert_string_equal(d.file[i].path, want[i].path);
        assert_string_equal(d.file[i].old_path, want[i].old_path);
        assert_int_equal(d.file[i].kind, want[i].kind);
        assert_int_equal(d.file[i].skipped == NULL, want[i].is_shown);
    }
    assert_true(d.file[3].is_mode_changed && d.file[4].is_binary && d.file[5].is_binary && d.file[7].is_link);
    assert_int_equal(d.file[1].lines_removed, 2);
    assert_int_equal(d.file[1].removed[0].before, 1);
    assert_true(d.file[1].removed[0].len == 4 && !memcmp(d.file[1].old_text, "a\nb\n", 4));
    myth_diff_free(&d);
}

static void forms_of_others(void **state)
{
    myth_diff d;
    (void)state;
    /* diff -u of two files; then a diff with \r\n everywhere and an empty line that has lost its blank */
    expect(&d, "--- x.c.orig\t2024-01-01 00:00:00 +0000\n+++ x.c\t2024-01-02 00:00:00 +0000\n@@ -1 +1,2 @@\n "
               "a\n+b\n--- y.c\n+++ y.c\n@@ -1,2 +1 @@\n-a\n b\n");
    assert_int_equal(d.n_file, 2);
    assert_string_equal(d.file[0].path, "x.c");
    assert_string_equal(d.file[1].path, "y.c");
    assert_int_equal(d.file[1].removed[0].before, 1);
    myth_diff_free(&d);
    expect(&d, "diff --git a/x.c b/x.c\r\n--- a/x.c\r\n+++ b/x.c\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n");
    assert_string_equal(d.file[0].path, "x.c");
    assert_int_equal(d.file[0].added[0].first, 3);
    assert_true(d.file[0].removed[0].len == 2 && !memcmp(d.file[0].old_text, "b\n", 2));
    myth_diff_free(&d);
    /* paths without prefixes, with those of diff.mnemonicPrefix, and in a folder that has the name of a prefix */
    expect(&d, "diff --git a/x.c a/x.c\n--- a/x.c\n+++ a/x.c\n@@ -1 +1 @@\n-a\n+b\n");
    assert_string_equal(d.file[0].path, "a/x.c");
    myth_diff_free(&d);
    expect(&d, "diff --git i/a/x.c w/a/x.c\n--- i/a/x.c\n+++ w/a/x.c\n@@ -1 +1 @@\n-a\n+b\n");
    assert_string_equal(d.file[0].path, "a/x.c");
    myth_diff_free(&d);
    expect(&d, "diff --git b/x.c b/x.c\nnew file mode 100644\n--- /dev/null\n+++ b/x.c\n@@ -0,0 +1 @@\n+b\n");
    assert_string_equal(d.file[0].path, "b/x.c");
    myth_diff_free(&d);
    expect(&d, "");
    assert_int_equal(d.n_file, 0);
    expect(&d, "\n \n");
    assert_int_equal(d.n_file, 0);
    /* a file that comes twice in a diff stays two files, as git apply takes it */
    expect(&d, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n");
    assert_int_equal(d.n_file, 2);
    myth_diff_free(&d);
}

#define HEAD "diff --git a/x b/x\n--- a/x\n+++ b/x\n"

static void refused(void **state)
{
    (void)state;
    expect_refused("not a diff at all", "no unified diff");
    expect_refused(
        "\033[1mdiff --git a/x b/x\033[m\n\033[1m--- a/x\033[m\n\033[1m+++ b/x\033[m\n\033[36m@@ -1 +1 @@\033[m\n",
        "git diff --no-color");
    expect_refused("diff --cc x.c\nindex 1,2..3\n--- a/x.c\n+++ b/x.c\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n", "combined");
    expect_refused(HEAD "@@@ -1 -1 +1 @@@\n", "combined");
    expect_refused(HEAD "@@ -1,3 +1,4 @@\n a\n",
                   "diff: line 4: the hunk ends 2 old and 3 new lines early; the patch was cut off or edited: make it "
                   "anew, as with git diff");
    expect_refused(HEAD "@@ -1,1 +1,1 @@\n a\n@@ -1 +1 @@\n b\n", "overlaps");
    expect_refused(HEAD "@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n", "goes back");
    expect_refused(HEAD "@@ -1,2 +1 @@\n+a\n+b\n",
                   "line 6: an added line more than the hunk counts; the patch was cut");
    expect_refused(HEAD "@@ -1 +1 @@\nx\n", "begins with none of ' ', '+', '-'; the patch was cut");
    expect_refused(HEAD "@@ -a,1 +1 @@\n a\n", "does not begin");
    expect_refused(HEAD "@@ -1,99999999999999999999 +1 @@\n a\n", "does not begin");
    expect_refused(HEAD "@@ -4294967295 +1 @@\n a\n", "does not begin");
    expect_refused("@@ -1 +1 @@\n-a\n+b\n", "before any file");
    expect_refused("diff --git a/x b/y\n", "without a path");
    expect_refused("diff --git a/x b/x\nindex 1..2 100644\n", "cut off");
    expect_refused("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n", "without");
    expect_refused(HEAD, "cut off");
    expect_refused("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/x\n",
                   "cut off");
    expect_refused("--- a/x\n+++ \n@@ -1 +1 @@\n", "path is missing");
    expect_refused("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n", "both sides");
    expect_refused("--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n", "cannot be read");
    expect_refused("--- \"a/\\777\"\n+++ b/x\n@@ -1 +1 @@\n", "cannot be read");
    expect_refused("--- \"a/\\000\"\n+++ b/x\n@@ -1 +1 @@\n", "cannot be read");
}

static void paths_that_leave(void **state)
{
    static const char *const path[] = {"b/../../etc/passwd", "b//etc/passwd", "b/.git/config", "b/sub/.GIT/hooks/x",
                                       "b/a/../b",           "b/x/",          "\"b/a\\nb\"",   "b/./x"};
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
        myth_diff d;
        snprintf(text, sizeof(text), "--- a/x\n+++ %s\n@@ -1 +1 @@\n-a\n+b\n", path[i]);
        expect(&d, text);
        if (!d.file[0].skipped)
            fail_msg("%s is taken as %s", path[i], d.file[0].path);
        myth_diff_free(&d);
    }
}

/* ---- against git ---- */

static size_t run(char **out, const char *dir, const char *command)
{
    char line[2048];
    size_t n = 0, cap = 1 << 20, k;
    snprintf(line, sizeof(line), "cd '%s' && %s", dir, command);
    FILE *p = popen(line, "r");
    assert_non_null(p);
    char *text = malloc(cap);
    assert_non_null(text);
    while ((k = fread(text + n, 1, cap - n - 1, p)) > 0) {
        n += k;
        if (cap - n < 4096) {
            text = realloc(text, cap *= 2);
            assert_non_null(text);
        }
    }
    text[n] = '\0';
    int rc = pclose(p);
    if (rc != 0)
        fail_msg("exit %d: %s", rc, line);
    *out = text;
    return n;
}

static const char *const names[] = {"a.c",         "b/two words.py", "b/\xc3\xa4.c", "c/q\"uote.c", "c/back\\slash.c",
                                    "tab\there.c", "d/e/f/deep.h",   "b/x.c",        "a/x.c",       "bin.dat",
                                    "crlf.txt",    "none.txt",       " lead.c",      "trail ",      "\xff.c",
                                    "-dash.c"};
enum { N_NAME = sizeof(names) / sizeof(names[0]) };

/* Makes a new folder for a repository. */
static void new_folder(char dir[512])
{
    static unsigned n;
    char name[32];
    snprintf(name, sizeof(name), "repo%u", n++);
    files_mkdir(name);
    snprintf(dir, 512, "%s", files_path(name));
}

static void write_one(const char *dir, const char *name, uint64_t *rng, char *const line[40], uint32_t n, bool is_dos,
                      bool has_end)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
        *p = '\0';
        mkdir(path, 0755);
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s%s", line[i], i + 1 < n || has_end ? (is_dos ? "\r\n" : "\n") : "");
    if (strcmp(name, "bin.dat") == 0)
        fputc(0, f);
    fclose(f);
    if (check_below(rng, 8) == 0)
        chmod(path, check_below(rng, 2) ? 0755 : 0644);
}

static void write_tree(const char *dir, uint64_t *rng, bool is_second)
{
    static const char *const text[] = {
        "int a;",        "",    "}",   "--- x",      "+++ y", "@@ -1 +1 @@", "diff --git a/x b/x",
        "\\ No newline", "-- ", "  x", "rename to x"};
    for (int k = 0; k < N_NAME; k++) {
        char *line[40], room[40][32];
        uint64_t own = 77 + (uint64_t)k; /* gives the lines of the first tree, and then their edits */
        uint32_t n = check_below(&own, 34);
        for (uint32_t i = 0; i < n; i++) {
            if (check_below(&own, 3))
                snprintf(room[i], sizeof(room[i]), "line %u", check_below(&own, 12));
            else
                snprintf(room[i], sizeof(room[i]), "%s", text[check_below(&own, 11)]);
            line[i] = room[i];
        }
        bool has_end = check_below(&own, 4) != 0, is_gone = false;
        for (uint32_t e = is_second ? check_below(rng, 5) : 0; e > 0; e--) {
            uint32_t at = n ? check_below(rng, n) : 0;
            switch (check_below(rng, 5)) {
            case 0: has_end = !has_end; break;
            case 1:
                if (n > 0) {
                    memmove(&line[at], &line[at + 1], (n - at - 1) * sizeof(*line));
                    n--;
                }
                break;
            case 2:
                if (n < 39) {
                    memmove(&line[at + 1], &line[at], (n - at) * sizeof(*line));
                    line[at] = (char *)(uintptr_t)text[check_below(rng, 11)];
                    n++;
                }
                break;
            case 3: is_gone = check_below(rng, 4) == 0; break;
            default:
                if (n > 0)
                    line[at] = (char *)(uintptr_t)text[check_below(rng, 11)];
                break;
            }
        }
        char path[1024], to[1100];
        snprintf(path, sizeof(path), "%s/%s", dir, names[k]);
        unlink(path);
        if (!is_gone)
            write_one(dir, names[k], rng, line, n, strcmp(names[k], "crlf.txt") == 0, has_end);
        if (!is_gone && is_second && check_below(rng, 6) == 0) {
            snprintf(to, sizeof(to), "%s/moved %d.c", dir, k);
            rename(path, to);
        }
    }
}

typedef struct {
    char path[512];
    long added, removed; /* -1: binary */
} counted;

/* Reads the output of git's --numstat -z. */
static uint32_t read_numstat(counted *c, uint32_t max, const char *text, size_t n)
{
    uint32_t k = 0;
    for (size_t i = 0; i < n;) {
        assert_true(k < max);
        char *end;
        c[k].added = text[i] == '-' ? -1 : strtol(text + i, &end, 10);
        i += text[i] == '-' ? 2 : (size_t)(end - (text + i)) + 1;
        c[k].removed = text[i] == '-' ? -1 : strtol(text + i, &end, 10);
        i += text[i] == '-' ? 2 : (size_t)(end - (text + i)) + 1;
        if (text[i] == '\0') /* renamed: old, new */
            i += 1 + strlen(text + i + 1) + 1;
        snprintf(c[k].path, sizeof(c[k].path), "%s", text + i);
        i += strlen(text + i) + 1;
        k++;
    }
    return k;
}

/* Compares a file with the same file in a diff without context, whose hunks are exactly the changes. */
static void compare_changes(const myth_diff_file *f, const myth_diff_file *bare)
{
    assert_string_equal(f->path, bare->path);
    assert_int_equal(f->n_added, bare->n_added);
    assert_int_equal(f->n_removed, bare->n_removed);
    if (f->n_added)
        assert_memory_equal(f->added, bare->added, f->n_added * sizeof(*f->added));
    if (f->n_removed)
        assert_memory_equal(f->removed, bare->removed, f->n_removed * sizeof(*f->removed));
}

/* Compares the changes with the headers "@@ -a,b +c,d @@" of a diff without context, which are read here anew. */
static void compare_headers(const myth_diff *d, const char *text)
{
    uint32_t at = 0, n_added = 0, n_removed = 0;
    const myth_diff_file *f = NULL;
    for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        unsigned b = 1, c, e = 1;
        if (strncmp(p, "diff --git ", 11) == 0) {
            assert_true(!f || (n_added == f->n_added && n_removed == f->n_removed));
            assert_true(at < d->n_file);
            f = &d->file[at++];
            n_added = n_removed = 0;
        }
        if (strncmp(p, "@@ -", 4) != 0)
            continue;
        const char *q = strchr(p, '+'), *comma = memchr(p, ',', (size_t)(q - p));
        if (comma)
            sscanf(comma + 1, "%u", &b);
        sscanf(q + 1, "%u,%u", &c, &e);
        assert_non_null(f);
        if (e > 0) {
            assert_int_equal(f->added[n_added].first, c);
            assert_int_equal(f->added[n_added++].last, c + e - 1);
        }
        if (b > 0) {
            assert_int_equal(f->removed[n_removed].before, e ? c : c + 1);
            assert_int_equal(f->removed[n_removed++].n, b);
        }
        for (unsigned i = b + e; i > 0; i--) { /* skips the hunk, whose lines may look like headers */
            p = strchr(p, '\n') + 1;
            if (p[strcspn(p, "\n")] && p[strcspn(p, "\n") + 1] == '\\')
                p = strchr(p, '\n') + 1;
        }
    }
    assert_int_equal(at, d->n_file);
}

/* The kept text of the removed lines must be the lines that git marks with '-', in their order. */
static void compare_old_text(const myth_diff *d, const char *text, size_t n)
{
    uint32_t i = UINT32_MAX, n_line = 0;
    size_t at = 0;
    bool is_in_hunk = false;
    for (const char *p = text, *end; p < text + n; p = end + 1) {
        end = memchr(p, '\n', (size_t)(text + n - p));
        end = end ? end : text + n;
        if (!strncmp(p, "diff --git ", 11)) {
            i++;
            at = 0;
            is_in_hunk = false;
        } else if (!strncmp(p, "@@ ", 3)) {
            is_in_hunk = true;
        } else if (is_in_hunk && *p == '-') {
            size_t len = (size_t)(end - p) - 1;
            len -= len > 0 && p[len] == '\r';
            assert_memory_equal(d->file[i].old_text + at, p + 1, len);
            assert_int_equal(d->file[i].old_text[at + len], '\n');
            at += len + 1;
            n_line++;
        }
    }
    for (i = 0; i < d->n_file; i++)
        for (uint32_t k = 1; k < d->file[i].n_removed; k++)
            assert_int_equal(d->file[i].removed[k].off, d->file[i].removed[k - 1].off + d->file[i].removed[k - 1].len);
    n_old_line += n_line;
}

static void as_git_counts(void **state)
{
    static const char *const option[] = {"",
                                         "-U0",
                                         "-U1",
                                         "-U20",
                                         "-M",
                                         "-R",
                                         "--no-prefix",
                                         "--patience",
                                         "--full-index --binary",
                                         "-M --no-prefix -U0"};
    static const char *const config[] = {"", "-c core.quotepath=false", "-c diff.mnemonicPrefix=true"};
    uint64_t rng = check_seed();
    uint32_t n_round = check_is_full() ? 200 : check_sample(6), n_diff = 0;
    char dir[512];
    (void)state;
    for (uint32_t round = 0; round < n_round; round++) {
        char *text, *numbers, *bare_text;
        new_folder(dir);
        write_tree(dir, &rng, false);
        run(&text, dir,
            "git init -q && git config user.email a@b && git config user.name a && git config core.autocrlf false && "
            "git add -A && git commit -qm one");
        free(text);
        write_tree(dir, &rng, true);
        if (check_below(&rng, 2)) {
            run(&text, dir, "git add -A");
            free(text);
        }
        for (size_t k = 0; k < sizeof(option) / sizeof(option[0]); k++) {
            const char *how = config[check_below(&rng, 3)];
            static counted count[256];
            char line[512];
            myth_diff d, bare;
            myth_error err = {0};
            snprintf(line, sizeof(line), "git %s diff %s HEAD", how, option[k]);
            size_t n = run(&text, dir, line);
            if (myth_diff_parse(&d, mem, text, n, &err) != MYTH_OK)
                fail_msg("%s: %s", line, err.msg);
            snprintf(line, sizeof(line), "git diff --numstat -z %s HEAD",
                     strstr(option[k], "-M")    ? "-M"
                     : strstr(option[k], "-R")  ? "-R"
                     : strstr(option[k], "pat") ? option[k]
                                                : "");
            size_t n_numbers = run(&numbers, dir, line);
            uint32_t n_count = read_numstat(count, 256, numbers, n_numbers);
            assert_int_equal(d.n_file, n_count);
            uint32_t n_binary = 0,
                     n_said = 0; /* a diff that only changes a mode or a name does not say that a file is binary */
            for (const char *at = text; at; at = memchr(at, '\n', (size_t)(text + n - at)), at = at ? at + 1 : NULL)
                n_said += text + n - at > 16 &&
                          (strncmp(at, "Binary files ", 13) == 0 || strncmp(at, "GIT binary patch", 16) == 0);
            for (uint32_t i = 0; i < n_count; i++) {
                assert_string_equal(d.file[i].path, count[i].path);
                assert_true(count[i].added < 0 || !d.file[i].is_binary);
                n_binary += d.file[i].is_binary;
                assert_int_equal(d.file[i].lines_added, count[i].added < 0 ? 0 : count[i].added);
                assert_int_equal(d.file[i].lines_removed, count[i].removed < 0 ? 0 : count[i].removed);
            }
            assert_int_equal(n_binary, n_said);
            snprintf(line, sizeof(line), "git diff %s -U0 HEAD",
                     option[k][0] == '-' && option[k][1] == 'U' ? "" : option[k]);
            n = run(&bare_text, dir, line);
            if (!strstr(option[k], "binary")) {
                assert_int_equal(myth_diff_parse(&bare, mem, bare_text, n, &err), MYTH_OK);
                for (uint32_t i = 0; i < n_count; i++)
                    compare_changes(&d.file[i], &bare.file[i]);
                compare_headers(&bare, bare_text);
                compare_old_text(&bare, bare_text, n);
                myth_diff_free(&bare);
            }
            n_diff++;
            myth_diff_free(&d);
            free(text);
            free(numbers);
            free(bare_text);
        }
        /* git apply must read the same counts from the patch */
        static counted count[256];
        run(&text, dir, "git diff HEAD --binary > ../repo.patch && git apply --numstat -z ../repo.patch");
        size_t n = run(&bare_text, dir, "cat ../repo.patch"),
               n_numbers = run(&numbers, dir, "git apply --numstat -z ../repo.patch");
        uint32_t n_count = read_numstat(count, 256, numbers, n_numbers);
        myth_diff d;
        assert_int_equal(myth_diff_parse(&d, mem, bare_text, n, NULL), MYTH_OK);
        assert_int_equal(d.n_file, n_count);
        for (uint32_t i = 0; i < n_count; i++) {
            assert_string_equal(d.file[i].path, count[i].path);
            assert_int_equal(d.file[i].lines_added, count[i].added < 0 ? 0 : count[i].added);
        }
        myth_diff_free(&d);
        free(text);
        free(numbers);
        free(bare_text);
    }
    printf("%u diffs of %u repositories, %u removed lines\n", n_diff, n_round, n_old_line);
    assert_true(n_old_line > 0);
}

/* ---- moved ---- */

/* A block that is removed in one place and added in another, as a whole, is moved. One that changed on its way, a short
 * one, a second copy, and one that comes back in its own place are new. */
static void moved_code_is_not_new(void **state)
{
    static const char head[] =
        "--- a/x.c\n+++ b/x.c\n@@ -1,7 +1 @@\n-int width(int n)\n-{\n-\tif (n > limit)\n-\t\treturn 0;\n"
        "-\treturn n;\n-}\n x\n--- a/y.c\n+++ b/y.c\n";
    static const struct {
        const char *hunks;
        uint32_t n_moved, n_added, first;
    } want[] = {
        {"@@ -1 +1,8 @@\n y\n+\n+int width(int n)\n+{\n+\tif (n > limit)\n+\t\treturn 0;\n+\treturn n;\n+}\n", 7, 0, 0},
        /* without its check */
        {"@@ -1 +1,5 @@\n y\n+int width(int n)\n+{\n+\treturn n;\n+}\n", 0, 1, 2},
        /* with a line more, and indented */
        {"@@ -1 +1,8 @@\n y\n+int width(int n)\n+{\n+\tif (n > limit)\n+\t\treturn 0;\n+\treturn n;\n+}\n+z\n", 0, 1,
         2},
        {"@@ -1 +1,7 @@\n y\n+int width(int n)\n+{\n+\tif (n > limit)\n+\t\t return 0;\n+\treturn n;\n+}\n", 0, 1, 2},
        /* a second copy */
        {"@@ -1 +1,7 @@\n y\n+int width(int n)\n+{\n+\tif (n > limit)\n+\t\treturn 0;\n+\treturn n;\n+}\n"
         "@@ -9 +15,7 @@\n y\n+int width(int n)\n+{\n+\tif (n > limit)\n+\t\treturn 0;\n+\treturn n;\n+}\n",
         6, 1, 16},
        /* too short to be known again */
        {"@@ -1,2 +1 @@\n-return;\n y\n@@ -9 +8,2 @@\n y\n+return;\n", 0, 1, 9},
        /* in its own place: only the line ends changed */
        {"@@ -1 +1 @@\n-the same words and the same place\r\n+the same words and the same place\n", 0, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        char text[2048];
        uint32_t n_moved;
        myth_diff d;
        snprintf(text, sizeof(text), "%s%s", head, want[i].hunks);
        expect(&d, text);
        const uint32_t n_line = d.file[1].lines_added;
        assert_int_equal(myth_diff_mark_moved(&d, &n_moved, NULL), MYTH_OK);
        if (n_moved != want[i].n_moved || d.file[1].n_added != want[i].n_added)
            fail_msg("%zu: %u lines moved, %u ranges added", i, n_moved, d.file[1].n_added);
        assert_true(!want[i].n_added || d.file[1].added[0].first == want[i].first);
        assert_int_equal(d.file[1].lines_moved, n_moved);
        assert_int_equal(d.file[1].lines_added, n_line);
        assert_true(d.file[0].n_removed == 1 && d.file[0].removed[0].n == 6); /* what was removed stays */
        myth_diff_free(&d);
    }
}

/* Lines of context stand between those that were added: what moved is found in each hunk all the same. */
static void moved_code_between_other_lines(void **state)
{
    static const char text[] =
        "--- a/x.c\n+++ b/x.c\n@@ -1,4 +1,2 @@\n w\n-the first block that moves away\n-the second block that moves "
        "away\n x\n"
        "--- a/y.c\n+++ b/y.c\n@@ -1,2 +1,4 @@\n a\n+a line that is new, it is new\n b\n+another line that is new\n"
        "@@ -8 +10,0 @@\n-c\n@@ -9,2 +11,4 @@\n d\n+the first block that moves away\n+the second block that moves "
        "away\n\n@@ -20,0 +24,1 @@\n+one more line that is new\n";
    myth_diff d;
    uint32_t n_moved;
    (void)state;
    expect(&d, text);
    assert_int_equal(myth_diff_mark_moved(&d, &n_moved, NULL), MYTH_OK);
    const myth_diff_file *f = &d.file[1];
    assert_int_equal(n_moved, 2);
    assert_int_equal(f->n_added, 3);
    assert_true(f->added[0].first == 2 && f->added[1].first == 4 && f->added[2].first == 24);
    myth_diff_free(&d);
}

/* ---- the files that are there ---- */

static void expect_line(const char *diff, const char *file, uint32_t line)
{
    myth_diff d;
    myth_source src;
    expect(&d, diff);
    assert_int_equal(myth_source_open(&src, mem, "x.c", (const unsigned char *)file, strlen(file), NULL), MYTH_OK);
    const uint32_t got = myth_diff_differs(&d.file[0], &src);
    if (got != line)
        fail_msg("line %u, expected %u:\n%s\n%s", got, line, diff, file);
    myth_source_close(&src);
    myth_diff_free(&d);
}

static void compared_with_the_file(void **state)
{
    static const char two[] = "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n a\n-b\n+B b\n\n@@ -8 +8,2 @@\n h\n+i\n";
    (void)state;
    expect_line(two, "a\nB b\n\nd\ne\nf\ng\nh\ni\nj\n", 0);
    expect_line(two, "a\nB b\n\nd\ne\nf\ng\nh\ni", 0);
    expect_line(two, "a\r\n\tBb\r\n\r\n4\r\n5\r\n6\r\n7\r\n  h\r\ni \r\n", 0); /* blanks do not count */
    expect_line(two, "a\nB c\n\nd\ne\nf\ng\nh\ni\n", 2);
    expect_line(two, "a\nB b\nx\nd\ne\nf\ng\nh\ni\n", 3); /* a line of context */
    expect_line(two, "a\nB b\n\nd\ne\nf\nh\ni\n", 8);
    expect_line(two, "a\nB b\n\nd\ne\nf\ng\nh\n", 9); /* it ends before */
    expect_line(two, "a\nB bb\n\nd\ne\nf\ng\nh\ni\n", 2);
    expect_line(two, "", 1);
    /* what was only removed is known by the lines around it */
    expect_line("--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,2 @@\n a\n-b\n c\n", "a\nc\n", 0);
    expect_line("--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,2 @@\n a\n-b\n c\n", "a\nb\nc\n", 2);
    expect_line("--- a/x.c\n+++ b/x.c\n@@ -2 +1,0 @@\n-b\n", "", 0);
}

/* Patches of commits, one after the other: the files that two of them change are marked, and no others. A file that is
 * deleted and made anew, as where a link becomes a file, is one change. */
static void several_patches(void **state)
{
    myth_diff d;
    (void)state;
    expect(&d, "From 1 Mon Sep 17 00:00:00 2001\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n"
               "--- a/y.c\n+++ b/y.c\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n\n"
               "From 2 Mon Sep 17 00:00:00 2001\n--- a/x.c\n+++ b/x.c\n@@ -5 +5 @@\n-a\n+b\n"
               "--- a/xx.c\n+++ b/xx.c\n@@ -1 +1 @@\n-a\n+b\n"
               "diff --git a/l b/l\ndeleted file mode 120000\nindex 1..0\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
               "diff --git a/l b/l\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n");
    assert_int_equal(d.n_file, 6);
    for (uint32_t i = 0; i < d.n_file; i++)
        assert_int_equal(d.file[i].is_twice, i == 0 || i == 2);
    myth_diff_free(&d);
}

/* ---- cut and mutated ---- */

static void check_form(const myth_diff *d)
{
    for (uint32_t i = 0; i < d->n_file; i++) {
        const myth_diff_file *f = &d->file[i];
        uint32_t next = 1, n = 0;
        assert_non_null(f->path);
        assert_true(f->skipped || !myth_diff_path_refused(f->path));
        for (uint32_t k = 0; k < f->n_added; k++) {
            assert_true(f->added[k].first >= next && f->added[k].last >= f->added[k].first);
            next = f->added[k].last + 2;
            n += f->added[k].last - f->added[k].first + 1;
        }
        assert_int_equal(n, f->lines_added);
    }
}

static void hostile_text(void **state)
{
    static const char alphabet[] = "@+- \\\n\"0,9\rabd/\377";
    uint64_t rng = check_seed();
    char dir[512], *text;
    myth_diff d;
    uint32_t n_run = check_is_full() ? 200000 : check_sample(4000), n_taken = 0;
    (void)state;
    new_folder(dir);
    write_tree(dir, &rng, false);
    run(&text, dir,
        "git init -q && git config user.email a@b && git config user.name a && git add -A && git commit -qm one");
    free(text);
    write_tree(dir, &rng, true);
    size_t n = run(&text, dir, "git diff -M HEAD");
    assert_true(n > 400);
    char *own = malloc(n + 64);
    assert_non_null(own);
    myth_source src;
    assert_int_equal(myth_source_open(&src, mem, "a", (unsigned char *)text, n, NULL), MYTH_OK);
    for (uint32_t i = 0; i < n_run; i++) {
        size_t m = n;
        memcpy(own, text, n);
        if (i % 2)
            m = check_below(&rng, (uint32_t)n);
        for (uint32_t k = check_below(&rng, 4); k > 0 && m > 0; k--) {
            size_t at = check_below(&rng, (uint32_t)m);
            if (check_below(&rng, 2))
                own[at] = alphabet[check_below(&rng, sizeof(alphabet) - 1)];
            else
                memmove(own + at, own + at / 2, m - at);
        }
        char *exact = malloc(m ? m : 1); /* so that the sanitizers see a read past the end */
        memcpy(exact, own, m);
        if (myth_diff_parse(&d, mem, exact, m, NULL) == MYTH_OK) {
            check_form(&d);
            for (uint32_t k = 0; k < d.n_file; k++)
                myth_diff_differs(&d.file[k], &src);
            n_taken++;
        }
        myth_diff_free(&d);
        free(exact);
    }
    printf("%u of %u mutated diffs taken\n", n_taken, n_run);
    assert_true(n_taken > 0 && n_taken < n_run);
    myth_source_close(&src);
    free(own);
    free(text);
}

static void memory_that_runs_out(void **state)
{
    static const char text[] =
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        myth_diff d;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_diff_parse(&d, mem, text, sizeof(text) - 1, NULL);
        myth_mem_set_fault(mem, NULL);
        myth_diff_free(&d);
        if (st == MYTH_OK) {
            assert_true(nth > 5);
            break;
        }
        assert_int_equal(st, MYTH_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_of_the_new_side),
        cmocka_unit_test(forms_of_git),
        cmocka_unit_test(forms_of_others),
        cmocka_unit_test(refused),
        cmocka_unit_test(paths_that_leave),
        cmocka_unit_test(moved_code_is_not_new),
        cmocka_unit_test(moved_code_between_other_lines),
        cmocka_unit_test(compared_with_the_file),
        cmocka_unit_test(several_patches),
        cmocka_unit_test(as_git_counts),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
