/* test_given.c - what a file gives on, read from its lines. */
#include "tests/support/check.h"
#include "retrieval/map/given.h"

#include <stdio.h>
#include <string.h>

static bool take(void *arg, const myth_given *g)
{
    char *out = arg;
    const size_t n = strlen(out);
    snprintf(out + n, 1024 - n, "%s%.200s:%.*s", n ? " " : "", g->module, (int)g->n_name, g->name);
    return true;
}

static void expect(const char *path, const char *language, const char *text, const char *want)
{
    char got[1024] = "";
    myth_given_read(path, language, text, strlen(text), take, got);
    assert_string_equal(got, want);
}

static void scripts(void **state)
{
    (void)state;
    expect("a.ts", "typescript", "export * from \"./x.js\";\nexport * as ns from './y';\n", "./x.js:*");
    expect("a.ts", "typescript", "export {\n  a, // one\n  type B,\n  c as d,\n  default as E,\n} from './x';\n",
           "./x:a ./x:B ./x:c ./x:default");
    expect("a.ts", "typescript", "export type { A } from './x'\nexport { own };\nexport const z = 1;\n", "./x:A");
    expect("a.js", "javascript", "module.exports = require('./lib/x');\nvar a = require('./y');\n", "./lib/x:*");
    expect("a.js", "javascript", "exports = module.exports = require(\"./x\")\nmodule.exports.b = require('./b');\n",
           "./x:*");
}

static void rust(void **state)
{
    (void)state;
    expect("src/lib.rs", "rust", "pub use crate::a::B;\nuse crate::c::D;\npub(crate) use e::F;\n", "crate::a:B");
    expect("src/lib.rs", "rust",
           "pub use crate::{\n    a::{B, C as D}, // two\n    e::*,\n    f,\n};\npub use ::g::H;\n",
           "crate::a:B crate::a:C crate::e:* crate:f g:H");
}

static void python(void **state)
{
    (void)state;
    expect("p/__init__.py", "python", "from .x import a as a, b\nfrom . import y\nimport z\n", ".x:a .x:b .:y");
    expect("p/__init__.py", "python", "from .x import (\n    a,  # noqa\n    b as c,\n)\nfrom .y import *\n",
           ".x:a .x:b .y:*");
    expect("p/x.py", "python", "from .x import a\n__all__ = [\n    \"b\",\n    'c',\n]\n", ":b :c");
    expect("p/x.py", "python", "def f():\n    __all__ = ['no']\n", "");
}

/* Text that ends anywhere is read to its end and no further. */
static void cut_short(void **state)
{
    (void)state;
    static const char *const text[] = {
        "export { a, type B, c as d } from './x';\nmodule.exports = require('./y');\n",
        "pub use crate::{a::{B, C as D}, e::*};\n",
        "from .x import (a, b as c)\n__all__ = ['a', \"b\"]\n",
    };
    static const char *const path[] = {"a.ts", "src/lib.rs", "p/__init__.py"};
    static const char *const language[] = {"typescript", "rust", "python"};
    for (int i = 0; i < 3; i++)
        for (size_t n = 0; n <= strlen(text[i]); n++) {
            char got[1024] = "", *part = malloc(n ? n : 1); /* a reader past the end is found by the sanitizer */
            assert_non_null(part);
            memcpy(part, text[i], n);
            myth_given_read(path[i], language[i], part, n, take, got);
            free(part);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts),
        cmocka_unit_test(rust),
        cmocka_unit_test(python),
        cmocka_unit_test(cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
