/* test_ignore.c - patterns of ignore files: the traps in git's documentation and source, lists, which file of
 * patterns decides, hostile patterns. test_scan_git.c compares random patterns with git itself. */
#include "tests/support/check.h"
#include "retrieval/scan/ignore.h"

typedef enum { NONE, OUT, BACK } verdict; /* no pattern, ignored, taken back by '!' */

static verdict ask(const char *patterns, size_t n, const char *path, bool is_dir)
{
    myth_mem *mem;
    myth_ignore_list *l;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_ignore_parse(&l, mem, "t", patterns, n, false, NULL), MYTH_OK);
    const myth_ignore_pattern *q = myth_ignore_find(l, path, strlen(path), is_dir);
    verdict v = !q ? NONE : q->is_negative ? BACK : OUT;
    myth_ignore_free(l, mem);
    assert_int_equal(myth_mem_close(mem), 0);
    return v;
}

/* A path with a slash at its end is a directory. */
static void traps(void **state)
{
    (void)state;
    static const struct {
        const char *patterns, *path;
        verdict want;
    } table[] = {
        /* the four shapes of a slash */
        {"dir", "dir/", OUT},
        {"dir", "a/dir", OUT},
        {"dir", "dirt", NONE},
        {"dir/", "dir/", OUT},
        {"dir/", "dir", NONE},
        {"dir/", "a/dir/", OUT},
        {"/dir", "dir", OUT},
        {"/dir", "a/dir", NONE},
        {"/dir/", "dir/", OUT},
        {"/dir/", "a/dir/", NONE},
        {"a/b", "a/b", OUT},
        {"a/b", "x/a/b", NONE},
        {"a/b/", "a/b/", OUT},
        {"a/b/", "a/b", NONE},
        {"/", "a", NONE},
        {"//", "a", NONE},
        {"a//b", "a/b", NONE},
        /* what is below an ignored directory is the walk's to know */
        {"dir/", "dir/x", NONE},
        {"/a", "a/x", NONE},
        /* stars */
        {"*.o", "x.o", OUT},
        {"*.o", "a/b/.o", OUT},
        {"*.o", "x.oo", NONE},
        {"*", "x", OUT},
        {"*", "a/b", OUT},
        {"/*", "a", OUT},
        {"/*", "a/b", NONE},
        {"a/*", "a/b", OUT},
        {"a/*", "a/b/c", NONE},
        {"a*b", "axxb", OUT},
        {"a*b*c", "abxbc", OUT},
        {"a*b*c", "abxb", NONE},
        {"*a*", "bab", OUT},
        {"a?c", "abc", OUT},
        {"a?c", "ac", NONE},
        {"a?b/c", "a/b/c", NONE},
        {"x/a*/c", "x/ab/c", OUT},
        {"x/*b", "x/a/b", NONE},
        /* two stars */
        {"**/foo", "foo", OUT},
        {"**/foo", "a/b/foo", OUT},
        {"**/foo/bar", "x/foo/bar", OUT},
        {"**/foo", "afoo", NONE},
        {"foo/**", "foo/a", OUT},
        {"foo/**", "foo/a/b", OUT},
        {"foo/**", "foo/", NONE},
        {"a/**/b", "a/b", OUT},
        {"a/**/b", "a/x/b", OUT},
        {"a/**/b", "a/x/y/b", OUT},
        {"a/**/b", "ab", NONE},
        {"a/**/b", "a/xb", NONE},
        {"a**b", "axb", OUT},
        {"/a**b", "a/b", NONE},
        {"/a**/b", "axx/b", OUT},
        {"a/**b", "a/x/b", NONE},
        {"a/**b", "a/xb", OUT},
        {"**", "a/b", OUT},
        {"/**", "a/b", OUT},
        {"**/", "a/", OUT},
        {"**/", "a", NONE},
        {"a/**/**/b", "a/b", OUT},
        {"a/***/b", "a/x/y/b", OUT},
        {"**/a/**/b/**", "x/a/b/c", OUT},
        {"**/a/**/b/**", "x/a/b", NONE},
        {"**/*a/b", "x/ya/b", OUT},
        {"**/a*/b", "ax/c/ay/b", OUT},
        {"**/a*/b", "ax/c/y/b", NONE},
        /* after a literal beginning a "**" counts as if it stood in front: git compares the beginning apart */
        {"foo**/bar", "x/foo/bar", NONE},
        {"/foo**/bar", "foo/x/bar", OUT},
        {"/foo**/bar", "foobar", OUT},
        /* taking back; the last one decides */
        {"*.o\n!x.o", "x.o", BACK},
        {"!x.o\n*.o", "x.o", OUT},
        {"a\n!a\na", "a", OUT},
        {"!dir/", "dir/", BACK},
        {"!dir/", "dir", NONE},
        {"!", "a", NONE},
        {"\\!a", "!a", OUT},
        {"\\!a", "a", NONE},
        {"!!a", "!a", BACK},
        /* comments, and what is none */
        {"#a", "#a", NONE},
        {"\\#a", "#a", OUT},
        {"a#b", "a#b", OUT},
        {" #a", " #a", OUT},
        {"!#a", "#a", BACK},
        /* blanks at the end go, unless escaped; others stay */
        {"a ", "a", OUT},
        {"a   ", "a", OUT},
        {"a ", "a ", NONE},
        {"a\\ ", "a ", OUT},
        {"a\\ ", "a", NONE},
        {"a\\  ", "a ", OUT},
        {"a\t", "a", NONE},
        {"a\t", "a\t", OUT},
        {" a", " a", OUT},
        {"a b", "a b", OUT},
        {"a\\\\ ", "a\\", OUT},
        {"   ", "   ", NONE},
        {"dir/ ", "dir/", OUT},
        {"a\r\nb\r\n", "a", OUT},
        {"a\r\nb\r\n", "b", OUT},
        {"b\r", "b", OUT},
        {"a\r\r\n", "a\r", OUT},
        {"\r\n\r\n", "\r", NONE},
        {"\xef\xbb\xbf"
         "a",
         "a", OUT},
        {"a\n\xef\xbb\xbf"
         "b",
         "b", NONE},
        {"a", "a", OUT},
        {"\n\n\na", "a", OUT},
        {"", "a", NONE},
        /* escapes */
        {"\\a", "a", OUT},
        {"\\*", "*", OUT},
        {"\\*", "a", NONE},
        {"a\\?", "a?", OUT},
        {"a\\", "a\\", NONE},
        {"a\\", "a", NONE},
        {"\\\\", "\\", OUT},
        {"a\\/b", "a/b", OUT},
        {"\\[a]", "[a]", OUT},
        /* classes */
        {"[ab]", "a", OUT},
        {"[ab]", "c", NONE},
        {"[!ab]", "c", OUT},
        {"[^ab]", "c", OUT},
        {"[!ab]", "a", NONE},
        {"[a-c]", "b", OUT},
        {"[a-c]", "d", NONE},
        {"[a-]", "-", OUT},
        {"[-a]", "-", OUT},
        {"[]]", "]", OUT},
        {"[]a]", "a", OUT},
        {"[!]]", "a", OUT},
        {"[!]]", "]", NONE},
        {"[a", "a", NONE},
        {"[a", "[a", NONE},
        {"a[", "a[", NONE},
        {"[]", "]", NONE},
        {"[\\]]", "]", OUT},
        {"[\\a-c]", "b", OUT},
        {"[a-\\c]", "b", OUT},
        {"[c-a]", "b", NONE},
        {"[[:alpha:]]", "x", OUT},
        {"[[:alpha:]]", "1", NONE},
        {"[[:digit:][:space:]]", "7", OUT},
        {"[![:upper:]]", "x", OUT},
        {"[[:nonsense:]]", "x", NONE},
        {"[[:alpha]", ":", OUT},
        {"[[:alpha]", "[", OUT},
        {"[[:alpha:", "a", NONE},
        {"x/[/]y", "x//y", NONE},
        {"x[/]y", "x/y", NONE},
        {"a[!/]c/d", "abc/d", OUT},
        {"[a-c-e]", "-", OUT},
        {"[a-c-e]", "d", NONE},
        {"*[ab]*", "xxaxx", OUT},
        {"[[:xdigit:]-z]", "-", OUT},
        /* bytes, not letters */
        {"?", "\xc3\xa9", NONE},
        {"??", "\xc3\xa9", OUT},
        {"\xff*", "\xff\xfe", OUT},
        {"A", "a", NONE},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char path[64];
        size_t n = strlen(table[i].path);
        bool is_dir = table[i].path[n - 1] == '/';
        snprintf(path, sizeof(path), "%.*s", (int)(n - is_dir), table[i].path);
        verdict got = ask(table[i].patterns, strlen(table[i].patterns), path, is_dir);
        if (got != table[i].want)
            fail_msg("patterns '%s', path '%s': %d, expected %d", table[i].patterns, table[i].path, got, table[i].want);
    }
    assert_int_equal(ask("a\0b\nc", 5, "a", false), OUT); /* a NUL ends its line */
    assert_int_equal(ask("a\0b\nc", 5, "c", false), OUT);
}

static myth_ignore_list *list(myth_mem *mem, const char *text, bool is_attributes)
{
    myth_ignore_list *l;
    assert_int_equal(myth_ignore_parse(&l, mem, "t", text, strlen(text), is_attributes, NULL), MYTH_OK);
    return l;
}

/* A higher rung over a lower one, within a rung the deeper directory, within a file the later line. */
static void ladder(void **state)
{
    (void)state;
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    myth_ignore_list *global = list(mem, "g\ne\nt\nd\nm\n", false), *exclude = list(mem, "!e\n", false),
                     *top = list(mem, "!t\nd\n/s/a\n", false), *deep = list(mem, "!d\n/a\n", false),
                     *mine = list(mem, "!m\n!s/a\n", false);
    myth_ignore_frame f0 = {.list = {[MYTH_RUNG_GLOBAL] = global, [MYTH_RUNG_EXCLUDE] = exclude}};
    myth_ignore_frame f1 = {.parent = &f0, .list = {[MYTH_RUNG_GIT] = top, [MYTH_RUNG_MYTHOS] = mine}};
    myth_ignore_frame f2 = {.parent = &f1, .list = {[MYTH_RUNG_GIT] = deep}, .n_base = 2};
    static const struct {
        const char *path;
        int from, want;
    } table[] = {
        {"s/g", 0, OUT},  {"s/e", 1, BACK}, {"s/t", 2, BACK},  {"s/d", 3, BACK},
        {"s/m", 4, BACK}, {"s/a", 4, BACK}, {"s/x", -1, NONE},
    };
    const myth_ignore_list *from[] = {global, exclude, top, deep, mine};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        myth_ignore_answer a = myth_ignore_ask(&f2, table[i].path, strlen(table[i].path), false);
        verdict got = !a.pattern ? NONE : a.pattern->is_negative ? BACK : OUT;
        if (got != (verdict)table[i].want || a.list != (table[i].from < 0 ? NULL : from[table[i].from]))
            fail_msg("%s: %d, expected %d", table[i].path, got, table[i].want);
    }
    assert_int_equal(myth_ignore_ask(&f1, "d", 1, false).list == top, true);
    for (size_t i = 0; i < 5; i++)
        myth_ignore_free((myth_ignore_list *)from[i], mem);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void attributes(void **state)
{
    (void)state;
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    myth_ignore_list *l =
        list(mem,
             "*.gen linguist-generated\n*.pb text linguist-generated=true eol=lf\n/hand.gen -linguist-generated\nb.gen "
             "linguist-generated=false\n"
             "c.gen linguist-generated-not\nd/ linguist-generated\n# x linguist-generated\n*.txt text\n",
             true);
    myth_ignore_frame f = {.attributes = l};
    static const struct {
        const char *path;
        int want;
    } table[] = {{"a.gen", 1},  {"s/a.gen", 1}, {"s/x.pb", 1}, {"hand.gen", -1}, {"s/hand.gen", 1},
                 {"b.gen", -1}, {"c.gen", 1},   {"d", 0},      {"x.txt", 0}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (myth_ignore_generated(&f, table[i].path, strlen(table[i].path)) != table[i].want)
            fail_msg("%s: expected %d", table[i].path, table[i].want);
    myth_ignore_free(l, mem);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* What makes a matcher that tries every way take longer than anyone lives: answered, and answered rightly. */
/* As git folds with core.ignorecase: what stands for itself, ranges and [:upper:]; neither what is escaped nor a letter
 * in a class. */
static void without_case(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool exactly, folded;
    } rows[] = {
        {"a", "A", false, true},
        {"A", "a", false, true},
        {"*.OBJ", "x.obj", false, true},
        {"[a-c]", "B", false, true},
        {"[A-C]", "b", false, true},
        {"[A]", "A", true, false},
        {"[a]", "A", false, true},
        {"\\A", "A", true, false},
        {"\\a", "A", false, true},
        {"[[:upper:]]", "a", false, true},
        {"[[:lower:]]", "A", false, true},
        {"[!a]", "A", true, false},
        {"\xc3\x89", "\xc3\xa9", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int k = 0; k < 2; k++)
            if (myth_glob_match(rows[i].pattern, strlen(rows[i].pattern), rows[i].text, strlen(rows[i].text), true,
                                k) != (k ? rows[i].folded : rows[i].exactly))
                fail_msg("'%s' on '%s'%s", rows[i].pattern, rows[i].text, k ? ", folded" : "");
}

static void hostile(void **state)
{
    (void)state;
    char pattern[4096], text[4096];
    size_t n = 0;
    for (int i = 0; i < 60; i++)
        n += (size_t)sprintf(pattern + n, "**/a*a*");
    sprintf(pattern + n, "/b");
    for (size_t i = 0; i < 4000; i++)
        text[i] = i % 40 == 39 ? '/' : 'a';
    assert_false(myth_glob_match(pattern, strlen(pattern), text, 4000, true, false));
    memset(pattern, '*', 2000);
    for (size_t i = 1; i < 2000; i += 2)
        pattern[i] = 'a';
    memset(text, 'a', 4000);
    text[3999] = 'b';
    pattern[1999] = 'c';
    assert_false(myth_glob_match(pattern, 2000, text, 4000, false, false));
    pattern[1999] = 'b';
    assert_true(myth_glob_match(pattern, 2000, text, 4000, false, false));
}

/* The matcher against one that tries every way, on short texts. */
static bool slow_match(const char *p, const char *t, bool is_start)
{
    if (!*p)
        return !*t;
    if (p[0] == '*') {
        size_t k = strspn(p, "*");
        if (k >= 2 && is_start && (p[k] == '/' || !p[k])) {
            if (!p[k])
                return true;
            if (slow_match(p + k + 1, t, true))
                return true;
            for (; *t; t++)
                if (*t == '/' && slow_match(p + k + 1, t + 1, true))
                    return true;
            return false;
        }
        for (;; t++) {
            if (slow_match(p + k, t, false))
                return true;
            if (!*t || *t == '/')
                return false;
        }
    }
    if (!*t || (*p == '?' ? *t == '/' : *p != *t))
        return false;
    return slow_match(p + 1, t + 1, *p == '/');
}

static void against_every_way(void **state)
{
    (void)state;
    uint64_t r = check_seed();
    uint32_t n = check_is_full() ? 5000000 : 200000, n_match = 0;
    for (uint32_t i = 0; i < n; i++) {
        char p[12], t[12];
        uint32_t np = check_below(&r, 11), nt = check_below(&r, 11);
        for (uint32_t k = 0; k < np; k++)
            p[k] = "ab*/?*/*"[check_below(&r, 8)];
        for (uint32_t k = 0; k < nt; k++)
            t[k] = "aab/"[check_below(&r, 4)];
        p[np] = t[nt] = 0;
        bool want = slow_match(p, t, true);
        n_match += want;
        if (myth_glob_match(p, np, t, nt, true, false) != want)
            fail_msg("'%s' on '%s': expected %d", p, t, want);
    }
    assert_true(n_match > n / 100); /* both answers were asked for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traps),      cmocka_unit_test(ladder),
                                       cmocka_unit_test(attributes), cmocka_unit_test(without_case),
                                       cmocka_unit_test(hostile),    cmocka_unit_test(against_every_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
