/* test_usage.c - who uses a name. A fixture in six languages has look-alikes, and every use in it is known;
 * qualified names, overloads, methods, re-exports, aliases, headers; nearest names; what changes when a file
 * changes. */
#include "tests/retrieval/index/index_tree.h"
#include "retrieval/retrieval.h"

static myth_mem *mem;
static myth_index *index_;

static const struct {
    const char *path, *text;
} files[] = {
    {"auth/__init__.py", "from .session import create_session, resolve\n"},
    {"auth/session.py", "\"\"\"Sessions.\"\"\"\nfrom auth import tokens\n\n\ndef resolve(token):\n    return "
                        "tokens.lookup(token)\n\n\ndef create_session(user):\n"
                        "    token = tokens.make_token(user)\n    return resolve(token)\n\n\nclass Session:\n    def "
                        "__init__(self, user):\n        self.user = user\n\n"
                        "    def open(self):\n        return self.check()\n\n    def check(self):\n        return "
                        "True\n\n\nclass Cursor:\n    def open(self):\n        return 1\n"},
    {"auth/tokens.py", "def lookup(token):\n    return token\n\n\ndef make_token(user):\n    return 't' + user\n"},
    {"billing/invoice.py",
     "def resolve(invoice):\n    return invoice\n\n\ndef pay(invoice):\n    return resolve(invoice)\n"},
    {"app.py", "from auth.session import resolve\nfrom auth.session import Session\nimport auth.session as "
               "sess\n\n\ndef handler(request):\n"
               "    return resolve(request.token)\n\n\ndef login(user):\n    s = Session(user)\n    s.open()\n    "
               "return sess.create_session(user)\n\n\n"
               "def dns(x):\n    return x.resolver.resolve(x)\n"},
    {"api.py", "from auth import (\n    create_session as make,\n    resolve,\n)\n\n\ndef start(user):\n    "
               "make(user)\n    return resolve(user)\n"},
    {"tests/test_session.py",
     "from auth.session import create_session\n\n\ndef test_create():\n    assert create_session('u')\n"},
    {"tests/test_tokens.py", "import auth.tokens\n\n\ndef test_nothing():\n    assert True\n"},
    {"include/queue.h", "#ifndef Q\nint queue_push(struct queue *q, int v);\n#endif\n"},
    {"src/queue.c", "#include \"queue.h\"\nint queue_push(struct queue *q, int v)\n{\n    return q->n + v;\n}\nstatic "
                    "int helper(void) { return 1; }\n"
                    "int queue_run(void) { return helper(); }\n"},
    {"include/pane.h", "struct pane_size {\n    int w;\n};\nvoid pane_size(struct pane_size *s, int w);\n"},
    {"src/pane.c", "#include \"pane.h\"\nvoid pane_size(struct pane_size *s, int w)\n{\n    s->w = w;\n}\n"},
    {"src/pane_user.c", "#include \"pane.h\"\nvoid grow(struct pane_size *s)\n{\n    pane_size(s, 2);\n}\n"},
    {"src/spelt.c", "int _spelt_out(void) { return 1; }\nint spelt_out(void) { return 2; }\n"},
    {"src/other.c", "static int helper(void) { return 2; }\nint other_run(void) { return helper(); }\n"},
    {"src/worker.c",
     "#include <queue.h>\nvoid work(struct queue *q)\n{\n    queue_push(q, 1);\n    queue_push(q, 2);\n}\n"},
    {"web/lib/session.ts",
     "export function parseCookie(s: string): string;\nexport function parseCookie(s: number): string;\n"
     "export function parseCookie(s: any): string { return String(s); }\nexport class Store { get(k: string) { return "
     "k; } }\n"},
    {"web/lib/index.ts", "export { parseCookie } from './session';\nexport * from './session';\n"},
    {"web/app.ts", "import { parseCookie } from './lib';\nimport { Store } from './lib/session';\n"
                   "export function main() { const s = new Store(); s.get('x'); return parseCookie('a'); }\n"},
    {"gopkg/auth/a.go", "package auth\n\ntype Session struct{}\n\nfunc Open(n int) int { return n }\n\nfunc (s "
                        "*Session) Close() int { return Open(1) }\n"},
    {"gopkg/auth/b.go", "package auth\n\nfunc both() int { return Open(2) }\n"},
    {"gopkg/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/shop/gopkg/auth\"\n)\n\nfunc main() { "
                      "fmt.Println(auth.Open(3)); s := auth.Session{}; s.Close() }\n"},
    {"rs/src/auth/mod.rs", "pub mod session;\npub use session::open_it;\n"},
    {"rs/src/auth/session.rs", "pub fn open_it(n: u32) -> u32 { n }\npub struct Sess;\nimpl Sess { pub fn "
                               "close_it(&self) -> u32 { open_it(1) } }\n"},
    {"rs/src/main.rs",
     "mod auth;\nuse crate::auth::session::{open_it, Sess};\nfn main() { let s = Sess; s.close_it(); open_it(2); }\n"},
    {"rs/src/lamp.rs", "pub fn light(n: u32) -> u32 { n }\n"},
    {"rs/src/desk.rs", "pub fn light(n: u32) -> u32 { n }\nfn both() { crate::lamp::light(1); }\n"},
    {"java/com/acme/auth/Session.java", "package com.acme.auth;\npublic class Session {\n    public int start(int n) { "
                                        "return n; }\n    public int start(String s) { return this.start(1); }\n}\n"},
    {"java/com/acme/app/App.java", "package com.acme.app;\nimport com.acme.auth.Session;\nclass App { int run() { "
                                   "Session s = new Session(); return s.start(2); } }\n"},
    {"wide/core/parts.ts", "export class Gadget {}\n"},
    {"wide/core/index.ts", "import { x } from \"./y\";\nexport { Gadget } from \"./parts\";\n"},
    {"wide/index.ts", "export * from \"./core\";\n"},
    {"wide/other/index.ts", "export * from \"./nothing\";\n"},
    {"named/a.ts", "export function forge() {}\n"},
    {"named/b.ts", "export function forge() {}\n"},
    {"named/index.ts", "import { forge as inside } from \"./a\";\nexport {\n  forge as smithy,\n} from \"./b\";\n"},
    {"named/lib.rs", "mod iron;\npub use crate::iron::Anvil as Block;\nuse crate::iron::Anvil as Own;\n"},
    {"named/iron.rs", "pub struct Anvil;\n"},
    {"named/__init__.py", "from .tools import hammer as mallet\n"},
    {"named/tools.py", "def hammer():\n    pass\n"},
    {"named/use.py", "from .tools import hammer as maul\n"},
    {"wheel/inner/gear.rs", "pub struct Cog;\n"},
    {"wheel/inner/mod.rs", "pub mod gear;\npub use gear::Cog;\n"},
    {"wheel/lib.rs", "mod inner;\npub use inner::*;\n"},
};

static void update(void)
{
    myth_index_stats stats;
    myth_error err = {0};
    if (myth_index_update(index_, &(myth_index_update_opts){0}, &stats, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static int begin(void **state)
{
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "u/%s", files[i].path);
        files_put_deep(path, files[i].text, strlen(files[i].text));
    }
    index_ = open_index("u", "u.db", mem, false);
    update();
    return 0;
}

static int end(void **state)
{
    (void)state;
    myth_index_close(index_);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* ---- what is said of a name, as lines: "path:line kind Parent.name", then "  c path:line within reason" for c in
 * callers, t, e, x ---- */

static void put_places(bytes *out, char mark, const myth_usage_places *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        char line[1024];
        const myth_usage_place *at = &p->place[i];
        snprintf(line, sizeof(line), " %c %s:%u %s%s%s %s\n", mark, at->path, at->line, at->parent,
                 at->parent[0] ? "." : "", at->name[0] ? at->name : "-", myth_why_name(at->strength));
        bytes_text(out, line);
        assert_true(at->why[0] != '\0' && at->line >= at->line0 && at->line <= at->line1 && at->n_use >= 1);
    }
}

static void expect(const char *name, const char *want)
{
    myth_usage u;
    myth_error err = {0};
    bytes out = {0};
    if (myth_usage_find(&u, index_, name, NULL, &err) != MYTH_OK)
        fail_msg("%s: %s", name, err.msg);
    for (uint32_t i = 0; i < u.n_definition; i++) {
        const myth_usage_definition *d = &u.definition[i];
        char line[1024];
        snprintf(line, sizeof(line), "%s:%u %s %s%s%s\n", d->path, d->line, myth_symbol_kind_name(d->kind), d->parent,
                 d->parent[0] ? "." : "", d->name);
        bytes_text(&out, line);
        put_places(&out, 'c', &d->callers);
        put_places(&out, 't', &d->tests);
        put_places(&out, 'e', &d->callees);
        put_places(&out, 'x', &d->exports);
    }
    bytes_put(&out, "", 1);
    if (strcmp((char *)out.data, want) != 0)
        fail_msg("%s is said to be\n%s---- expected\n%s", name, (char *)out.data, want);
    bytes_free(&out);
    myth_usage_free(&u);
}

/* Two functions of one name: every use finds its own, by file, by import, by what re-exports it. */
static void look_alikes(void **state)
{
    (void)state;
    expect("resolve",
           "auth/session.py:5 function resolve\n c auth/session.py:11 create_session file\n c app.py:7 handler "
           "import\n c api.py:9 start export\n"
           " c app.py:17 dns name\n t tests/test_session.py:1 - name\n e auth/tokens.py:1 lookup import\n x "
           "auth/__init__.py:1 - export\n"
           "billing/invoice.py:1 function resolve\n c billing/invoice.py:6 pay file\n c app.py:17 dns name\n");
    expect("helper", "src/other.c:1 function helper\n c src/other.c:2 other_run file\nsrc/queue.c:6 function helper\n "
                     "c src/queue.c:7 queue_run file\n");
}

/* A qualified name has the uses that it has beside the others of its name. */
static void qualified_names(void **state)
{
    static const char *const same[] = {"auth/session.py::resolve", "auth.session.resolve",
                                       "session.resolve",          "auth::session::resolve",
                                       "session.py::resolve",      "auth/session.py::resolve()"};
    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        expect(same[i], "auth/session.py:5 function resolve\n c auth/session.py:11 create_session file\n c app.py:7 "
                        "handler import\n c api.py:9 start export\n"
                        " c app.py:17 dns name\n t tests/test_session.py:1 - name\n e auth/tokens.py:1 lookup import\n "
                        "x auth/__init__.py:1 - export\n");
    expect("billing.invoice.resolve",
           "billing/invoice.py:1 function resolve\n c billing/invoice.py:6 pay file\n c app.py:17 dns name\n");
    expect("Session.open",
           "auth/session.py:18 method Session.open\n c app.py:12 login import\n t tests/test_session.py:1 - name\n"
           " e auth/session.py:21 Session.check file\n");
    expect("auth/session.py::Session.open",
           "auth/session.py:18 method Session.open\n c app.py:12 login import\n t tests/test_session.py:1 - name\n"
           " e auth/session.py:21 Session.check file\n");
    expect("Session::check", "auth/session.py:21 method Session.check\n c auth/session.py:19 Session.open file\n t "
                             "tests/test_session.py:1 - name\n");
    expect("Session.resolve", "");
    expect("nothing.resolve", "");
    expect("", "");
    expect("::", "");
    expect("a::", "");
}

static void imports_and_tests(void **state)
{
    (void)state;
    expect("create_session",
           "auth/session.py:9 function create_session\n c app.py:13 login import\n c api.py:8 start export\n"
           " t tests/test_session.py:5 test_create import\n e auth/session.py:5 resolve file\n e auth/tokens.py:5 "
           "make_token import\n"
           " x auth/__init__.py:1 - export\n");
    expect("lookup",
           "auth/tokens.py:1 function lookup\n c auth/session.py:6 resolve import\n t tests/test_tokens.py:1 - name\n");
}

static void languages(void **state)
{
    (void)state;
    expect("queue_push",
           "src/queue.c:2 function queue_push\n c src/worker.c:4 work import\n x include/queue.h:2 - export\n");
    expect("pane_size", /* a struct and a function of one name: a call means the function */
           "include/pane.h:1 type pane_size\n c include/pane.h:4 - file\n c src/pane.c:2 pane_size import\n"
           " c src/pane_user.c:2 grow import\nsrc/pane.c:2 function pane_size\n c src/pane_user.c:4 grow import\n"
           " x include/pane.h:4 - export\n");
    expect("Store.get",
           "web/lib/session.ts:4 method Store.get\n c web/app.ts:3 main import\n x web/lib/index.ts:2 - export\n");
    expect("Open", "gopkg/auth/a.go:5 function Open\n c gopkg/auth/a.go:7 Session.Close file\n c gopkg/main.go:8 main "
                   "import\n c gopkg/auth/b.go:3 both package\n");
    expect("Close", "gopkg/auth/a.go:7 method Session.Close\n c gopkg/main.go:8 main import\n e gopkg/auth/a.go:5 Open "
                    "file\n e gopkg/auth/a.go:3 Session file\n");
    expect("open_it", "rs/src/auth/session.rs:1 function open_it\n c rs/src/auth/session.rs:3 Sess.close_it file\n c "
                      "rs/src/main.rs:3 main import\n"
                      " x rs/src/auth/mod.rs:2 - export\n");
}

/* A path of Rust says which of two is meant, where it is asked and where it is called. */
static void paths_of_rust(void **state)
{
    static const char *const same[] = {"crate::lamp::light", "super::super::lamp::light", "lamp::light"};
    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        expect(same[i], "rs/src/lamp.rs:1 function light\n c rs/src/desk.rs:2 both qualified\n");
    expect("crate::desk::light", "rs/src/desk.rs:1 function light\n");
    expect("crate::nothing::light", "");
}

/* Overloads: three declarations of one function, two methods of one class. */
static void overloads(void **state)
{
    myth_usage u;
    (void)state;
    assert_int_equal(myth_usage_find(&u, index_, "parseCookie", NULL, NULL), MYTH_OK);
    assert_int_equal(u.n_definition, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(u.definition[i].line, i + 1);
        assert_int_equal(u.definition[i].callers.n, 1);
        assert_int_equal(u.definition[i].callers.place[0].strength, MYTH_WHY_EXPORT);
    }
    assert_string_equal(u.definition[2].signature, "export function parseCookie(s: any): string");
    myth_usage_free(&u);
    assert_int_equal(myth_usage_find(&u, index_, "Session.start", NULL, NULL), MYTH_OK);
    assert_int_equal(u.n_definition, 2);
    assert_int_equal(u.definition[0].callers.n, 2); /* the other overload, and App.run */
    assert_string_equal(u.definition[0].signature, "public int start(int n)");
    myth_usage_free(&u);
}

static void nearest_names(void **state)
{
    static const struct {
        const char *asked, *first;
    } row[] = {
        {"resovle", "resolve"},
        {"Session.opne", "open"},
        {"createSession", "create_session"},
        {"create_sesion", "create_session"},
        {"session_create", "create_session"},
        {"auth/tokens.py::make_tokne", "make_token"},
        {"parse_cookie", "parseCookie"},
        {"QUEUE_PUSH", "queue_push"},
        {"spelt_uot", "spelt_out"}, /* _spelt_out has the same letters */
        {"_spelt_uot", "_spelt_out"},
    };
    myth_near near[MYTH_NEAR_MAX];
    uint32_t n;
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        assert_int_equal(myth_usage_nearest(near, 5, &n, index_, row[i].asked, NULL), MYTH_OK);
        if (n == 0 || strcmp(near[0].name, row[i].first) != 0)
            fail_msg("%s: %s, expected %s", row[i].asked, n ? near[0].name : "nothing", row[i].first);
        for (uint32_t k = 1; k < n; k++)
            assert_true(near[k].score <= near[k - 1].score && strcmp(near[k].name, near[k - 1].name) != 0);
    }
    assert_int_equal(myth_usage_nearest(near, 5, &n, index_, "zzqqxxyy", NULL), MYTH_OK);
    assert_int_equal(n, 0);
    assert_int_equal(myth_usage_nearest(near, 5, &n, index_, "", NULL), MYTH_OK);
    assert_int_equal(n, 0);
    assert_string_equal((myth_usage_nearest(near, 1, &n, index_, "Session.opne", NULL), near[0].path),
                        "auth/session.py");
    /* of two definitions of a name the first */
    assert_string_equal((myth_usage_nearest(near, 1, &n, index_, "resovle", NULL), near[0].path), "auth/session.py");
    /* letters alone: no part in common */
    assert_int_equal(myth_usage_nearest(near, 2, &n, index_, "qheue_rusn", NULL), MYTH_OK);
    assert_int_equal(n, 2);
    assert_string_equal(near[0].name, "queue_run");
    assert_string_equal(near[1].name, "queue_push");
    assert_true(near[0].score == 1 - 2.0 / 9 && near[1].score == 1 - 3.0 / 9);
}

static void around_lines(void **state)
{
    static const struct {
        uint32_t line;
        const char *name;
        uint32_t line0, line1;
    } row[] = {
        {1, NULL, 0, 0},         {6, "resolve", 5, 6},  {15, "__init__", 15, 16},
        {14, "Session", 14, 22}, {22, "check", 21, 22}, {99, NULL, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_usage_around a;
        bool is_found;
        assert_int_equal(myth_usage_around_line(&a, &is_found, index_, "auth/session.py", row[i].line, NULL), MYTH_OK);
        assert_int_equal(is_found, row[i].name != NULL);
        if (is_found) {
            assert_string_equal(a.name, row[i].name);
            assert_int_equal(a.line0, row[i].line0);
            assert_int_equal(a.line1, row[i].line1);
        }
    }
}

/* A caller that is taken away is gone; one that comes is there. Last, because it changes the tree. */
static void follows_the_tree(void **state)
{
    (void)state;
    files_text("u/billing/invoice.py",
               "from auth.session import resolve\n\n\ndef pay(invoice):\n    return resolve(invoice)\n");
    files_text("u/app.py", "x = 1\n");
    update();
    expect("resolve",
           "auth/session.py:5 function resolve\n c auth/session.py:11 create_session file\n c billing/invoice.py:5 pay "
           "import\n c api.py:9 start export\n"
           " t tests/test_session.py:1 - name\n e auth/tokens.py:1 lookup import\n x auth/__init__.py:1 - export\n");
}

static void memory_that_runs_out(void **state)
{
    uint64_t step = check_is_full() ? 1 : 17;
    (void)state;
    for (uint64_t nth = 1;; nth += step) {
        myth_usage u;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_usage_find_all(&u, index_, "resolve", NULL, NULL);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK) {
            assert_true(nth > 17);
            myth_usage_free(&u);
            break;
        }
        assert_int_equal(st, MYTH_ENOMEM);
        assert_null(u.definition);
    }
}

/* What gives a name on from a file that gives it on is a re-export, too. */
static void reexports_of_reexports(void **state)
{
    (void)state;
    expect("Gadget",
           "wide/core/parts.ts:1 class Gadget\n x wide/core/index.ts:2 - export\n x wide/index.ts:1 - export\n");
    expect("Cog", "wheel/inner/gear.rs:1 type Cog\n x wheel/inner/mod.rs:2 - export\n x wheel/lib.rs:2 - export\n");
}

/* A name that only a re-export gives leads to the definition in the file that the statement means. */
static void renamed_by_a_reexport(void **state)
{
    (void)state;
    expect("smithy", "named/b.ts:1 function forge\n x named/index.ts:2 - export\n");
    expect("Block", "named/iron.rs:1 type Anvil\n x named/lib.rs:2 - export\n");
    expect("mallet", "named/tools.py:1 function hammer\n x named/__init__.py:1 - export\n");
    expect("inside", ""); /* names of a file's own */
    expect("Own", "");
    expect("maul", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_alikes),
        cmocka_unit_test(qualified_names),
        cmocka_unit_test(imports_and_tests),
        cmocka_unit_test(languages),
        cmocka_unit_test(paths_of_rust),
        cmocka_unit_test(overloads),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(around_lines),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(follows_the_tree),
        cmocka_unit_test(reexports_of_reexports),
        cmocka_unit_test(renamed_by_a_reexport),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
