/* test_globs.c - globs with braces as lines of patterns: every form, what is refused, limits, each allocation failing;
 * and a scan by them. */
#include "scan_case.h"
#include "retrieval/scan/globs.h"

static myth_status write_globs(char **text, const char *const *globs, myth_error *err)
{
    size_t n = 0;
    char *own = NULL;
    const myth_status st = myth_globs_write(&own, &n, mem, globs, err);
    *text = st == MYTH_OK ? calloc(1, n + 1) : NULL;
    if (*text && n)
        memcpy(*text, own, n);
    if (st == MYTH_OK)
        myth_free(mem, own);
    return st;
}

/* One glob a row, and its lines with a space for each end. */
static void every_form(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *lines;
    } row[] = {
        {"*.c", "*.c "},
        {"*.{c,h}", "*.c *.h "},
        {"{a,b}/{c,d}.x", "a/c.x a/d.x b/c.x b/d.x "},
        {"*.{c,{h,hpp}}", "*.c *.h *.hpp "},
        {"{a,b{c,d{e,f}}g}", "a bcg bdeg bdfg "},
        {"a{,.bak}", "a a.bak "},
        {"a{.bak,}", "a.bak a "},
        {"a{,}", "a a "},
        {"a{}", "a "},
        {"a{b}", "ab "},
        {"{}", "/ "}, /* matches nothing, where an empty line would be passed over */
        {"!*.{c,h}", "!*.c !*.h "},
        {"!{}", "!/ "},
        {"/{src,lib}/**", "/src/** /lib/** "},
        {"{src/*.c,*.h}", "src/*.c *.h "},
        {"{!a,#b}", "\\!a \\#b "},
        {"#b", "#b "},
        {"a\\{b,c\\}", "a\\{b,c\\} "},
        {"{a\\,b,c}", "a\\,b c "},
        {"{a\\},b}", "a\\} b "},
        {"[{]a,b}", "[{]a,b} "},
        {"[{,}]", "[{,}] "},
        {"{[a,b],c}", "[a,b] c "},
        {"{[]},],c}", "[]},] c "},
        {"{[!},],c}", "[!},] c "},
        {"[[:alpha:]{,}]", "[[:alpha:]{,}] "},
        {"[\\]{]{a,b}", "[\\]{]a [\\]{]b "},
        {"a,b", "a,b "},
        {"a}", "a} "},
        {"a},{b,c}", "a},b a},c "},
        {"a\\", "a\\ "},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        myth_error err = {0};
        char *got;
        if (write_globs(&got, (const char *[]){row[i].glob, NULL}, &err) != MYTH_OK)
            fail_msg("%s: %s", row[i].glob, err.msg);
        for (char *s = got; *s; s++)
            *s = *s == '\n' ? ' ' : *s;
        if (strcmp(got, row[i].lines) != 0)
            fail_msg("%s: %s; expected %s", row[i].glob, got, row[i].lines);
        free(got);
    }
}

static void what_is_not_whole(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *says;
    } row[] = {
        {"*.{c,h", "'*.{c,h' has a { without its }; close it, or write \\{"},
        {"{a,{b,c}", "has a { without its }"},
        {"}{", "has a { without its }"},
        {"{a\\}", "has a { without its }"},
        {"{[}]", "has a { without its }"},
        {"![", "'![' has a [ without its ]; close it, or write \\["},
        {"[]", "has a [ without its ]"},
        {"{a,[b}", "has a [ without its ]"},
        {"[[:alpha:]", "has a [ without its ]"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        myth_error err = {0};
        char *got;
        assert_int_equal(write_globs(&got, (const char *[]){"*.o", row[i].glob, NULL}, &err), MYTH_EARG);
        if (!strstr(err.msg, row[i].says))
            fail_msg("%s: %s; expected %s", row[i].glob, err.msg, row[i].says);
    }
}

/* Ten pairs are the 1024 patterns that a glob may have; one more pair is refused, and so are pairs in pairs. */
static void limits(void **state)
{
    (void)state;
    char glob[2 * MYTH_GLOB_BRACES + 8] = "", *got;
    myth_error err = {0};
    uint32_t n = 0;
    assert_int_equal(
        write_globs(&got, (const char *[]){"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", NULL}, &err), MYTH_OK);
    for (const char *s = got; *s; s++)
        n += *s == '\n';
    assert_int_equal(n, MYTH_GLOB_PATTERNS);
    free(got);
    assert_int_equal(
        write_globs(&got, (const char *[]){"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", NULL}, &err),
        MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "more than 1024 patterns"));
    for (int i = 0; i <= MYTH_GLOB_BRACES; i++)
        strcat(glob, "{");
    for (int i = 0; i <= MYTH_GLOB_BRACES; i++)
        strcat(glob, "}");
    assert_int_equal(write_globs(&got, (const char *[]){glob, NULL}, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "more than 64 pairs"));
}

static void no_memory(void **state)
{
    (void)state;
    myth_status st = MYTH_ENOMEM;
    for (uint64_t i = 1; st != MYTH_OK; i++) {
        char *got = NULL;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = i});
        st = write_globs(&got, (const char *[]){"{a,b{c,d}}e", "!f", NULL}, NULL);
        myth_mem_set_fault(mem, NULL);
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
        free(got);
    }
}

static void a_scan(void **state)
{
    (void)state;
    myth_error err = {0};
    myth_scan_list l;
    text("braces/a.c", "int a;\n");
    text("braces/a.h", "int a;\n");
    text("braces/b.py", "b = 1\n");
    text("braces/sub/c.h", "int c;\n");
    text("braces/sub/{x,y}.txt", "x\n");
    text("braces/build/d.c", "int d;\n");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"*.{c,h}", NULL}}, "a.c a.h sub/c.h");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"!*.{c,h}", NULL}}, "b.py sub/{x,y}.txt");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"*.{c,h}", "!{sub,none}", NULL}}, "a.c a.h");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"{sub,build}/*.[ch]", NULL}}, "build/d.c sub/c.h");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"\\{x,y\\}.txt", NULL}}, "sub/{x,y}.txt");
    expect_in("braces", &(myth_scan_opts){.globs = (const char *[]){"{}", NULL}}, "");
    /* patterns of files are git's, for which braces are letters */
    text("braces/.ignore", "*.{c,h}\n{x,y}.txt\n");
    expect_in("braces", &(myth_scan_opts){0}, "a.c a.h b.py sub/c.h");
    assert_int_equal(myth_scan(&l, mem,
                               &(myth_scan_opts){.root = files_path("braces"), .globs = (const char *[]){"{a", NULL}},
                               &err),
                     MYTH_EARG);
    assert_non_null(strstr(err.msg, "{ without its }"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_mem, close_mem)
    const struct CMUnitTest tests[] = {T(every_form), T(what_is_not_whole), T(limits), T(no_memory), T(a_scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
