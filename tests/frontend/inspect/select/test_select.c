/* test_select.c - which code the commands select: after random edits, every changed line is in a subject, subjects are
 * whole definitions, and the text is that of the chosen side; also a model's requests, and a diff's task and filter. */
#include "tests/retrieval/index/index_tree.h"
#include "frontend/inspect/select/select.h"

static myth_mem *mem;

typedef struct {
    char dir[512];
    myth_index *index;
    myth_revision *side;
    myth_select *select;
    myth_material *m;
} bed;

static void shell(const char *dir, const char *command)
{
    char line[2048];
    snprintf(line, sizeof(line), "cd '%s' && { %s ; } >/dev/null 2>&1", dir, command);
    int rc = system(line);
    if (rc != 0)
        fail_msg("exit %d: %s", rc, line);
}

static void bed_open(bed *b, const char *tree, const char *spec, bool is_staged, bool is_patch)
{
    myth_error err = {0};
    myth_index_stats stats;
    *b = (bed){.index = NULL};
    snprintf(b->dir, sizeof(b->dir), "%s", files_path(tree));
    b->index = open_index(tree, "select.db", mem, false);
    if (myth_index_update(b->index, NULL, &stats, &err) != MYTH_OK ||
        myth_revision_open(
            &b->side, mem,
            &(myth_revision_opts){.root = b->dir, .spec = spec, .is_staged = is_staged, .is_patch = is_patch},
            &err) != MYTH_OK ||
        myth_select_open(&b->select, mem, b->index, b->side, getenv("MYTHOS_BIN"), NULL, &err) != MYTH_OK ||
        myth_material_open(&b->m, mem, b->dir, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static void bed_close(bed *b)
{
    myth_material_close(b->m);
    myth_select_close(b->select);
    myth_revision_close(b->side);
    myth_index_close(b->index);
    index_remove("select.db");
}

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

static const myth_piece *piece_at(const myth_material *m, const char *path, uint32_t line, bool is_subject)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (p->is_subject == is_subject && strcmp(myth_material_of(m, p->source)->path, path) == 0 &&
            p->first <= line && p->last >= line)
            return p;
    }
    return NULL;
}

/* ---- random edits ---- */

/* Every changed line, and every place where lines were removed, must be in a subject. A subject must be a definition
 * that changed or be near a change, and its file must have changed. */
static void check_selection(const bed *b, const myth_diff *d, const myth_changes *c)
{
    for (uint32_t i = 0; i < d->n_file; i++) {
        const myth_diff_file *f = &d->file[i];
        for (uint32_t k = 0; k < f->n_added && !c->file[i].skipped; k++)
            for (uint32_t line = f->added[k].first; line <= f->added[k].last; line++)
                if (!piece_at(b->m, f->path, line, true))
                    fail_msg("%s:%u is changed and in no subject", f->path, line);
        for (uint32_t k = 0; k < f->n_removed && !c->file[i].skipped; k++)
            if (!piece_at(b->m, f->path, f->removed[k].before, true) &&
                !piece_at(b->m, f->path, f->removed[k].before - 1, true))
                fail_msg("%s:%u: lines were removed and no subject is there", f->path, f->removed[k].before);
    }
    for (uint32_t i = 0; i < myth_material_n_piece(b->m); i++) {
        const myth_piece *p = myth_material_piece(b->m, i);
        const myth_source *src = myth_material_of(b->m, p->source);
        const myth_diff_file *f = NULL;
        assert_true(p->first >= 1 && p->first <= p->last && p->last <= src->n_line);
        assert_non_null(p->why);
        if (!p->is_subject) {
            assert_true(p->of < i && myth_material_piece(b->m, p->of)->is_subject);
            continue;
        }
        for (uint32_t k = 0; k < d->n_file; k++)
            f = strcmp(d->file[k].path, src->path) == 0 ? &d->file[k] : f;
        assert_non_null(f);
        uint32_t from = p->first > 4 ? p->first - 4 : 1;
        if (!myth_diff_touches(f, from, p->last + 4))
            fail_msg("%s:%u-%u is a subject and did not change", src->path, p->first, p->last);
        if (p->symbol && !myth_diff_touches(f, p->first, p->last))
            fail_msg("%s of %s did not change", p->symbol, src->path);
        assert_true(myth_changes_want(c, MYTH_FILTER_CONTEXT, false, src->path, p->first, p->last));
    }
}

static void compare_side(const bed *b, const char *show)
{
    for (uint32_t i = 0; i < myth_material_n_source(b->m); i++) {
        const myth_source *src = myth_material_of(b->m, i);
        char line[2048];
        snprintf(line, sizeof(line), "cd '%s' && %s'%s'", b->dir, show, src->path);
        FILE *p = popen(line, "r");
        assert_non_null(p);
        unsigned char *text = malloc(src->len + 2u);
        assert_non_null(text);
        size_t n = fread(text, 1, src->len + 1u, p);
        pclose(p);
        assert_int_equal(n, src->len);
        assert_memory_equal(text, src->bytes, n);
        free(text);
    }
}

/* Changes, adds or removes one line of a file. */
static void edit_lines(const char *tree, uint32_t n_edit, uint64_t *rng)
{
    static tree_names l;
    static unsigned char text[1 << 16];
    for (uint32_t i = 0; i < n_edit; i++) {
        l.n = 0;
        list_files(&l, files_path(tree));
        if (l.n == 0)
            return;
        qsort(l.path, l.n, PATH_CAP, compare_names);
        const char *path = l.path[check_below(rng, l.n)];
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof(text), f), at = n ? check_below(rng, (uint32_t)n) : 0, end;
        fclose(f);
        while (at > 0 && text[at - 1] != '\n')
            at--;
        for (end = at; end < n && text[end] != '\n'; end++)
            ;
        end += end < n;
        uint32_t how = check_below(rng, 3);
        f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(text, 1, at, f);
        if (how != 0)
            fprintf(f, "    x = %u;\n", check_below(rng, 1000));
        if (how == 2)
            fwrite(text + at, 1, end - at, f);
        fwrite(text + end, 1, n - end, f);
        fclose(f);
    }
}

static void random_edits(void **state)
{
    uint64_t rng = check_seed();
    uint32_t n_round = check_is_full() ? 60 : check_sample(4), n_subject = 0, n_definition = 0;
    (void)state;
    for (uint32_t round = 0; check_goes_on(round, n_round, n_definition > 10 && n_subject > 10); round++) {
        static const struct {
            const char *spec;
            bool is_staged;
            const char *show;
        } how[] = {
            {NULL, false, "cat "},
            {NULL, true, "git show :"},
            {"HEAD~1..HEAD", false, "git show HEAD:"},
            {"HEAD~1", false, "cat "},
        };
        char tree[32], dir[512];
        snprintf(tree, sizeof(tree), "s%u", round);
        tree_make(tree, 12, &rng);
        snprintf(dir, sizeof(dir), "%s", files_path(tree));
        shell(dir,
              "git init -q && git config user.email a@b && git config user.name a && git add -A && git commit -qm one");
        tree_change(tree, 3, &rng);
        edit_lines(tree, 8, &rng);
        shell(dir, "git add -A && git commit -q --allow-empty -m two");
        edit_lines(tree, 6, &rng);
        shell(dir, "git add -A");
        tree_change(tree, 2, &rng);
        edit_lines(tree, 6, &rng);
        for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
            bed b;
            myth_diff d;
            myth_changes c;
            myth_select_counts counts;
            myth_error err = {0};
            char *text;
            size_t n;
            bed_open(&b, tree, how[k].spec, how[k].is_staged, false);
            assert_int_equal(myth_revision_diff(b.side, &text, &n, &err), MYTH_OK);
            if (myth_diff_parse(&d, mem, text, n, &err) != MYTH_OK ||
                myth_select_diff(&c, b.select, b.m, &d, true, &counts, &err) != MYTH_OK)
                fail_msg("%s", err.msg);
            check_selection(&b, &d, &c);
            compare_side(&b, how[k].show);
            n_subject += counts.n_subject;
            n_definition += c.n_definition;
            myth_changes_free(&c);
            myth_diff_free(&d);
            myth_free(mem, text);
            bed_close(&b);
        }
    }
    printf("%u subjects of %u definitions\n", n_subject, n_definition); /* subjects that touch are joined */
    assert_true(n_definition > 10 && n_subject > 10);
}

/* Compares our difference with git's own after random changes to a random tree. git is told to choose as we do where
 * several differences are equally short. */
static void compare_with_git(const char *tree, uint64_t *rng, unsigned *n_renamed)
{
    static const struct {
        const char *spec;
        bool is_staged;
        const char *git;
    } how[] = {
        {NULL, false, "HEAD"},
        {NULL, true, "--cached"},
        {"HEAD~1..HEAD", false, "HEAD~1 HEAD"},
        {"HEAD~1", false, "HEAD~1"},
        {"HEAD~1...HEAD", false, "HEAD~1...HEAD"},
        {"HEAD~1", true, "--cached HEAD~1"},
    };
    char dir[512], line[2048];
    tree_make(tree, 20, rng);
    snprintf(dir, sizeof(dir), "%s", files_path(tree));
    shell(dir,
          "git init -q && git config user.email a@b && git config user.name a && git add -A && git commit -qm one");
    tree_change(tree, 12, rng);
    shell(dir, "git add -A && git commit -qm two");
    tree_change(tree, 6, rng);
    shell(dir, "git add -A");
    tree_change(tree, 4, rng);
    for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
        myth_revision *r;
        myth_diff ours, theirs;
        myth_error err = {0};
        char *text;
        size_t n, n_git;
        if (myth_revision_open(&r, mem,
                               &(myth_revision_opts){.root = dir, .spec = how[k].spec, .is_staged = how[k].is_staged},
                               &err) != MYTH_OK ||
            myth_revision_diff(r, &text, &n, &err) != MYTH_OK || myth_diff_parse(&ours, mem, text, n, &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        snprintf(line, sizeof(line), "cd '%s' && git -c diff.indentHeuristic=false -c core.quotepath=true diff -M %s",
                 dir, how[k].git);
        FILE *p = popen(line, "r");
        assert_non_null(p);
        char *git = malloc(4 << 20);
        assert_non_null(git);
        n_git = fread(git, 1, 4 << 20, p);
        assert_int_equal(pclose(p), 0);
        assert_int_equal(myth_diff_parse(&theirs, mem, git, n_git, &err), MYTH_OK);
        assert_int_equal(ours.n_file, theirs.n_file);
        for (uint32_t i = 0; i < ours.n_file; i++) {
            assert_string_equal(ours.file[i].path, theirs.file[i].path);
            assert_int_equal(ours.file[i].kind, theirs.file[i].kind);
            assert_int_equal(ours.file[i].n_added, theirs.file[i].n_added);
            *n_renamed += ours.file[i].kind == MYTH_DIFF_RENAMED;
            if (ours.file[i].n_added)
                assert_memory_equal(ours.file[i].added, theirs.file[i].added,
                                    ours.file[i].n_added * sizeof(*ours.file[i].added));
        }
        assert_true(ours.n_file > 0);
        free(git);
        myth_diff_free(&ours);
        myth_diff_free(&theirs);
        myth_free(mem, text);
        myth_revision_close(r);
    }
}

/* Files of one kind have much in common: in a fifth of such trees libgit2's own measure of similarity sees other
 * renamings than git. */
static void revisions_are_as_git_has_them(void **state)
{
    uint64_t rng = check_seed() + 1;
    unsigned n_renamed = 0;
    (void)state;
    for (unsigned round = 0; round < (check_is_full() ? 60 : 5); round++) {
        char tree[16];
        snprintf(tree, sizeof(tree), "g%u", round);
        compare_with_git(tree, &rng, &n_renamed);
    }
    printf("%u renamed files\n", n_renamed);
    assert_true(n_renamed > 0);
}

/* ---- a small tree by hand ---- */

static void put_project(void)
{
    files_mkdir("p");
    files_mkdir("p/conf");
    files_mkdir("p/tests");
    files_text("p/store.py", "import json\n\n\nclass Store:\n    \"\"\"Sessions.\"\"\"\n\n    def load(self, key):\n   "
                             "     def inner(v):\n            return json.loads(v)\n"
                             "        return inner(key)\n\n    def size(self):\n        return 0\n\n\nLIMIT = "
                             "5\n\n\ndef other(x):\n    return x\n");
    files_text("p/app.py", "from store import Store\nimport os\n\n\ndef handler(request):\n    ttl = "
                           "os.environ['SESSION_TTL']\n    return Store().load(request)\n");
    files_text("p/conf/app.toml", "title = 'x'\n\n[session]\nttl = 5\n\n[database]\nurl = 'y'\n");
    files_text("p/tests/test_store.py",
               "from store import Store\n\n\ndef test_load():\n    assert Store().load('1') == 1\n");
}

static void expect_context(bed *b, const char *request, const char *path, uint32_t line)
{
    char near[256];
    uint32_t n = myth_select_context(b->select, request, b->m, 0, near, sizeof(near));
    if (n == 0 || !piece_at(b->m, path, line, false))
        fail_msg("%s: %u pieces, %s:%u is not there; \"%s\"", request, n, path, line, near);
}

static void expect_near(bed *b, const char *request, const char *word)
{
    char near[256];
    uint32_t n = myth_select_context(b->select, request, b->m, 0, near, sizeof(near));
    if (n != 0 || !strstr(near, word))
        fail_msg("%s: %u pieces, \"%s\", expected \"%s\"", request, n, near, word);
}

static void requests(void **state)
{
    bed b;
    myth_select_counts counts;
    char near[64], longest[1000];
    (void)state;
    put_project();
    bed_open(&b, "p", NULL, false, true);
    assert_int_equal(myth_select_symbol(b.select, b.m, "other", NULL, &counts, NULL), MYTH_OK);
    assert_int_equal(counts.n_subject, 1);
    expect_context(&b, "store.py::Store.size", "store.py", 12);
    expect_context(&b, "Store.load", "store.py", 7);
    expect_near(&b, "Store.load", "shown above");
    expect_context(&b, "config::SESSION_TTL", "app.py", 6);
    expect_context(&b, "config::database", "conf/app.toml", 6);
    expect_context(&b, "tests/test_store.py", "tests/test_store.py", 4);
    expect_near(&b, "app.py::handler", "shown above");          /* was shown with the lines around the key */
    expect_context(&b, "wrong/path.py::LIMIT", "store.py", 16); /* one definition has the name */
    expect_near(&b, "store.py::Store.laod", "load (store.py)");
    expect_near(&b, "nothing.py::zzqqyy", "");
    expect_near(&b, "../../etc/passwd", "");
    expect_near(&b, "/etc/passwd", "");
    expect_near(&b, "::", "");
    expect_near(&b, "", "expected");
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    expect_near(&b, longest, "expected");
    assert_int_equal(myth_select_context(b.select, "store.py::Store.laod", b.m, 0, near, 8), 0);
    assert_true(strlen(near) < 8);
    bed_close(&b);
}

static void diff_of_a_patch(void **state)
{
    static const char patch[] = "--- a/store.py\n+++ b/store.py\n@@ -8,2 +8,2 @@\n         def inner(v):\n-            "
                                "return eval(v)\n+            return json.loads(v)\n"
                                "@@ -12,3 +12,2 @@\n     def size(self):\n-        check()\n         return 0\n@@ -16 "
                                "+16 @@\n-LIMIT = 4\n+LIMIT = 5\n"
                                "--- a/gone.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n--- a/app.py\n+++ b/app.py\n@@ "
                                "-70 +70 @@\n-a\n+b\n--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n";
    bed b;
    myth_diff d;
    myth_changes c;
    myth_select_counts counts;
    char task[2048];
    (void)state;
    bed_open(&b, "p", NULL, false, true);
    assert_int_equal(myth_diff_parse(&d, mem, patch, sizeof(patch) - 1, NULL), MYTH_OK);
    assert_int_equal(myth_select_diff(&c, b.select, b.m, &d, true, &counts, NULL), MYTH_OK);
    assert_int_equal(c.n_shown, 1);
    assert_int_equal(c.n_deleted, 1);
    assert_int_equal(c.n_missed, 2); /* a file of another version, a missing one */
    assert_string_equal(piece_at(b.m, "store.py", 9, true)->symbol, "load.inner"); /* the innermost definition */
    assert_null(piece_at(b.m, "store.py", 7, true));
    assert_string_equal(piece_at(b.m, "store.py", 12, true)->symbol, "Store.size");
    assert_non_null(piece_at(b.m, "store.py", 16, true));
    assert_null(piece_at(b.m, "store.py", 19, true));
    /* the removed lines are kept with the file, each place with its own */
    const myth_source *src = myth_material_of(b.m, piece_at(b.m, "store.py", 9, true)->source);
    assert_int_equal(src->n_removed, 3);
    assert_true(src->removed[1].before == 13 && src->removed[1].n_line == 1 && src->removed[1].len == 16);
    assert_memory_equal(src->removed[1].text, "        check()\n", 16);
    /* which findings the filters keep: a line next to removed ones is touched by the change, and not added */
    assert_true(myth_changes_want(&c, MYTH_FILTER_CHANGED, false, "store.py", 9, 9) &&
                myth_changes_want(&c, MYTH_FILTER_CHANGED, false, "store.py", 12, 12) &&
                !myth_changes_want(&c, MYTH_FILTER_ADDED, false, "store.py", 12, 12) &&
                !myth_changes_want(&c, MYTH_FILTER_CHANGED, false, "store.py", 10, 11) &&
                !myth_changes_want(&c, MYTH_FILTER_CHANGED, false, "app.py", 1, 1));
    assert_true(myth_changes_want(&c, MYTH_FILTER_ADDED, false, "store.py", 9, 9) &&
                !myth_changes_want(&c, MYTH_FILTER_ADDED, false, "store.py", 8, 8));
    assert_true(myth_changes_want(&c, MYTH_FILTER_CONTEXT, false, "store.py", 8, 8) &&
                !myth_changes_want(&c, MYTH_FILTER_CONTEXT, false, "store.py", 19, 19));
    assert_true(myth_changes_want(&c, MYTH_FILTER_FILE, false, "store.py", 19, 19) &&
                !myth_changes_want(&c, MYTH_FILTER_FILE, false, "app.py", 1, 1));
    assert_true(myth_changes_want(&c, MYTH_FILTER_NONE, false, "anything", 1, 1));
    /* a regression is cited where the code is that relied on the change, unless a filter was asked for */
    assert_true(myth_changes_want(&c, MYTH_FILTER_CHANGED, true, "store.py", 10, 11) &&
                myth_changes_want(&c, MYTH_FILTER_CHANGED, true, "app.py", 1, 1) &&
                !myth_changes_want(&c, MYTH_FILTER_ADDED, true, "store.py", 12, 12) &&
                !myth_changes_want(&c, MYTH_FILTER_FILE, true, "app.py", 1, 1));
    /* the task names risks, changed lines and removed code; it is cut to its number of ranges and to its room */
    size_t n = myth_changes_task(task, sizeof(task), &c, false, 64);
    assert_int_equal(n, strlen(task));
    assert_true(strstr(task, "regression") && strstr(task, "security risks") &&
                strstr(task, "store.py: changed 9, 16; 1 line removed before 9"));
    assert_non_null(strstr(task, "Removed in all: 5 lines, with 1 whole file, not all shown."));
    assert_null(strstr(task, "app.py"));
    myth_changes_task(task, sizeof(task), &c, false, 1);
    assert_non_null(strstr(task, "and 4 more changed ranges"));
    assert_true(myth_changes_task(task, 20, &c, false, 64) == n && strlen(task) == 19);
    myth_changes_free(&c);
    myth_diff_free(&d);
    bed_close(&b);
}

/* What assigns a variable or returns it is context behind what calls it, in the stead of callers. */
static void users_of_a_variable(void **state)
{
    static const char text[] =
        "int g_level = 0;\nvoid set(int n)\n{\n    g_level = n;\n}\n\nint get(void)\n{\n    return "
        "g_level;\n}\n\nint sum(int n)\n{\n    return n + g_level;\n}\n";
    bed b;
    myth_select_counts counts;
    myth_error err = {0};
    (void)state;
    files_put_deep("users/level.c", text, strlen(text));
    bed_open(&b, "users", NULL, false, true);
    assert_int_equal(myth_select_symbol(b.select, b.m, "g_level", NULL, &counts, &err), MYTH_OK);
    assert_int_equal(counts.n_subject, 1);
    assert_int_equal(counts.n_context, 2);
    assert_string_equal(piece_at(b.m, "level.c", 4, false)->why, "user: assigns it");
    assert_string_equal(piece_at(b.m, "level.c", 9, false)->why, "user: returns it");
    assert_null(piece_at(b.m, "level.c", 14, false)); /* it is not certain what it does */
    bed_close(&b);
}

static void symbol_and_topic(void **state)
{
    bed b;
    myth_select_counts counts;
    myth_error err = {0};
    (void)state;
    bed_open(&b, "p", NULL, false, true);
    assert_int_equal(myth_select_symbol(b.select, b.m, "Store.load", NULL, &counts, &err), MYTH_OK);
    assert_int_equal(counts.n_subject, 1);
    assert_string_equal(piece_at(b.m, "store.py", 7, true)->symbol, "Store.load");
    assert_string_equal(piece_at(b.m, "app.py", 7, false)->symbol, "handler");
    assert_true(strncmp(piece_at(b.m, "app.py", 7, false)->why, "caller: imports store", 21) == 0);
    assert_true(strncmp(piece_at(b.m, "tests/test_store.py", 5, false)->why, "test: ", 6) == 0);
    bed_close(&b);
    bed_open(&b, "p", NULL, false, true);
    assert_int_equal(myth_select_symbol(b.select, b.m, "Store.laod", NULL, &counts, &err), MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "load (store.py)"));
    assert_int_equal(myth_select_topic(b.select, b.m, "load sessions", 5, &(myth_search_opts){0}, &counts, &err),
                     MYTH_OK);
    assert_true(counts.n_subject >= 2);
    for (uint32_t i = 1; i < myth_material_n_piece(b.m); i++)
        assert_true(myth_material_piece(b.m, i)->score <= myth_material_piece(b.m, i - 1)->score);
    assert_int_equal(myth_select_topic(b.select, b.m, "zzqqyy", 5, &(myth_search_opts){0}, &counts, &err),
                     MYTH_ENOTFOUND);
    bed_close(&b);
}

/* A block of several definitions bears the name of the one that was found, not of the first. */
static void a_topic_names_what_was_found(void **state)
{
    bed b;
    myth_select_counts counts;
    (void)state;
    files_mkdir("n");
    files_text("n/door.py",
               "def first(x):\n    return x\n\n\nclass Door:\n    wood: str\n\n    def unlock(self, key):\n"
               "        return key.turn()\n");
    bed_open(&b, "n", NULL, false, true);
    assert_int_equal(
        myth_select_topic(b.select, b.m, "where is the key turned", 5, &(myth_search_opts){0}, &counts, NULL), MYTH_OK);
    assert_string_equal(piece_at(b.m, "door.py", 9, true)->symbol, "Door.unlock");
    bed_close(&b);
}

/* When a hit is only a part of a definition, more of the definition is added as context. */
static void parts_have_neighbours(void **state)
{
    static char text[40000];
    bed b;
    myth_select_counts counts;
    size_t n = (size_t)sprintf(text, "def long_one(x):\n");
    bool has_neighbour = false;
    (void)state;
    files_mkdir("l");
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(
            text + n, i == 150 ? "    zebra_crossing = x + %d\n" : "    value_number_%d = compute_something(x, %d)\n",
            i, i);
    files_put("l/long.py", text, n);
    bed_open(&b, "l", NULL, false, true);
    assert_int_equal(myth_select_topic(b.select, b.m, "zebra crossing", 5, &(myth_search_opts){0}, &counts, NULL),
                     MYTH_OK);
    assert_non_null(piece_at(b.m, "long.py", 152, true));
    for (uint32_t i = 0; i < myth_material_n_piece(b.m); i++)
        has_neighbour |= !myth_material_piece(b.m, i)->is_subject;
    assert_true(has_neighbour && counts.n_context > 0);
    bed_close(&b);
}

/* ---- a ranker ---- */

typedef struct {
    uint32_t n_call, n;
    char question[320];
} ranked;

/* Reverses the order, and records the question and how many candidates it was given. */
static myth_status rank_backwards(void *user, const char *question, const myth_candidate *c, uint32_t n,
                                  uint32_t *order, myth_error *err)
{
    ranked *r = user;
    (void)err;
    r->n_call++;
    r->n = n;
    snprintf(r->question, sizeof(r->question), "%s", question);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = n - 1 - i;
        assert_true(c[i].path[0] && c[i].n_text > 0 && c[i].line >= 1);
    }
    return MYTH_OK;
}

static myth_status rank_fails(void *user, const char *question, const myth_candidate *c, uint32_t n, uint32_t *order,
                              myth_error *err)
{
    (void)user, (void)question, (void)c, (void)n, (void)order;
    return myth_fail(err, MYTH_ECANCEL, "stopped");
}

static void a_ranker_chooses(void **state)
{
    static char text[8192];
    ranked r = {0};
    bed b;
    myth_select_counts counts;
    myth_error err = {0};
    size_t n = (size_t)sprintf(text, "def target(x):\n    return x\n\n\n");
    (void)state;
    files_mkdir("k");
    for (int i = 0; i < 20; i++)
        n += (size_t)sprintf(text + n, "def caller_%02d(x):\n    return target(x + %d)\n\n\n", i, i);
    files_put("k/k.py", text, n);
    bed_open(&b, "k", NULL, false, true);
    assert_int_equal(myth_select_symbol(b.select, b.m, "target", NULL, &counts, &err), MYTH_OK);
    assert_int_equal(counts.n_context, MYTH_SELECT_CALLERS);
    assert_int_equal(counts.n_more, 20 - MYTH_SELECT_CALLERS);
    assert_non_null(piece_at(b.m, "k.py", 6, false)); /* one of the first callers */
    assert_null(piece_at(b.m, "k.py", 5 + 4 * 19 + 1, false));
    bed_close(&b);
    bed_open(&b, "k", NULL, false, true);
    myth_select_set_rank(b.select, rank_backwards, &r);
    assert_int_equal(myth_select_symbol(b.select, b.m, "target", NULL, &counts, &err), MYTH_OK);
    assert_true(r.n_call == 1 && r.n == 20 && strstr(r.question, "target"));
    assert_null(piece_at(b.m, "k.py", 6, false));
    assert_string_equal(piece_at(b.m, "k.py", 5 + 4 * 19 + 1, false)->symbol, "caller_19");
    bed_close(&b);
    bed_open(&b, "k", NULL, false, true);
    r = (ranked){0};
    myth_select_set_rank(b.select, rank_backwards, &r);
    assert_int_equal(myth_select_topic(b.select, b.m, "caller target", 5, &(myth_search_opts){0}, &counts, &err),
                     MYTH_OK);
    assert_true(r.n_call <= 1 && strcmp(r.n_call ? r.question : "caller target", "caller target") == 0 &&
                counts.n_subject <= 5);
    bed_close(&b);
    bed_open(&b, "k", NULL, false, true);
    myth_select_set_rank(b.select, rank_fails, NULL);
    assert_int_equal(myth_select_symbol(b.select, b.m, "target", NULL, &counts, &err), MYTH_ECANCEL);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_edits),
        cmocka_unit_test(revisions_are_as_git_has_them),
        cmocka_unit_test(requests),
        cmocka_unit_test(diff_of_a_patch),
        cmocka_unit_test(users_of_a_variable),
        cmocka_unit_test(symbol_and_topic),
        cmocka_unit_test(a_topic_names_what_was_found),
        cmocka_unit_test(parts_have_neighbours),
        cmocka_unit_test(a_ranker_chooses),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
