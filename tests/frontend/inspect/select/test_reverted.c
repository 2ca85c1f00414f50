/* test_reverted.c - thirty fixes taken back, of the kinds that repair crashes and holes, in six languages: the prompt
 * shows the guard that is gone, the definition that it guarded, a caller and a test, and what a model reports is about
 * the change. Needs git. (test_fixes.sh takes back fixes of other projects.) */
#include "tests/frontend/cli/cli_run.h"

#include <limits.h>

static cli_result r;

/* The files of a language; the guarded function is `head`, the guard, `tail`. */
typedef struct {
    const char *path, *head, *tail;
    const char *caller_path, *caller, *caller_name;
    const char *test_path, *test, *test_name;
} language;

enum { C, PYTHON, GO, RUST, JAVASCRIPT, JAVA };
static const language languages[] = {
    [C] = {"src/pool.c", "int before(void)\n{\n\treturn 1;\n}\n\nint pool_get(struct pool *p, int at)\n{\n",
           "\tint v = p->row[at];\n\treturn v / p->scale;\n}\n\nint behind(void)\n{\n\treturn 2;\n}\n", "src/serve.c",
           "int serve(struct pool *p)\n{\n\treturn pool_get(p, p->at);\n}\n", "serve", "tests/test_pool.c",
           "int test_get(void)\n{\n\treturn pool_get(0, 1) == -1;\n}\n", "test_get"},
    [PYTHON] = {"src/pool.py", "def before():\n    return 1\n\n\ndef pool_get(p, at):\n",
                "    v = p.row[at]\n    return v / p.scale\n\n\ndef behind():\n    return 2\n", "src/serve.py",
                "from src.pool import pool_get\n\n\ndef serve(p):\n    return pool_get(p, p.at)\n", "serve",
                "tests/test_pool.py",
                "from src.pool import pool_get\n\n\ndef test_get():\n    assert pool_get(None, 1) is None\n",
                "test_get"},
    [GO] = {"pool/pool.go",
            "package pool\n\nfunc Before() int {\n\treturn 1\n}\n\nfunc PoolGet(p *Pool, at int) int {\n",
            "\tv := p.row[at]\n\treturn v / p.scale\n}\n", "pool/serve.go",
            "package pool\n\nfunc Serve(p *Pool) int {\n\treturn PoolGet(p, p.at)\n}\n", "Serve", "pool/pool_test.go",
            "package pool\n\nimport \"testing\"\n\nfunc TestGet(t *testing.T) {\n\tif PoolGet(nil, 1) != -1 {\n"
            "\t\tt.Fatal()\n\t}\n}\n",
            "TestGet"},
    [RUST] = {"src/pool.rs", "pub fn before() -> i32 {\n    1\n}\n\npub fn pool_get(p: &Pool, at: usize) -> i32 {\n",
              "    let v = p.row[at];\n    v / p.scale\n}\n", "src/serve.rs",
              "use crate::pool::pool_get;\n\npub fn serve(p: &Pool) -> i32 {\n    pool_get(p, p.at)\n}\n", "serve",
              "tests/pool.rs",
              "#[test]\nfn test_get() {\n    let v = pool_get(&empty(), 1);\n    assert_eq!(v, -1);\n}\n", "test_get"},
    [JAVASCRIPT] =
        {"src/pool.js", "export function before() {\n  return 1;\n}\n\nexport function poolGet(p, at) {\n",
         "  const v = p.row[at];\n  return v / p.scale;\n}\n", "src/serve.js",
         "import { poolGet } from './pool.js';\n\nexport function serve(p) {\n  return poolGet(p, p.at);\n}\n", "serve",
         "tests/pool.test.js",
         "import { poolGet } from '../src/pool.js';\n\nfunction testGet() {\n  return poolGet(null, 1);\n}\n",
         "testGet"},
    [JAVA] = {"src/Pool.java",
              "class Pool {\n    static int before() {\n        return 1;\n    }\n\n"
              "    static int poolGet(Pool p, int at) {\n",
              "        int v = p.row[at];\n        return v / p.scale;\n    }\n}\n", "src/Serve.java",
              "class Serve {\n    int serve(Pool p) {\n        return Pool.poolGet(p, p.at);\n    }\n}\n",
              "Serve.serve", "src/test/PoolTest.java",
              "class PoolTest {\n    @Test\n    void testGet() {\n        assertEquals(-1, Pool.poolGet(null, 1));\n"
              "    }\n}\n",
              "PoolTest.testGet"},
};
static const char *const guarded[] = {"pool_get", "pool_get", "PoolGet", "pool_get", "poolGet", "Pool.poolGet"};

static const struct {
    int language;
    const char *guard;
} fixes[] = {
    {C, "\tif (!p)\n\t\treturn -1;\n"},
    {C, "\tif (at < 0 || at >= p->n_row)\n\t\treturn -1;\n"},
    {C, "\tif (p->scale == 0)\n\t\treturn 0;\n"},
    {C, "\tif (p->is_closed)\n\t\treturn -1; /* its memory is freed */\n"},
    {C, "\tif ((size_t)at > SIZE_MAX / sizeof(*p->row))\n\t\treturn -1;\n"},
    {PYTHON, "    if p is None:\n        return None\n"},
    {PYTHON, "    if not 0 <= at < len(p.row):\n        raise IndexError(at)\n"},
    {PYTHON, "    if \"..\" in p.name.split(\"/\"):\n        raise ValueError(p.name)\n"},
    {PYTHON, "    if not p.user.may_read:\n        raise PermissionError(p.user)\n"},
    {PYTHON, "    if p.scale == 0:\n        return 0\n"},
    {GO, "\tif p == nil {\n\t\treturn -1\n\t}\n"},
    {GO, "\tif at < 0 || at >= len(p.row) {\n\t\treturn -1\n\t}\n"},
    {GO, "\tif p.scale == 0 {\n\t\treturn 0\n\t}\n"},
    {GO, "\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n"},
    {GO, "\tif err := p.check(); err != nil {\n\t\treturn -1\n\t}\n"},
    {RUST, "    if at >= p.row.len() {\n        return -1;\n    }\n"},
    {RUST, "    if p.scale == 0 {\n        return 0;\n    }\n"},
    {RUST, "    let Some(_) = p.owner.as_ref() else {\n        return -1;\n    };\n"},
    {RUST, "    if p.row.len().checked_mul(4).is_none() {\n        return -1;\n    }\n"},
    {RUST, "    assert!(!p.is_closed, \"closed\");\n"},
    {JAVASCRIPT, "  if (!p) {\n    return null;\n  }\n"},
    {JAVASCRIPT, "  if (!Object.hasOwn(p.row, at)) {\n    return undefined;\n  }\n"},
    {JAVASCRIPT, "  if (at === '__proto__' || at === 'constructor') {\n    throw new TypeError(at);\n  }\n"},
    {JAVASCRIPT, "  if (p.token !== p.session.token) {\n    throw new Error('forbidden');\n  }\n"},
    {JAVASCRIPT, "  if (p.scale === 0) return 0;\n"},
    {JAVA, "        if (p == null) {\n            return -1;\n        }\n"},
    {JAVA, "        if (at < 0 || at >= p.row.length) {\n            return -1;\n        }\n"},
    {JAVA, "        if (p.scale == 0) {\n            return 0;\n        }\n"},
    {JAVA,
     "        if (!p.root.contains(p.path.normalize())) {\n            throw new SecurityException();\n        }\n"},
    {JAVA, "        Objects.checkIndex(at, p.size());\n"},
};
enum { N_FIX = sizeof(fixes) / sizeof(fixes[0]) };
_Static_assert(N_FIX == 30, "thirty fixes");

static void put_file(const char *path, const char *head, const char *guard, const char *tail)
{
    char name[PATH_MAX], line[2 * PATH_MAX];
    snprintf(name, sizeof(name), "%s/r/%s", cli_dir, path);
    snprintf(line, sizeof(line), "mkdir -p '%.*s'", (int)(strrchr(name, '/') - name), name);
    assert_int_equal(system(line), 0);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fprintf(f, "%s%s%s", head, guard, tail);
    fclose(f);
}

/* A repository with the fix in its commit and without it in the work tree. */
static void take_back(const language *l, const char *guard)
{
    cli_shell(&r, "rm -rf $D/r $D/cache");
    put_file(l->path, l->head, guard, l->tail);
    put_file(l->caller_path, l->caller, "", "");
    put_file(l->test_path, l->test, "", "");
    cli_shell(&r, "cd $D/r && git init -q && git add -A && git -c user.name=n -c user.email=e@e commit -qm 1");
    if (r.code)
        fail_msg("%s", r.err);
    put_file(l->path, l->head, "", l->tail);
}

static void has_block(uint32_t i, const char *path, const char *symbol)
{
    char head[512];
    const char *at = r.out;
    size_t n = (size_t)snprintf(head, sizeof(head), "<file path=\"%s\" lines=\"", path);
    snprintf(head + n + 1, sizeof(head) - n - 1, "\" symbol=\"%s\">\n", symbol);
    for (; (at = strstr(at, head)); at += n) {
        const char *end = at + n + strspn(at + n, "0123456789-");
        if (strncmp(end, head + n + 1, strlen(head + n + 1)) == 0)
            return;
    }
    fail_msg("fix %u: no block of %s in %s:\n%s", i, symbol, path, strstr(r.out, "Code:"));
}

static void has_guard(uint32_t i, const char *path, const char *guard)
{
    char want[1024];
    size_t n = (size_t)snprintf(want, sizeof(want), "<removed path=\"%s\" before=\"", path);
    const char *at = strstr(r.out, want);
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    n = 0;
    for (const char *p = guard; *p; p = strchr(p, '\n') + 1)
        n += (size_t)snprintf(want + n, sizeof(want) - n, "-|%.*s\n", (int)strcspn(p, "\n"), p);
    snprintf(want + n, sizeof(want) - n, "</removed>\n");
    if (strncmp(at, want, strlen(want)) != 0)
        fail_msg("fix %u: no\n%s\nin\n%s", i, want, at);
}

static void the_guard_is_in_the_prompt(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_FIX; i++) {
        const language *l = &languages[fixes[i].language];
        take_back(l, fixes[i].guard);
        cli_shell(&r,
                  "cd $D/r && { $M inspect-diff --no-cache --map-tokens 1 " TINY "-n 1 >$D/report; test $? = 3; } && "
                  "$M log show last --prompts");
        assert_int_equal(r.code, 0);
        has_guard(i, l->path, fixes[i].guard);
        has_block(i, l->path, guarded[fixes[i].language]);
        has_block(i, l->caller_path, l->caller_name);
        has_block(i, l->test_path, l->test_name);
    }
}

/* Inspects with a random model, and counts its findings that are beside the gap, and those that were dropped because
 * they are about other lines. The code that relied on a change may be anywhere, so a regression is not looked at. */
static void count_findings(const language *l, uint32_t seed, uint32_t *n_beside, uint32_t *n_dropped)
{
    static char line[512];
    int before = 1; /* the line behind the gap */
    size_t i;
    json_t *f;
    for (const char *p = l->head; *p; p++)
        before += *p == '\n';
    snprintf(line, sizeof(line),
             "cd $D/r && { $M inspect-diff --no-cache --exact --map-tokens 1 " TINY
             "--temp 1 --seed %u -n 1500 --fail-level never --format json; test $? = 0 -o $? = 3; }",
             seed);
    cli_shell(&r, line);
    json_t *doc = json_loads(r.out, 0, NULL);
    if (!doc)
        fail_msg("%s\n%s", line, r.err);
    json_array_foreach(json_object_get(doc, "findings"), i, f)
    {
        const json_t *lines = json_object_get(f, "lines");
        if (strcmp(json_string_value(json_object_get(f, "rule")), "regression") == 0)
            continue;
        assert_string_equal(json_string_value(json_object_get(f, "file")), l->path);
        assert_true(json_integer_value(json_array_get(lines, 0)) <= before);
        assert_true(json_integer_value(json_array_get(lines, 1)) >= before - 1);
        ++*n_beside;
    }
    *n_dropped += (uint32_t)json_integer_value(json_object_get(doc, "unwanted_findings"));
    json_decref(doc);
}

static void findings_are_about_the_change(void **state)
{
    uint32_t n_beside = 0, n_dropped = 0;
    (void)state;
    for (int k = GO; k <= RUST; k++) { /* a run takes seconds */
        uint32_t i = 0;
        while (fixes[i].language != k)
            i++;
        take_back(&languages[k], fixes[i].guard);
        count_findings(&languages[k], (uint32_t)k, &n_beside, &n_dropped);
    }
    printf("%u findings beside the gaps, %u about other lines dropped\n", n_beside, n_dropped);
    assert_true(n_dropped > 0);
}

/* A definition that is longer than a prompt is cut; the part with the guard begins with the definition's head. */
static void a_guard_far_down_stands_below_the_head(void **state)
{
    enum { LINES = 700 };
    static const char top[] = "int before(void)\n{\n\treturn 1;\n}\n\n",
                      head[] = "int pool_fill(struct pool *p,\n              int at)\n{\n";
    static char body[LINES * 32], start[sizeof(body) + 256];
    size_t n = 0;
    (void)state;
    for (uint32_t i = 0; i < LINES; i++)
        n += (size_t)snprintf(body + n, sizeof(body) - n, "\tp->row[%u] = at + %u;\n", i, i);
    snprintf(start, sizeof(start), "%s%s%s", top, head, body);
    cli_shell(&r, "rm -rf $D/r $D/cache");
    put_file("src/fill.c", start, "\tif (p->is_closed)\n\t\treturn -1;\n", "\tfree(p->row);\n\treturn 0;\n}\n");
    cli_shell(&r, "cd $D/r && git init -q && git add -A && git -c user.name=n -c user.email=e@e commit -qm 1");
    put_file("src/fill.c", start, "", "\tfree(p->row);\n\treturn 0;\n}\n");
    cli_shell(&r, "cd $D/r && { $M inspect-diff --no-cache --map-tokens 1 " TINY "-n 1 >$D/report; test $? = 3; } && "
                  "$M log show last --prompts");
    if (r.code)
        fail_msg("%s", r.err);
    const char *gone = strstr(r.out, "<removed path=\"src/fill.c\" before=\"709\">\n-|\tif (p->is_closed)\n");
    assert_non_null(gone);
    const char *code = r.out, *next;
    while ((next = strstr(code + 1, "\nCode:\n")) && next < gone)
        code = next;
    static const char want[] = "\nCode:\n<file path=\"src/fill.c\" lines=\"6-7\" symbol=\"pool_fill\">\n"
                               "6|int pool_fill(struct pool *p,\n7|              int at)\n</file>\n"
                               "<file path=\"src/fill.c\" lines=\"";
    if (strncmp(code, want, sizeof(want) - 1) != 0)
        fail_msg("no\n%s\nin\n%.400s", want, code);
}

/* Lines that changed above a definition do not take its name away. */
static void a_changed_comment_leaves_the_name(void **state)
{
    static const char top[] = "int before(void)\n{\n\treturn 1;\n}\n\n/* Fills\n * the pool.\n";
    (void)state;
    cli_shell(&r, "rm -rf $D/r $D/cache");
    put_file("src/fill.c", top, " * Returns -1 when it is closed.\n */\nint pool_fill(struct pool *p)\n{\n",
             "\tif (p->is_closed)\n\t\treturn -1;\n\treturn 0;\n}\n");
    cli_shell(&r, "cd $D/r && git init -q && git add -A && git -c user.name=n -c user.email=e@e commit -qm 1");
    put_file("src/fill.c", top, " */\nint pool_fill(struct pool *p)\n{\n", "\treturn 0;\n}\n");
    cli_shell(&r, "cd $D/r && { $M inspect-diff --no-cache --map-tokens 1 " TINY "-n 1 >$D/report; test $? = 3; } && "
                  "$M log show last --prompts");
    static const char want[] = "<file path=\"src/fill.c\" lines=\"9-12\" symbol=\"pool_fill\">\n"
                               "9|int pool_fill(struct pool *p)\n10|{\n11|\treturn 0;\n12|}\n</file>\n"
                               "<removed path=\"src/fill.c\" before=\"11\">\n-|\tif (p->is_closed)\n";
    static const char above[] =
        "6|/* Fills\n7| * the pool.\n8| */\n</file>\n<removed path=\"src/fill.c\" before=\"8\">\n"
        "-| * Returns -1 when it is closed.\n</removed>\n";
    if (!strstr(r.out, want) || !strstr(r.out, above))
        fail_msg("no\n%s\nor\n%s\nin\n%s", want, above, strstr(r.out, "Code:"));
}

static int begin(void **state)
{
    static char home[PATH_MAX], cache[PATH_MAX];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(home, sizeof(home), "%s/state", cli_dir);
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    setenv("XDG_STATE_HOME", home, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    return 0;
}

int main(void)
{
    if (system("command -v git >/dev/null") != 0) {
        printf("no git\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guard_is_in_the_prompt),
        cmocka_unit_test(findings_are_about_the_change),
        cmocka_unit_test(a_guard_far_down_stands_below_the_head),
        cmocka_unit_test(a_changed_comment_leaves_the_name),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
