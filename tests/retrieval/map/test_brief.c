/* test_brief.c - long signatures become short lines step by step, and only as far as they must. */
#include "tests/support/check.h"

#include "retrieval/map/brief.h"

#include <string.h>

static void long_ones_are_cut(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *to;
    } row[] = {
        {"get", "def get(url: str, timeout: int = 1) -> Response", "def get(url: str, timeout: int = 1) -> Response"},
        {"get", "def get(url: UriType, params: dict[str, int] = {\"a\": 1}, **kwargs: Unpack[Args]) -> Response",
         "def get(url, params, **kwargs) -> Response"},
        {"value", "@CanIgnoreReturnValue @Other(\"a b\") public JsonWriter value(String value) throws IOException",
         "public JsonWriter value(String value) throws IOException"},
        {"append", "public Writer append(CharSequence csq, int start, int end, int more) throws IOException",
         "public Writer append(CharSequence csq, int start, int end, int more)"},
        {"object",
         "export function object<T extends core.$Loose = Partial<A>>(shape?: T, params?: string | B): ZodObject<C>",
         "export function object(shape?, params?)"},
        {"route",
         "pub fn route(self, path: &str, method_router: routing::MethodRouter<S>) -> Self where S: Clone + Send",
         "pub fn route(self, path, method_router)"},
        {"map", "pub fn map<U, F: FnOnce(T) -> U>(self, f: F, another_one: Option<T>) -> Match<U>",
         "pub fn map<U, F: FnOnce(T) -> U>(self, f, another_one)"},
        {"f", "fn f(a: Map<K, V>, b: fn(i32, i32) -> i32, c: std::vec::Vec<u8>, d: [u8; 4]) -> u8",
         "fn f(a, b, c, d) -> u8"},
        {"none", "a line of more than sixty bytes that has no brackets behind the name none",
         "a line of more than sixty bytes that has no brackets behind the name none"},
        {"open", "def open(what: int, never: int, closed: str, and_so_on: int, to_the_end: str",
         "def open(what: int, never: int, closed: str, and_so_on: int, to_the_end: str"},
        {"x", "@ @ @ @( x(a: b = \")\", ]]]]>>>>) and much more behind the end of it all, far away",
         NULL}, /* only that it ends */
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[200];
        snprintf(line, sizeof(line), "%s", row[i].from);
        myth_brief(line, row[i].name);
        assert_true(strlen(line) <= strlen(row[i].from));
        if (row[i].to && strcmp(line, row[i].to) != 0)
            fail_msg("\"%s\", expected \"%s\"", line, row[i].to);
    }
}

/* Any bytes: it ends, and it never writes past the line. */
static void any_bytes(void **state)
{
    (void)state;
    static const char alphabet[] = "f(),:=<>[]{}->@ \"ab";
    uint64_t rng = check_seed();
    for (int i = 0; i < 20000; i++) {
        char line[128], before;
        const uint32_t n = 1 + check_below(&rng, 120);
        for (uint32_t k = 0; k < n; k++)
            line[k] = alphabet[check_below(&rng, sizeof(alphabet) - 1)];
        line[n] = '\0';
        line[n + 1] = before = (char)check_below(&rng, 100);
        myth_brief(line, "f");
        myth_drop_receiver(line);
        assert_true(strlen(line) <= n && line[n + 1] == before);
    }
}

static void receivers(void **state)
{
    (void)state;
    char method[] = "func (c *Context[T]) JSON(code int, obj any)", plain[] = "func New() *Engine";
    myth_drop_receiver(method);
    myth_drop_receiver(plain);
    assert_string_equal(method, "JSON(code int, obj any)");
    assert_string_equal(plain, "func New() *Engine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_ones_are_cut),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(receivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
