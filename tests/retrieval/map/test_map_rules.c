/* test_map_rules.c - small trees that each hold one rule of what a map shows first. A map of few bytes has the names
 * that a rule wants and not the others. */
#include "tests/retrieval/index/index_tree.h"
#include "retrieval/map/repomap.h"

static myth_mem *mem;

static myth_status by_bytes(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    (void)arg;
    (void)text;
    (void)err;
    *n_token = n;
    return MYTH_OK;
}

typedef struct {
    const char *path, *text;
} made;

/* The map of a tree of these files in at most max bytes; valid until the next call. */
static const char *map_of(const made *file, size_t n, uint64_t max)
{
    static char text[8192];
    static int n_tree;
    char tree[32], db[32], path[200];
    myth_index_stats stats;
    myth_error err = {0};
    snprintf(tree, sizeof(tree), "rules%d", n_tree);
    snprintf(db, sizeof(db), "rules%d.db", n_tree++);
    files_mkdir(tree);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", tree, file[i].path);
        files_put_deep(path, file[i].text, strlen(file[i].text));
    }
    index_update(tree, db, mem, &stats);
    myth_index *x = open_index(tree, db, mem, false);
    myth_repomap *m = NULL;
    myth_repomap_page page = {0};
    if (myth_repomap_open(&m, mem, x, NULL, &err) != MYTH_OK ||
        myth_repomap_text(&page, m, &(myth_repomap_budget){by_bytes, NULL, max}, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_true(page.n <= max);
    snprintf(text, sizeof(text), "%s", page.text);
    myth_repomap_page_free(&page, mem);
    myth_repomap_close(m);
    myth_index_close(x);
    return text;
}

#define MAP(max, ...) map_of((const made[]){__VA_ARGS__}, sizeof((const made[]){__VA_ARGS__}) / sizeof(made), max)

static void has(const char *map, const char *wanted)
{
    if (!strstr(map, wanted))
        fail_msg("no \"%s\" in\n%s", wanted, map);
}

static void lacks(const char *map, const char *unwanted)
{
    if (strstr(map, unwanted))
        fail_msg("\"%s\" in\n%s", unwanted, map);
}

/* Art is no description; a docstring says more than a comment above it. */
static void docstring_before_banner(void **state)
{
    (void)state;
    const char *map = MAP(4000, {"art.py", "#   __ __)\n#  (_( (- (/\n#\n\n\"\"\"Sends letters.\"\"\"\nx = 1\n"},
                          {"both.py", "# Some words of old.\n\n\"\"\"Reads letters.\"\"\"\ny = 1\n"},
                          {"one.py", "# Keeps letters here.\n\nimport os\n"},
                          {"a.js", "/**\n * Module dependencies.\n */\n\nvar fs = require('fs');\n"});
    has(map, "art.py (python) Sends letters\n");
    has(map, "both.py Reads letters\n");
    has(map, "one.py Keeps letters here\n");
    has(map, "a.js (javascript) [filesystem:5]\n");
}

/* push of a list in ten files says nothing of Stack.push; a file that names Stack means it. */
static void plain_names_need_their_type(void **state)
{
    (void)state;
    static const char stack[] =
        "class Stack:\n    def push(self, x):\n        pass\n\n    def peek(self):\n        pass\n";
    static const char store[] =
        "class Store:\n    def keep(self):\n        pass\n\n    def drop_all(self):\n        pass\n";
#define PUSHES "def go(a):\n    a.push(1)\n    a.push(2)\n\n\nfrom store import Store\nStore().keep()\n"
    const char *map =
        MAP(110, {"stack.py", stack}, {"store.py", store}, {"tests/test_a.py", PUSHES}, {"tests/test_b.py", PUSHES});
    has(map, "class Store");
    has(map, "def keep(self)");
    lacks(map, "push");
    map = MAP(110, {"stack.py", stack}, {"store.py", store}, {"tests/test_a.py", "from stack import Stack\n" PUSHES},
              {"tests/test_b.py", "from stack import Stack\n" PUSHES});
    has(map, "class Stack");
    has(map, "def push(self, x)");
    lacks(map, "peek");
#undef PUSHES
}

/* What tests and documents use comes before what the sources use among themselves, and private things last. */
static void public_first(void **state)
{
    (void)state;
    static const char inner[] = "def turn(x):\n    return x\n\n\ndef twist(x):\n    return turn(x)\n",
                      face[] =
                          "from inner import turn, twist\n\n\ndef unlock(x):\n    return _help(turn(twist(turn(x))))\n"
                          "\n\ndef _help(x):\n    return x\n";
    has(MAP(60, {"inner.py", inner}, {"face.py", face}, {"tests/test_face.py", "from face import unlock\nunlock(1)\n"}),
        "def unlock(x)");
    has(MAP(60, {"inner.py", inner}, {"face.py", face}, {"README.md", "# Doors\n\nCall `unlock` first.\n"}),
        "def unlock(x)");
    const char *map = MAP(60, {"a.rs", "pub(crate) fn inner_one() {}\npub fn outer() {}\n"},
                          {"b.rs", "use crate::a;\nfn f() {\n    a::inner_one();\n}\n"});
    has(map, "pub fn outer()");
    lacks(map, "inner_one");
}

/* Types of errors, macros and values come after types and functions that are used as much. */
static void errors_and_macros_later(void **state)
{
    (void)state;
    const char *map =
        MAP(60, {"net.py", "class BadDoorError(Exception):\n    pass\n\n\nclass Door:\n    pass\n\n\nDOORS = 3\n"},
            {"tests/test_net.py", "from net import BadDoorError, DOORS, Door\nDoor(BadDoorError, DOORS)\n"});
    has(map, "class Door\n");
    lacks(map, "BadDoorError");
    map = MAP(60, {"a.h", "#define likely(x) (x)\nint open_door(int n);\n"},
              {"a.c", "#include \"a.h\"\nint open_door(int n)\n{\n    return likely(n);\n}\n"},
              {"b.c", "#include \"a.h\"\nint b(void)\n{\n    return open_door(likely(1));\n}\n"});
    has(map, "int open_door(int n)");
    lacks(map, "#define");
}

/* Helpers of making, benchmarks and examples are not what the tree is about. */
static void benchmarks_later(void **state)
{
    (void)state;
    static const char loop[] = "def run_all(n):\n    return n\n";
    const char *map = MAP(80, {"benchsuite/a.py", loop}, {"scripts/b.py", loop}, {"examples/c.py", loop},
                          {"zz/door.py", "def open_door(n):\n    return n\n"});
    has(map, "def open_door(n)");
    lacks(map, "run_all");
}

/* Members stand under their type, whatever the language writes around them. */
static void members_under_their_type(void **state)
{
    (void)state;
    const char *map =
        MAP(2000,
            {"a.go", "package a\n\nfunc (c *Door) Open(n int) error { return nil }\n\n"
                     "func New() *Door { return nil }\n\ntype Door struct{ n int }\n"},
            {"b.rs", "pub struct Lock;\n\npub fn free() {}\n\nimpl Lock {\n    pub fn turn(&self) {}\n}\n"});
    has(map, "    func New() *Door\n    type Door struct{ n int }\n      Open(n int) error\n");
    has(map, "    pub struct Lock\n      pub fn turn(&self)\n    pub fn free()\n");
}

/* CommonJS: members of an object and what exports gets are for others. */
static void commonjs(void **state)
{
    (void)state;
    const char *map = MAP(200,
                          {"lib/res.js", "var send = require('send');\nvar res = {};\nmodule.exports = res;\n\n"
                                         "res.send = function send(body) {\n  return stringify(body);\n};\n\n"
                                         "res.get = res.header = function header(name) {\n  return name;\n};\n\n"
                                         "function stringify(v) {\n  return v;\n}\n"},
                          {"lib/make.js", "exports = module.exports = create;\n\nfunction create() {\n}\n"},
                          {"test/a.js", "res.send(1); res.header(2); create();\n"});
    has(map, "res.send = function send(body)");
    has(map, "function header(name)");
    has(map, "function create()");
    lacks(map, "stringify");
}

/* A class and an object that exports get are given away with their members, before any test is shown. */
static void commonjs_members(void **state)
{
    (void)state;
    const char *map = MAP(400,
                          {"lib/app.js", "exports = module.exports = class App extends Base {\n  use (fn) {\n"
                                         "    return this;\n  }\n};\n"},
                          {"lib/plain.js", "exports.Plain = class {\n  run () {\n  }\n};\n"},
                          {"lib/req.js", "module.exports = {\n  get url () {\n    return 1;\n  }\n};\n"},
                          {"lib/ctx.js", "const proto = module.exports = {\n  fail (err) {\n    return err;\n  }\n};\n"
                                         "const own = {\n  hidden () {\n  }\n};\n"},
                          {"test/a.js", "use(); run(); fail();\n"});
    has(map, "class App extends Base\n      use (fn)");
    has(map, "exports.Plain = class\n      run ()");
    has(map, "get url ()");
    has(map, "const proto\n      fail (err)");
    assert_true(!strstr(map, "hidden") || strstr(map, "hidden") > strstr(map, "fail (err)"));
}

/* A declaration without a body is shown whole, also when it is written over several lines. */
static void long_declaration(void **state)
{
    (void)state;
    const char *map = MAP(200, {"a.rs", "pub trait Printer {\n    fn print(\n        &self,\n        n: usize,\n"
                                        "    ) -> bool;\n}\n"});
    has(map, "n: usize");
    has(map, "-> bool\n");
}

/* Of versions of a package beside each other, the one that its entry gives is the one that documents mean. */
static void entry_says_which_version(void **state)
{
    (void)state;
    static const char box[] = "export function makeBox(n: number): number {\n  return n;\n}\n";
#define VERSIONS                                                            \
    {"src/v1/box.ts", box}, {"src/v2/box.ts", box}, {"src/v3/box.ts", box}, \
        {"README.md", "# Boxes\n\nCall `makeBox(3)` first.\n"},             \
    {                                                                       \
        "src/v2/index.ts", "export * from './box.js';\n"                    \
    }
    const char *map = MAP(100, VERSIONS, {"src/index.ts", "export * from './v2/index.js';\n"});
    has(map, "src/v2/\n  box.ts (typescript)\n    export function makeBox(n: number): number\n");
    lacks(map, "v1");
    map = MAP(100, VERSIONS, {"src/index.ts", "export {\n  makeBox as box,\n} from './v3/box';\n"});
    has(map, "src/v3/\n  box.ts (typescript)\n    export function makeBox(n: number): number\n");
    /* a name behind another name is none of the package's own */
    map = MAP(100, VERSIONS, {"src/index.ts", "export * as v3 from './v3/box';\nexport * from './v1/box';\n"});
    has(map, "src/v1/\n  box.ts (typescript)\n    export function makeBox(n: number): number\n");
#undef VERSIONS
    static const char two[] = "export function aside(n: number): number {\n  return n;\n}\n\n"
                              "export function makeBox(n: number): number {\n  return n;\n}\n";
    map = MAP(100, {"1/box.ts", box}, {"2/box.ts", box}, {"3/box.ts", box}, {"4/box.ts", box}, {"5/box.ts", box},
              {"6/box.ts", box}, {"7/box.ts", box}, {"8/box.ts", box}, {"src/box.ts", two},
              {"src/index.ts", "export * from './box';\n"}, {"README.md", "# Boxes\n\nCall `makeBox(3)` first.\n"});
    has(map, "src/\n  box.ts (typescript)\n    export function makeBox(n: number): number\n");
    lacks(map, "aside");
}

/* What the entry gives is shown before what its package uses inside, and a value that it gives as early as a
 * function. */
static void entry_names_come_first(void **state)
{
    (void)state;
    const char *map = MAP(55, {"door/__init__.py", "from .face import LIMIT as LIMIT, unlock\n"},
                          {"door/face.py", "LIMIT = 3\n\n\ndef unlock(x):\n    return x\n"});
    has(map, "  face.py (python)\n    LIMIT\n");
    lacks(map, "unlock");
    map = MAP(80, {"src/lib.rs", "mod face;\nmod inner;\npub use crate::face::{Lock, self};\n"},
              {"src/face.rs", "pub struct Key;\npub struct Lock;\n"}, {"src/inner.rs", "pub struct Gear;\n"},
              {"src/use.rs", "fn f(g: Gear, h: Gear, i: Gear) {}\n"});
    has(map, "pub struct Lock");
    lacks(map, "Gear");
}

/* A star means the names of __all__, where a module has it. */
static void star_means_all(void **state)
{
    (void)state;
    const char *map = MAP(75, {"door/__init__.py", "from .kinds import *\n"},
                          {"door/kinds.py", "def a_first(x):\n    return x\n\n\ndef b_second(x):\n    return x\n\n\n"
                                            "__all__ = [\"b_second\"]\n"});
    has(map, "def b_second(x)");
    lacks(map, "a_first");
}

/* In JavaScript nobody outside can import what the entry does not give; uses inside count a quarter. */
static void inner_scripts_later(void **state)
{
    (void)state;
    static const char gear[] = "export class Gear {\n}\n\nexport class Cog {\n}\n",
                      lock[] = "import { Gear } from './gear';\n\nexport class Lock {\n}\n\nnew Gear();\n";
#define USERS                                                                                                    \
    {"src/gear.ts", gear}, {"src/lock.ts", lock}, {"src/a.ts", "import { Gear } from './gear';\nnew Gear();\n"}, \
    {                                                                                                            \
        "src/b.ts", "import { Gear } from './gear';\nnew Gear();\n"                                              \
    }
    const char *map = MAP(85, USERS, {"src/index.ts", "export { Lock } from './lock';\n"});
    has(map, "export class Lock");
    lacks(map, "Gear");
    has(MAP(85, USERS), "export class Gear");
#undef USERS
}

/* A package inside of a package has an entry of its own where its manifest is. */
static void manifest_begins_a_package(void **state)
{
    (void)state;
#define PACKAGES                                                                                                    \
    {"index.js", "module.exports = require('./lib/all');\n"}, {"lib/all.js", "exports.all = function (n) {\n};\n"}, \
        {"packages/a/src/index.js", "export { openDoor } from './x/door.js';\n"},                                   \
        {"packages/a/src/x/door.js", "export function openDoor(n) {\n}\n\nexport function aside(n) {\n}\n"},        \
        {"packages/b/src/door.js", "export function openDoor(n) {\n}\n"},                                           \
    {                                                                                                               \
        "README.md", "Call `openDoor(1)`.\n"                                                                        \
    }
    const char *map = MAP(110, PACKAGES, {"packages/a/package.json", "{}\n"});
    has(map, "packages/a/src/x/\n  door.js\n    export function openDoor(n)\n");
    lacks(map, "packages/b");
    lacks(map, "aside");
#undef PACKAGES
}

/* A getter that a call makes of a named function is a member for others. */
static void getters(void **state)
{
    (void)state;
    static const char req[] = "var req = {};\nmodule.exports = req;\n\ndefineGetter(req, 'host', function host(){\n"
                              "  return 1;\n});\n\nlater(function inside(){\n  return 2;\n});\n";
    const char *map = MAP(70, {"lib/req.js", req}, {"test/a.js", "it('has a host', function () {});\n"});
    has(map, "function host()");
    lacks(map, "inside");
}

/* A file of data is no source, whatever its suffix: it comes after tests. */
static void data_later(void **state)
{
    (void)state;
    const char *map = MAP(122, {"app.webmanifest", "{\n  \"name\": \"door\"\n}\n"},
                          {"door.py", "def door():\n    pass\n"}, {"tests/test_door.py", "def aid(x):\n    pass\n"});
    has(map, "def aid(x)");
    lacks(map, "webmanifest");
}

/* Risks of a file are a part of its line that comes later than names. */
static void names_before_risks(void **state)
{
    (void)state;
    static const char shell[] =
        "import os\n\n\ndef run_it(x):\n    os.system(x)\n\n\ndef run_more(x):\n    os.system(x)\n";
    static const char test[] = "from shell import run_it, run_more\nrun_it(run_more(1))\n";
    const char *map = MAP(65, {"shell.py", shell}, {"tests/test_shell.py", test});
    has(map, "def run_it(x)");
    lacks(map, "subprocess");
    has(MAP(400, {"shell.py", shell}, {"tests/test_shell.py", test}), "shell.py (python) [subprocess:5]\n");
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docstring_before_banner),
        cmocka_unit_test(plain_names_need_their_type),
        cmocka_unit_test(public_first),
        cmocka_unit_test(errors_and_macros_later),
        cmocka_unit_test(benchmarks_later),
        cmocka_unit_test(members_under_their_type),
        cmocka_unit_test(commonjs),
        cmocka_unit_test(commonjs_members),
        cmocka_unit_test(long_declaration),
        cmocka_unit_test(entry_says_which_version),
        cmocka_unit_test(entry_names_come_first),
        cmocka_unit_test(star_means_all),
        cmocka_unit_test(inner_scripts_later),
        cmocka_unit_test(manifest_begins_a_package),
        cmocka_unit_test(getters),
        cmocka_unit_test(data_later),
        cmocka_unit_test(names_before_risks),
    };
    if (!getenv("MYTHOS_BIN"))
        check_skip("MYTHOS_BIN names no command, so nothing parses");
    return cmocka_run_group_tests(tests, begin, end);
}
