/* runlog_case.h - helpers for tests of the run log: write and read files of the test's folder, run a shell line, and
 * parse what it prints as JSON. */
#ifndef MYTH_TESTS_RUNLOG_CASE_H
#define MYTH_TESTS_RUNLOG_CASE_H

#include "tests/frontend/cli/cli_run.h"

static cli_result r;

#define LOG     "--log $D/runs.db "
#define SHIPPED "-m models/mythos-inspect.gguf "

static inline void put_bytes(const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static inline void put_file(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

/* Reads a whole file of the test's folder, with a NUL after it; the caller frees it. */
static inline char *get_file(const char *name, size_t *n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = calloc(1, *n + 1);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

static const char source[] = "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n\nint g(char *s)\n{\n\tchar "
                             "b[4];\n\tstrcpy(b, s);\n\treturn b[0];\n}\n";

/* Runs a shell line, which must end with this exit code, and returns its standard output as one JSON document. */
static inline json_t *json_of(const char *line, int code)
{
    json_error_t e;
    size_t n;
    cli_shell(&r, line);
    if (r.code != code)
        print_error("%s\n  exit %d, expected %d\n  %.600s\n  %.300s\n", line, r.code, code, r.err, r.out);
    assert_int_equal(r.code, code);
    char *out = get_file("out", &n);
    json_t *j = json_loadb(out, n, 0, &e);
    if (!j)
        print_error("%s\n  %s: %.300s\n", line, e.text, out);
    assert_non_null(j);
    free(out);
    return j;
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    if (!s)
        print_error("no text %s\n", key);
    assert_non_null(s);
    return s;
}

static inline void expect_text(const json_t *j, const char *key, const char *value)
{
    assert_string_equal(text_of(j, key), value);
}

static inline int run_quietly(const char *line)
{
    cli_shell(&r, line);
    return r.code;
}

static inline void new_log(void) { assert_int_equal(run_quietly("rm -f $D/runs.db*"), 0); }

#endif
