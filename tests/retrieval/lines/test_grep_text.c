/* test_grep_text.c - line search over text that is not ASCII: characters, classes, words and case of Unicode, bytes
 * that are no characters, byte order marks, UTF-16. Expected lines are written out; ripgrep finds the same. */
#define _GNU_SOURCE
#include "tests/support/files.h"
#include "engine/base/utf8.h"
#include "retrieval/lines/grep.h"

#include <unistd.h>

static myth_mem *mem;

typedef struct {
    const char *flags, *query, *lines; /* flags of F, i, w; numbers of lines, a space behind each */
} text_case;

static const char text_lines[] = "\xc4\x8c"
                                 "ert\xc3\xadk\n" /* 1 a C with caron, an i with acute */
                                 "gr\xc3\xb6\xc3\x9f"
                                 "e\n"              /* 2 */
                                 "\xe2\x84\xaa 5\n" /* 3 the sign of Kelvin */
                                 "ma\xc5\xbfk\n"    /* 4 a long s */
                                 "x\xff"
                                 "er\n"                                        /* 5 a byte that is no character */
                                 "abc\n"                                       /* 6 */
                                 "caf\xc3\xa9s caf\xc3\xa9 \xd7\xa9\xd7\x9c\n" /* 7 */
                                 "\xc3\x89T\xc3\x89 \xc2\xb2\n"                /* 8 a superscript is not of a word */
                                 "e\xcc\x81x\n"                                /* 9 a combining accent is */
                                 "\xd9\xa3\xd9\xa4\r\n"                        /* 10 Arabic digits */
                                 "last \xf0\x9f\x98\x80";

static const text_case text_table[] = {
    {"", "^.er", "1 "},
    {"", "gr\\w+e", "2 "},
    {"", "gr..e", "2 "},
    {"", "gr\xc3\xb6?\xc3\x9f?e", "2 "},
    {"", "gra?\xc3\xb6\xc3\xa4*\xc3\x9f", "2 "},
    {"", "\xc3\xa4{0}ert", "1 "},
    {"", "abc\xc3\xa9?", "6 "},
    {"i", "k", "1 3 4 "},
    {"Fi", "k", "1 3 4 "},
    {"Fi", "MASK", "4 "},
    {"i", "mas", "4 "},
    {"i", "\xc3\xa9t\xc3\xa9", "8 "},
    {"Fi", "\xc3\xa9t\xc3\xa9", "8 "},
    {"F", "\xc3\xa9t\xc3\xa9", ""},
    {"i", "\xe2\x84\xaa", "1 3 4 "},
    {"Fi", "ABC", "6 "},
    {"", "x.er", ""},
    {"", "^e[^a]x", "9 "},
    {"F", "x\xff", "5 "},
    {"", "er$", "5 "},
    {"w", "caf\xc3\xa9", "7 "},
    {"Fw", "caf\xc3\xa9", "7 "},
    {"Fw", "caf", ""},
    {"w", "caf", ""},
    {"Fw", "gr", ""},
    {"Fiw", "t", ""},
    {"Fw", "x", ""},
    {"w", "\xd7\xa9\xd7\x9c", "7 "},
    {"", "\\bcaf\\b", ""},
    {"", "\\bcaf\xc3\xa9\\b", "7 "},
    {"", "^e\\wx$", "9 "},
    {"", "[\\w-]x$", "9 "},
    {"", "^e\\W", ""},
    {"", "\\s\\w$", "3 "},
    {"", "\xc3\x89 \\W$", "8 "},
    {"", "^\\d\\d", "10 "},
    {"", "^\\d+$", ""},
    {"", "^\\d+\\r$", "10 "},
    {"", "last .$", "11 "},
    {"", "[\xc3\xb6-\xc3\xbc]\xc3\x9f", "2 "},
    {"", "\\p{Lu}ert", "1 "},
    {"", "\\x{10d}|\\x{10c}", "1 "},
    {"", "\\x{1f600}", "11 "},
    {"", "(*UTF)abc|x", "5 6 9 "},
    {"", "^", "1 2 3 4 5 6 7 8 9 10 11 "},
};

static bool add_number(void *arg, const myth_grep_row *row)
{
    char *at = (char *)arg + strlen(arg);
    snprintf(at, 16, "%u ", row->line);
    assert_true(row->match_off + row->n_match <= row->n_text);
    return true;
}

static void ask_text(const char *root, const text_case *t, const char *note)
{
    myth_scan_list l;
    myth_error err = {0};
    char got[200] = "";
    const myth_grep_opts o = {
        .root = root,
        .pattern = (const unsigned char *)t->query,
        .n_pattern = strlen(t->query),
        .is_regex = !strchr(t->flags, 'F'),
        .ignore_case = strchr(t->flags, 'i') != NULL,
        .is_word = strchr(t->flags, 'w') != NULL,
        .n_threads = 1,
    };
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = root}, NULL), MYTH_OK);
    assert_int_equal(l.n_file, 1);
    if (myth_grep(mem, &l, &o, add_number, got, NULL, &err) != MYTH_OK)
        fail_msg("%s, -%s '%s': %s", note, t->flags, t->query, err.msg);
    if (strcmp(got, t->lines) != 0)
        fail_msg("%s, -%s '%s': lines %s, expected %s", note, t->flags, t->query, got, t->lines);
    myth_scan_close(&l, mem);
}

/* Puts text as UTF-16; a byte that is no character as half of a surrogate pair. */
static void put_wide(bytes *b, const char *text, size_t n, bool is_be)
{
    for (size_t i = 0; i < n;) {
        uint32_t u, unit[2];
        const int k = myth_utf8_decode((const unsigned char *)text + i, n - i, &u);
        int n_unit = 1;
        unit[0] = k ? u : 0xdcff;
        if (k && u >= 0x10000) {
            unit[0] = 0xd800 + ((u - 0x10000) >> 10);
            unit[n_unit++] = 0xdc00 + ((u - 0x10000) & 0x3ff);
        }
        for (int j = 0; j < n_unit; j++) {
            const unsigned char half[2] = {(unsigned char)(unit[j] >> 8), (unsigned char)unit[j]};
            bytes_put(b, &half[!is_be], 1);
            bytes_put(b, &half[is_be], 1);
        }
        i += k ? (size_t)k : 1;
    }
}

/* The table over its lines as UTF-8, without and with a mark, and as UTF-16 of both orders. */
static void beyond_ascii(void **state)
{
    (void)state;
    static const char *const name[] = {"UTF-8", "UTF-8 with a mark", "UTF-16LE", "UTF-16BE"};
    for (int as = 0; as < 4; as++) {
        bytes b = {0};
        const bool is_wide = as >= 2;
        files_mkdir("beyond");
        if (as)
            bytes_text(&b, as == 1 ? "\xef\xbb\xbf" : as == 2 ? "\xff\xfe" : "\xfe\xff");
        if (is_wide)
            put_wide(&b, text_lines, sizeof(text_lines) - 1, as == 3);
        else
            bytes_put(&b, text_lines, sizeof(text_lines) - 1);
        files_put("beyond/a.txt", b.data, b.len);
        bytes_free(&b);
        for (size_t i = 0; i < sizeof(text_table) / sizeof(text_table[0]); i++) {
            const text_case *t = &text_table[i];
            if (is_wide && (strchr(t->query, '\xff') || strcmp(t->query, "x.er") == 0 || strcmp(t->query, "x") == 0))
                continue; /* there the byte is U+FFFD, which is a character and not of a word */
            ask_text(files_path("beyond"), t, name[as]);
        }
        files_clear("beyond");
        assert_int_equal(rmdir(files_path("beyond")), 0);
    }
}

static int open_mem(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int close_mem(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beyond_ascii, open_mem, close_mem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
