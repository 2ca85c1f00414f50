/* test_resolve.c - which files of a tree an import means and which it does not, for every form of import. */
#include "tests/support/check.h"
#include "retrieval/names/resolve.h"

static myth_mem *mem;

static const myth_resolve_file files[] = {
    {"app/models/user.rb", "ruby"},
    {"app/views.py", "python"},
    {"build/lib.sh", "bash"},
    {"cmd/main.go", "go"},
    {"contrib/mylib/net/wire.h", "c"},
    {"crates/core/src/lib.rs", "rust"},
    {"crates/core/src/net/mod.rs", "rust"},
    {"crates/core/src/net/tcp.rs", "rust"},
    {"include/net/socket.h", "c"},
    {"internal/auth/auth.go", "go"},
    {"internal/auth/auth_test.go", "go"},
    {"internal/auth/token.go", "go"},
    {"lib/os.py", "python"},
    {"lib/queue.lua", "lua"},
    {"other/queue.h", "c"},
    {"pkg/__init__.py", "python"},
    {"pkg/deep/__init__.py", "python"},
    {"pkg/deep/inner.py", "python"},
    {"pkg/os.py", "python"},
    {"pkg/util.py", "python"},
    {"src/App/Models/User.php", "php"},
    {"src/a/deep/thing.h", "c"},
    {"src/b/main.c", "c"},
    {"src/b/x/deep/thing.h", "c"},
    {"src/main/java/com/acme/app/Store.java", "java"},
    {"src/main/java/com/acme/app/User.java", "java"},
    {"src/net/queue.c", "c"},
    {"src/net/queue.h", "c"},
    {"src/worker.c", "c"},
    {"tests/test_util.py", "python"},
    {"web/api/index.ts", "typescript"},
    {"web/main.ts", "typescript"},
    {"web/style.css", "css"},
    {"web/util.tsx", "tsx"},
};
enum { N_FILE = sizeof(files) / sizeof(files[0]) };

static const struct {
    const char *from, *import, *found;
} cases[] = {
    {"src/worker.c", "net/queue.h", "src/net/queue.h"},          /* beside it */
    {"src/net/queue.c", "queue.h", "src/net/queue.h"},           /* not the other one of that name */
    {"src/net/queue.c", "net/socket.h", "include/net/socket.h"}, /* by its end */
    {"src/net/queue.c", "../worker.c", "src/worker.c"},
    {"src/worker.c", "mylib/net/wire.h", "contrib/mylib/net/wire.h"},
    {"src/worker.c", "lib/net/wire.h", ""},                   /* the end of a folder's name is no folder */
    {"src/b/main.c", "deep/thing.h", "src/b/x/deep/thing.h"}, /* the nearer one alone, also when it comes second */
    {"src/worker.c", "deep/thing.h", "src/a/deep/thing.h src/b/x/deep/thing.h"}, /* equally far */
    {"src/net/queue.c", "stdio.h", ""},
    {"src/net/queue.c", "../../../etc/passwd", ""},
    {"pkg/util.py", ".deep", "pkg/deep/__init__.py"},
    {"pkg/util.py", ".deep.inner", "pkg/deep/inner.py"},
    {"pkg/deep/inner.py", "..util", "pkg/util.py"},
    {"pkg/deep/inner.py", "..", "pkg/__init__.py"},
    {"pkg/util.py", ".", "pkg/__init__.py"},
    {"app/views.py", "pkg.deep.inner", "pkg/deep/inner.py"},
    {"app/views.py", "pkg", "pkg/__init__.py"},
    {"app/views.py", "pkg.util.helper", "pkg/util.py"}, /* a name in a module */
    {"tests/test_util.py", "pkg.util", "pkg/util.py"},
    {"app/views.py", "json", ""},
    {"tests/test_util.py", "os", "lib/os.py"}, /* a root of sources; not pkg/os.py */
    {"app/views.py", "django.os", ""},
    {"web/main.ts", "./util", "web/util.tsx"},
    {"web/main.ts", "./util.js", "web/util.tsx"},
    {"web/main.ts", "./api", "web/api/index.ts"},
    {"web/api/index.ts", "../main", "web/main.ts"},
    {"web/api/index.ts", "@/util", "web/util.tsx"},
    {"web/main.ts", "react", ""},
    {"web/main.ts", "./style.css", "web/style.css"},
    {"cmd/main.go", "github.com/acme/app/internal/auth", "internal/auth/auth.go internal/auth/token.go"},
    {"cmd/main.go", "net/http", ""},
    {"src/main/java/com/acme/app/User.java", "com.acme.app.Store", "src/main/java/com/acme/app/Store.java"},
    {"src/main/java/com/acme/app/User.java", "com.acme.app.Store.find", "src/main/java/com/acme/app/Store.java"},
    {"src/main/java/com/acme/app/User.java", "java.util.List", ""},
    {"crates/core/src/lib.rs", "crate::net::tcp::Stream", "crates/core/src/net/tcp.rs"},
    {"crates/core/src/net/tcp.rs", "super::net", "crates/core/src/net/mod.rs"},
    {"crates/core/src/lib.rs", "crate::net::{tcp, udp}", "crates/core/src/net/mod.rs"},
    {"crates/core/src/lib.rs", "std::net::tcp", ""},
    {"crates/core/src/lib.rs", "self::net::tcp", "crates/core/src/net/tcp.rs"},
    {"pkg/util.py", ".nowhere", ""}, /* not the package itself */
    {"cmd/main.go", "../internal/auth", "internal/auth/auth.go internal/auth/token.go"},
    {"src/main/java/com/acme/app/User.java", "com.acme.app.*", ""},
    {"src/App/Models/User.php", "../../lib/queue.lua", ""},
    {"src/net/queue.c", "<net/socket.h>", "include/net/socket.h"},
    {"app/models/user.rb", "./user", ""}, /* itself */
    {"src/App/Models/User.php", "App\\Models\\User", ""},
    {"lib/queue.lua", "lib.queue", ""},
    {"web/style.css", "style.css", ""},
    {"build/lib.sh", "./lib.sh", ""},
    {"app/views.py", "", ""},
    {"app/views.py", "....................", ""},
};

static void means(void **state)
{
    (void)state;
    myth_resolver *r;
    assert_int_equal(myth_resolver_open(&r, mem, files, N_FILE, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t found[MYTH_RESOLVE_MAX], from = 0;
        char got[512] = "";
        while (from < N_FILE && strcmp(files[from].path, cases[i].from) != 0)
            from++;
        assert_true(from < N_FILE);
        uint32_t n = myth_resolve(r, from, cases[i].import, found);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(found[k] < N_FILE && found[k] != from);
            size_t at = strlen(got);
            snprintf(got + at, sizeof(got) - at, "%s%s", k ? " " : "", files[found[k]].path);
        }
        if (strcmp(got, cases[i].found) != 0)
            fail_msg("%s in %s: \"%s\", expected \"%s\"", cases[i].import, cases[i].from, got, cases[i].found);
    }
    myth_resolver_close(r);
}

/* Long ones, and every byte. */
static void any_import(void **state)
{
    (void)state;
    myth_resolver *r;
    uint64_t rng = check_seed();
    assert_int_equal(myth_resolver_open(&r, mem, files, N_FILE, NULL), MYTH_OK);
    for (int i = 0; i < 2000; i++) {
        char text[1200];
        uint32_t found[MYTH_RESOLVE_MAX], n = check_below(&rng, sizeof(text));
        for (uint32_t k = 0; k < n; k++)
            text[k] = check_below(&rng, 3) ? "./:\\ab"[check_below(&rng, 6)] : (char)(1 + check_below(&rng, 255));
        text[n] = '\0';
        uint32_t from = check_below(&rng, N_FILE);
        n = myth_resolve(r, from, text, found);
        assert_true(n <= MYTH_RESOLVE_MAX);
        for (uint32_t k = 0; k < n; k++)
            assert_true(found[k] < N_FILE && found[k] != from);
    }
    myth_resolver_close(r);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(means), cmocka_unit_test(any_import)};
    return cmocka_run_group_tests(tests, begin, end);
}
