/* test_module.c - which file an import means, for imports as each language writes them. */
#include "tests/support/check.h"
#include "retrieval/names/module.h"

typedef struct {
    const char *language, *from, *spec, *to;
    myth_module_match want;
} row;

#define NO  MYTH_MODULE_OTHER
#define DIR MYTH_MODULE_PACKAGE
#define YES MYTH_MODULE_FILE

static const row rows[] = {
    {"python", "app/main.py", "auth.session", "auth/session.py", YES},
    {"python", "app/main.py", "auth.session", "src/auth/session.py", YES},
    {"python", "app/main.py", "shop.auth.session", "auth/session.py", YES}, /* the tree is inside the package */
    {"python", "app/main.py", "auth.session", "billing/session.py", NO},
    {"python", "app/main.py", "auth.session", "auth/other.py", NO},
    {"python", "app/main.py", "auth.session", "oauth/session.py", NO},
    {"python", "app/main.py", "auth", "auth/__init__.py", YES},
    {"python", "app/main.py", "auth", "auth/session.py", DIR},
    {"python", "auth/routes.py", ".session", "auth/session.py", YES},
    {"python", "auth/routes.py", ".session", "billing/session.py", NO},
    {"python", "auth/api/routes.py", "..session", "auth/session.py", YES},
    {"python", "auth/api/routes.py", "..", "auth/session.py", DIR},
    {"python", "auth/api/routes.py", "..", "auth/__init__.py", YES},
    {"python", "a.py", "..x", "x.py", NO}, /* leaves the root */
    {"python", "a.py", "os.path", "path.py", NO},
    {"python", "tools/a.py", "helper", "tools/helper.py", YES},
    {"javascript", "src/app.js", "./session", "src/session.js", YES},
    {"javascript", "src/app.js", "./session.js", "src/session.ts", YES},
    {"javascript", "src/app.js", "./session", "lib/session.js", NO},
    {"javascript", "src/app.js", "../lib/session", "lib/session.js", YES},
    {"javascript", "src/app.js", "./auth", "src/auth/index.js", YES},
    {"javascript", "src/app.js", ".", "src/index.js", YES},
    {"javascript", "src/app.js", "../../x", "x.js", NO},
    {"typescript", "src/a/app.ts", "@/auth/session", "src/auth/session.ts", YES},
    {"typescript", "src/a/app.ts", "src/auth/session", "src/auth/session.ts", YES},
    {"typescript", "src/a/app.ts", "lodash", "src/auth/session.ts", NO},
    {"c", "src/worker.c", "queue.h", "src/queue.h", YES},
    {"c", "src/worker.c", "queue.h", "src/queue.c", YES},
    {"c", "src/worker.c", "shop/queue.h", "include/shop/queue.h", YES},
    {"c", "src/worker.c", "shop/queue.h", "lib/queue.c", YES},
    {"c", "src/worker.c", "queue.h", "src/dequeue.c", NO},
    {"c", "src/worker.c", "../lib/queue.h", "lib/queue.h", YES},
    {"cpp", "src/worker.cc", "queue.hpp", "src/queue.cc", YES},
    {"go", "main.go", "example.com/shop/auth", "auth/session.go", DIR},
    {"go", "main.go", "example.com/shop/internal/auth", "internal/auth/session.go", DIR},
    {"go", "main.go", "example.com/shop/auth", "billing/session.go", NO},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth.Session", "src/main/java/com/acme/auth/Session.java",
     YES},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth.Session.open",
     "src/main/java/com/acme/auth/Session.java", YES},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth", "src/main/java/com/acme/auth/Session.java", DIR},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth.*", "src/main/java/com/acme/auth/Session.java", DIR},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth.Session", "src/main/java/com/acme/billing/Session.java",
     NO},
    {"java", "src/main/java/com/acme/App.java", "com.acme.auth.Session", "src/main/java/com/acme/auth/Other.java", NO},
    {"kotlin", "app/Main.kt", "com.acme.auth.open", "src/com/acme/auth/Sessions.kt", DIR},
    {"rust", "src/main.rs", "crate::auth::session", "src/auth/session.rs", YES},
    {"rust", "src/main.rs", "crate::auth::session::{open, close}", "src/auth/session.rs", YES},
    {"rust", "src/main.rs", "crate::auth::session::open", "src/auth/session.rs", YES},
    {"rust", "src/main.rs", "crate::auth::other", "src/auth/session.rs", NO},
    {"rust", "src/main.rs", "crate::auth", "src/auth/mod.rs", YES},
    {"rust", "tests/t.rs", "shop::auth::session::open", "src/auth/session.rs", YES},
    {"rust", "src/auth/routes.rs", "super::session::open", "src/auth/session.rs", YES},
    {"rust", "src/auth/mod.rs", "self::session::open", "src/auth/session.rs", YES},
    {"rust", "src/auth/mod.rs", "super::db", "src/db.rs", YES},
    {"php", "web/index.php", "App\\Auth\\Session", "app/Auth/Session.php",
     YES}, /* what stands in front is the application */
    {"php", "web/index.php", "App\\Auth\\Session", "src/Auth/Session.php", YES},
    {"php", "web/index.php", "../lib/db.php", "lib/db.php", YES},
    {"ruby", "lib/shop.rb", "shop/session", "lib/shop/session.rb", YES},
    {"ruby", "lib/shop.rb", "./session", "lib/session.rb", YES},
    {"lua", "main.lua", "auth.session", "auth/session.lua", YES},
    {"zig", "src/main.zig", "auth/session.zig", "src/auth/session.zig", YES},
    {"zig", "src/auth/routes.zig", "../db.zig", "src/db.zig", YES},
};

static void imports_mean_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        myth_module_match m = myth_module_means(rows[i].language, rows[i].from, rows[i].spec, rows[i].to);
        if (m != rows[i].want)
            fail_msg("%s: %s in %s and %s: %d, expected %d", rows[i].language, rows[i].spec, rows[i].from, rows[i].to,
                     (int)m, (int)rows[i].want);
    }
}

/* Any bytes: an answer, and nothing outside the buffers. */
static void hostile_paths(void **state)
{
    static const char *const language[] = {"python", "c", "rust", "java", "php", "go", "text"};
    static const char alphabet[] = "a./\\:{}*@~\"<b\xff";
    uint64_t rng = check_seed();
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[3][40];
        for (int k = 0; k < 3; k++) {
            uint32_t n = check_below(&rng, 39);
            for (uint32_t c = 0; c < n; c++)
                text[k][c] = alphabet[check_below(&rng, sizeof(alphabet) - 1)];
            text[k][n] = '\0';
        }
        myth_module_means(language[check_below(&rng, 7)], text[0], text[1], text[2]);
    }
    char longest[4000];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(myth_module_means("python", "a.py", longest, "b.py"), NO);
    assert_int_equal(myth_module_means("python", "a.py", "b", longest), NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(imports_mean_files), cmocka_unit_test(hostile_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
