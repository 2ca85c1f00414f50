/* test_output.c - what the commands write: texts that cannot control a terminal, JSON that is valid whatever the bytes,
 * numbers, colour, .npy files. */
#include "tests/support/check.h"

#include "frontend/cli/json_out.h"
#include "frontend/cli/npy.h"
#include "frontend/cli/term.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

static char *text;
static size_t text_len;

static FILE *begin(void) { return open_memstream(&text, &text_len); }
static void end(FILE *f, const char *expected)
{
    fclose(f);
    assert_string_equal(text, expected);
    free(text);
}

static void terminal_text_is_inert(void **state)
{
    (void)state;
    static const char raw[] = "a\x1b[31mb\x7f\r\n\tc\xe2\x80\xae"
                              "d\xc2\x9b"
                              "e\xff\xc3\xa9";
    FILE *f = begin();
    myth_term_safe(f, raw, sizeof(raw) - 1);
    end(f, "a\\x1b[31mb\\x7f\\x0d\n\tc\\u{202e}d\\u{009b}e\\xff\xc3\xa9");
}

static void names_stay_on_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *shown;
    } row[] = {
        {"a\nmythos: all is well\tb", "a\\nmythos: all is well\\tb"},
        {"::stop-commands::x", "\\x3a:stop-commands::x"},
        {" \t::error::x", " \\t\\x3a:error::x"},
        {"a::b", "a::b"},
        {"a ##[error]b ##vso[x] ## c", "a \\x23#[error]b \\x23#vso[x] ## c"},
        {"\x1b]0;t\x07\xe2\x80\xae\xff", "\\x1b]0;t\\x07\\u{202e}\\xff"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        FILE *f = begin();
        myth_term_path(f, row[i].raw);
        end(f, row[i].shown);
        myth_error err; /* a message must spell the name in the same way */
        if (!strchr(row[i].shown, ':') && !strchr(row[i].shown, '#')) {
            myth_fail(&err, MYTH_EIO, "%s", row[i].raw);
            assert_string_equal(err.msg, row[i].shown);
        }
    }
}

static void json_text_is_valid_whatever_the_bytes(void **state)
{
    (void)state;
    uint64_t seed = check_seed();
    for (int round = 0; round < 500; round++) {
        char bytes[64];
        size_t n = check_below(&seed, sizeof(bytes));
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)check_below(&seed, 256);
        FILE *f = begin();
        myth_json_out j;
        myth_jout_start(&j, f);
        myth_jout_array(&j);
        myth_jout_text(&j, bytes, n);
        myth_jout_end(&j);
        fclose(f);
        json_t *v = json_loadb(text, text_len, JSON_ALLOW_NUL, NULL);
        assert_non_null(v);
        json_decref(v);
        free(text);
    }
}

static void json_documents(void **state)
{
    (void)state;
    FILE *f = begin();
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "a\"b", "line\nquote\"\\");
    myth_jout_key(&j, "list");
    myth_jout_array(&j);
    myth_jout_f64(&j, (double)NAN);
    myth_jout_f64(&j, 0.1);
    myth_jout_bool(&j, true);
    myth_jout_array(&j);
    myth_jout_end(&j);
    myth_jout_object(&j);
    myth_jout_end(&j);
    myth_jout_end(&j);
    myth_jout_key(&j, "ids");
    myth_jout_ids(&j, (const int32_t[]){2, -1, 3}, 3);
    myth_jout_key(&j, "parts");
    myth_jout_text_begin(&j);
    myth_jout_text_part(&j, "x", 1);
    myth_jout_text_part(&j, "\t", 1);
    myth_jout_text_end(&j);
    myth_jout_key_u64(&j, "n", UINT64_MAX);
    myth_jout_end(&j);
    end(f, "{\"a\\\"b\":\"line\\nquote\\\"\\\\\",\"list\":[null,0.1,true,[],{}],\"ids\":[2,-1,3],\"parts\":\"x\\t\","
           "\"n\":18446744073709551615}\n");
}

/* In a document that is nested deeper than the writer allows, what is too deep becomes null and the rest stays, also in
 * builds without assertions. */
/* Documents in a block: what fits is whole, with one byte to spare, and what does not fit is no document. */
static void json_in_a_block(void **state)
{
    (void)state;
    static const char whole[] = "{\"id\":[1, 2],\"a\":\"xy\"}\n{\"b\":2}\n";
    for (size_t cap = 1; cap <= sizeof(whole) + 2; cap++) {
        char block[sizeof(whole) + 2];
        myth_jout_block b;
        size_t n = 99;
        myth_json_out *j = myth_jout_block_begin(&b, block, cap);
        myth_jout_object(j);
        myth_jout_key(j, "id");
        myth_jout_json(j, "[1, 2]", 6); /* kept as it is */
        myth_jout_key_str(j, "a", "xy");
        myth_jout_end(j);
        j = myth_jout_block_next(&b);
        myth_jout_object(j);
        myth_jout_key_u64(j, "b", 2);
        myth_jout_end(j);
        const bool fits = cap > sizeof(whole) - 1;
        assert_int_equal(myth_jout_block_end(&b, &n), fits ? MYTH_OK : MYTH_ELIMIT);
        assert_int_equal(n, fits ? sizeof(whole) - 1 : 0);
        if (fits)
            assert_memory_equal(block, whole, n);
    }
    /* without memory for a stream nothing is written, and the end says so */
    char block[8] = "as it is";
    myth_jout_block b;
    size_t n;
    myth_json_out *j = myth_jout_block_begin(&b, block, sizeof(block));
    fclose(b.f);
    b.f = NULL;
    memcpy(block, "as it is", sizeof(block));
    j = myth_jout_block_next(&b);
    myth_jout_object(j);
    myth_jout_key_u64(j, "b", 2);
    myth_jout_end(j);
    assert_int_equal(myth_jout_block_end(&b, &n), MYTH_ENOMEM);
    assert_memory_equal(block, "as it is", sizeof(block));
}

static void json_is_bounded_in_depth(void **state)
{
    (void)state;
    enum { MOST = 3 * MYTH_JOUT_DEPTH };
    for (int depth = 1; depth <= MOST; depth++)
        for (int kind = 0; kind < 2; kind++) {
            FILE *f = begin();
            struct {
                myth_json_out j;
                unsigned char behind[64];
            } w;
            memset(&w, 0xa5, sizeof(w));
            myth_jout_start(&w.j, f);
            for (int i = 0; i < depth; i++) {
                if (kind && i)
                    myth_jout_key(&w.j, "k");
                kind ? myth_jout_object(&w.j) : myth_jout_array(&w.j);
            }
            if (kind)
                myth_jout_key(&w.j, "v");
            myth_jout_text_begin(&w.j);
            myth_jout_text_part(&w.j, "x", 1);
            myth_jout_text_end(&w.j);
            if (!kind)
                myth_jout_u64(&w.j, 7);
            for (int i = 0; i < depth; i++)
                myth_jout_end(&w.j);
            fclose(f);
            for (size_t i = 0; i < sizeof(w.behind); i++)
                assert_int_equal(w.behind[i], 0xa5);
            json_t *v = json_loads(text, JSON_DECODE_ANY, NULL), *at = v;
            assert_non_null(v);
            for (int i = 1; i < (depth < MYTH_JOUT_DEPTH ? depth : MYTH_JOUT_DEPTH); i++)
                at = kind ? json_object_get(at, "k") : json_array_get(at, 0);
            const json_t *in = kind ? json_object_get(at, depth > MYTH_JOUT_DEPTH ? "k" : "v") : json_array_get(at, 0);
            assert_true(depth > MYTH_JOUT_DEPTH ? json_is_null(in) : !strcmp(json_string_value(in), "x"));
            json_decref(v);
            free(text);
        }
}

static void floats_survive(void **state)
{
    (void)state;
    uint64_t seed = check_seed();
    for (int i = 0; i < 2000; i++) {
        uint32_t bits = (uint32_t)check_rand(&seed);
        float v, back;
        memcpy(&v, &bits, 4);
        if (!isfinite(v))
            continue;
        FILE *f = begin();
        myth_json_out j;
        myth_jout_start(&j, f);
        myth_jout_f64(&j, (double)v);
        fclose(f);
        back = strtof(text, NULL);
        free(text);
        assert_true(back == v);
    }
}

static void colour_follows_the_environment(void **state)
{
    (void)state;
    myth_term t;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    setenv("CLICOLOR_FORCE", "1", 1);
    myth_term_start(&t, false, false, false);
    assert_true(t.has_color_out);
    assert_string_equal(myth_term_color(&t, stdout, MYTH_COLOR_RED), "\033[31m");
    setenv("TERM", "dumb", 1);
    myth_term_start(&t, false, false, false);
    assert_false(t.has_color_out);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    myth_term_start(&t, false, false, false);
    assert_string_equal(myth_term_color(&t, stdout, MYTH_COLOR_RED), "");
    unsetenv("NO_COLOR");
    setenv("CLICOLOR_FORCE", "0", 1);
    myth_term_start(&t, false, false, false);
    assert_true(t.has_color_out == (isatty(1) != 0));
    unsetenv("CLICOLOR_FORCE");
}

static void npy_files_have_the_format(void **state)
{
    (void)state;
    char path[] = "/tmp/mythos-npy-XXXXXX", head[10];
    myth_error err = {0};
    myth_npy n;
    close(mkstemp(path));
    assert_int_equal(myth_npy_create(&n, path, (uint64_t[]){2, 3}, 2, &err), MYTH_OK);
    assert_int_equal(n.data_off % 64, 0);
    assert_int_equal(myth_npy_write_row(&n, 1, (const float[]){4, 5, 6}, &err), MYTH_OK);
    assert_int_equal(myth_npy_write_row(&n, 0, (const float[]){1, 2, 3}, &err), MYTH_OK);
    assert_int_equal(myth_npy_finish(&n, &err), MYTH_OK);
    FILE *f = fopen(path, "rb");
    char rest[256] = {0};
    float v[7];
    assert_int_equal(fread(head, 1, 10, f), 10);
    assert_memory_equal(head, "\x93NUMPY\x01\x00", 8);
    size_t len = (unsigned char)head[8] | (size_t)(unsigned char)head[9] << 8;
    assert_int_equal(len + 10, n.data_off);
    assert_int_equal(fread(rest, 1, len, f), len);
    assert_string_equal(strtok(rest, " \n"), "{'descr':");
    assert_int_equal(fread(v, 4, 7, f), 6);
    for (int i = 0; i < 6; i++)
        assert_true(v[i] == (float)(i + 1));
    fclose(f);
    remove(path);
    assert_int_equal(myth_npy_create(&n, "/nowhere/x.npy", (uint64_t[]){2}, 1, &err), MYTH_ECREATE);
    myth_npy_abandon(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_text_is_inert),
        cmocka_unit_test(names_stay_on_their_line),
        cmocka_unit_test(json_text_is_valid_whatever_the_bytes),
        cmocka_unit_test(json_documents),
        cmocka_unit_test(json_in_a_block),
        cmocka_unit_test(json_is_bounded_in_depth),
        cmocka_unit_test(floats_survive),
        cmocka_unit_test(colour_follows_the_environment),
        cmocka_unit_test(npy_files_have_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
