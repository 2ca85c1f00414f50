/* test_text.c - the small parts that every loader uses: UTF-8, bounded reads, checked sizes, error lines, element
 * types.
 */
#include "engine/base/bytes.h"
#include "engine/base/dtype.h"
#include "engine/base/status.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"
#include "tests/support/check.h"
#include "tests/support/comma.h"

/* Unicode 15, table 3-7, written out: the well-formed sequences by the ranges of their bytes. */
static const struct {
    unsigned char lo[4], hi[4];
    int len;
} well_formed[] = {
    {{0x00}, {0x7f}, 1},
    {{0xc2, 0x80}, {0xdf, 0xbf}, 2},
    {{0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}, 3},
    {{0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}, 3},
    {{0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}, 3},
    {{0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}, 3},
    {{0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}, 4},
    {{0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}, 4},
    {{0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}, 4},
};

static int table_length(const unsigned char *s, size_t n)
{
    for (size_t r = 0; r < sizeof(well_formed) / sizeof(well_formed[0]); r++) {
        int i = 0, len = well_formed[r].len;
        while (i < len && (size_t)i < n && s[i] >= well_formed[r].lo[i] && s[i] <= well_formed[r].hi[i])
            i++;
        if (i == len)
            return len;
    }
    return 0;
}

static void utf8_every_scalar_goes_out_and_back(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        if (cp >= 0xd800 && cp <= 0xdfff)
            continue;
        unsigned char s[4];
        uint32_t back = 0;
        int n = myth_utf8_encode((char *)s, cp), want = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        if (n != want || table_length(s, (size_t)n) != n || myth_utf8_decode(s, (size_t)n, &back) != n || back != cp)
            fail_msg("U+%04X: %d bytes, back as U+%04X", cp, n, back);
        for (int cut = 0; cut < n; cut++)
            assert_int_equal(myth_utf8_decode(s, (size_t)cut, &back), 0);
    }
}

static void utf8_accepts_what_the_table_accepts(void **state)
{
    (void)state;
    uint32_t cp;
    for (uint32_t v = 0; v < 1 << 24; v++) { /* every three bytes: shorter forms and bad heads of longer ones */
        unsigned char s[4] = {(unsigned char)(v >> 16), (unsigned char)(v >> 8), (unsigned char)v, 0x80};
        size_t n = s[0] >= 0xf0 ? 4 : 3;
        if (myth_utf8_decode(s, n, &cp) != table_length(s, n))
            fail_msg("%02x %02x %02x (%zu bytes)", s[0], s[1], s[2], n);
    }
    uint64_t rng = check_seed();
    for (int i = 0; i < 1000000; i++) {
        uint32_t v = (uint32_t)check_rand(&rng);
        unsigned char s[4] = {(unsigned char)(0xf0 | (v & 7)), (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                              (unsigned char)(v >> 24)};
        if (v & 8)
            s[1] = 0x80 | (s[1] & 0x3f), s[2] = 0x80 | (s[2] & 0x3f);
        assert_int_equal(myth_utf8_decode(s, 4, &cp), table_length(s, 4));
    }
}

static void reads_stop_at_the_end(void **state)
{
    (void)state;
    const unsigned char bytes[8] = {0x01, 0x82, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88};
    for (uint64_t size = 0; size <= 8; size++) {
        uint8_t a = 0;
        uint16_t b = 0;
        uint32_t c = 0;
        uint64_t d = 0;
        myth_reader r = {bytes, size, 0};
        assert_int_equal(myth_reader_u8(&r, &a), size >= 1);
        assert_int_equal(r.pos, size >= 1);
        r.pos = 0;
        assert_int_equal(myth_reader_u16(&r, &b), size >= 2);
        assert_int_equal(r.pos, size >= 2 ? 2 : 0);
        r.pos = 0;
        assert_int_equal(myth_reader_u32(&r, &c), size >= 4);
        assert_int_equal(r.pos, size >= 4 ? 4 : 0);
        r.pos = 0;
        assert_int_equal(myth_reader_u64(&r, &d), size >= 8);
        assert_int_equal(r.pos, size >= 8 ? 8 : 0);
        assert_int_equal(myth_reader_left(&r), size - r.pos);
        if (size == 8) {
            assert_int_equal(a, 0x01);
            assert_int_equal(b, 0x8201);
            assert_int_equal(c, 0x84038201u);
            assert_true(d == 0x8807060584038201u);
        }
        r.pos = 0;
        assert_true(myth_reader_take(&r, size) == bytes);
        assert_null(myth_reader_take(&r, 1));
        assert_null(myth_reader_take(&r, UINT64_MAX));
        assert_non_null(myth_reader_take(&r, 0));
    }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    uint64_t v;
    assert_true(myth_mul_u64(&v, 1ull << 32, (1ull << 32) - 1));
    assert_false(myth_mul_u64(&v, 1ull << 32, 1ull << 32));
    assert_true(myth_add_u64(&v, UINT64_MAX, 0));
    assert_false(myth_add_u64(&v, UINT64_MAX, 1));
    assert_true(myth_align_u64(&v, 33, 32));
    assert_int_equal(v, 64);
    assert_true(myth_align_u64(&v, 64, 32));
    assert_int_equal(v, 64);
    assert_false(myth_align_u64(&v, UINT64_MAX - 3, 32));
}

static void errors_are_one_clean_line(void **state)
{
    (void)state;
    myth_error err = {0};
    assert_int_equal(myth_fail(&err, MYTH_EIO, "a\nb\033[31m\x7f%s", "\xff\xc2\x9b\xe2\x80\xae!"), MYTH_EIO);
    assert_int_equal(err.code, MYTH_EIO);
    assert_string_equal(err.msg, "a\\nb\\x1b[31m\\x7f\\xff\\u{009b}\\u{202e}!");
    assert_int_equal(myth_fail(NULL, MYTH_EARG, "%s", "nobody listens"), MYTH_EARG);

    char text[700];
    for (size_t lead = 0; lead < 4; lead++) { /* a character is not cut in half */
        memset(text, 'x', lead);
        for (size_t i = 0; i < 100; i++)
            memcpy(text + lead + 4 * i, "\xf0\x9f\x98\x80", 4);
        text[lead + 400] = '\0';
        myth_fail(&err, MYTH_EIO, "%s", text);
        assert_int_equal(strlen(err.msg), lead + (255 - lead) / 4 * 4);
    }
    myth_fail(&err, MYTH_EIO, "first");
    myth_fail(&err, MYTH_EFORMAT, "%s, then second", err.msg);
    assert_string_equal(err.msg, "first, then second");
    for (int c = 0; c < MYTH_STATUS_N; c++)
        assert_true(strncmp(myth_status_name((myth_status)c), "MYTH_", 5) == 0);
    assert_non_null(myth_status_name((myth_status)999));
}

static void dtypes_agree_with_themselves(void **state)
{
    (void)state;
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        const myth_dtype_info *info = myth_dtype_get((myth_dtype)t);
        myth_dtype back = MYTH_DTYPE_N;
        assert_true(myth_dtype_from_name(&back, info->name));
        assert_int_equal(back, t);
        assert_int_equal(info->block, myth_dtype_block((myth_dtype)t));
        assert_int_equal(info->block_bytes, myth_dtype_block_bytes((myth_dtype)t));
        if (info->gguf >= 0) {
            assert_true(myth_dtype_from_gguf(&back, (uint32_t)info->gguf));
            assert_int_equal(back, t);
        }
        if (info->safetensors) {
            assert_true(myth_dtype_from_safetensors(&back, info->safetensors, strlen(info->safetensors)));
            assert_int_equal(back, t);
            assert_false(myth_dtype_from_safetensors(&back, info->safetensors, strlen(info->safetensors) - 1));
        }
    }
    static const struct {
        myth_dtype t;
        uint32_t gguf;
        uint64_t row256;
    } want[] = {
        /* ggml's type codes; bytes of 256 elements */
        {MYTH_F32, 0, 1024},  {MYTH_F16, 1, 512},     {MYTH_Q4_0, 2, 144},    {MYTH_Q8_0, 8, 272},
        {MYTH_BF16, 30, 512}, {MYTH_Q4_1, 3, 160},    {MYTH_Q5_0, 6, 176},    {MYTH_Q5_1, 7, 192},
        {MYTH_Q2_K, 10, 84},  {MYTH_Q3_K, 11, 110},   {MYTH_Q4_K, 12, 144},   {MYTH_Q5_K, 13, 176},
        {MYTH_Q6_K, 14, 210}, {MYTH_IQ4_NL, 20, 144}, {MYTH_IQ4_XS, 23, 136}, {MYTH_MXFP4, 39, 136},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_int_equal(myth_dtype_get(want[i].t)->gguf, want[i].gguf);
        assert_int_equal(myth_row_bytes(want[i].t, 256), want[i].row256);
    }
    myth_dtype t;
    assert_true(myth_dtype_from_name(&t, "Q8_0"));
    assert_int_equal(t, MYTH_Q8_0);
    assert_false(myth_dtype_from_name(&t, "q8_1"));
    assert_false(myth_dtype_from_name(&t, ""));
    assert_false(myth_dtype_from_gguf(&t, 9));
    assert_false(myth_dtype_from_gguf(&t, UINT32_MAX));
    assert_false(myth_dtype_from_safetensors(&t, "I64", 3));
}

static void numbers_have_a_point_in_every_locale(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        size_t read;
    } row[] = {
        {"3.75", 3.75, 4}, {"-0.5%", -0.5, 4}, {"7", 7, 1},   {"1e3,", 1000, 3}, {"2.5e-1x", 0.25, 6}, {"1,5", 1, 1},
        {"1.2.3", 1.2, 3}, {".5", 0.5, 2},     {"5.", 5, 2},  {"", 0, 0},        {"%", 0, 0},          {"nan", 0, 0},
        {"0x10", 0, 1},    {" 1", 0, 0},       {"1.e", 1, 2}, {"...", 0, 0},     {"1.5.", 1.5, 3},
    };
    for (int has_comma = 0; has_comma < 2; has_comma++) {
        if (has_comma && !comma_begin())
            check_skip("no locale with a comma is installed, and localedef makes none");
        double got[sizeof(row) / sizeof(row[0])];
        size_t read[sizeof(row) / sizeof(row[0])];
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
            const char *end;
            got[i] = myth_text_number(row[i].text, &end);
            read[i] = (size_t)(end - row[i].text);
        }
        setlocale(LC_NUMERIC, "C");
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
            if (got[i] != row[i].value || read[i] != row[i].read)
                fail_msg("%s: %g, %zu characters", row[i].text, got[i], read[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_every_scalar_goes_out_and_back),
        cmocka_unit_test(utf8_accepts_what_the_table_accepts),
        cmocka_unit_test(reads_stop_at_the_end),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(errors_are_one_clean_line),
        cmocka_unit_test(dtypes_agree_with_themselves),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
