/* test_tokenizer_added.c - added tokens that strip, stand alone or are looked for after the normalizer give the ids of
 * the `tokenizers` library.
 *
 * Golden   tests/golden/tokenizer/added.txt, by tests/golden/make_added_tokens.py */
#include "engine/text/tokenizer_impl.h"
#include "tests/support/check.h"

enum { TEXT_MAX = 1 << 12, LINE_MAX_BYTES = 1 << 15 };

static char *base; /* small_new.json */
static long base_bytes;
static FILE *golden;
static myth_error err;

static int open_files(void **state)
{
    char path[1024];
    (void)state;
    FILE *f = fopen(check_path(path, sizeof path, "tests/golden/tokenizer/small_new.json"), "rb");
    golden = fopen(check_path(path, sizeof path, "tests/golden/tokenizer/added.txt"), "rb");
    if (!f || !golden || fseek(f, 0, SEEK_END) != 0 || (base_bytes = ftell(f)) < 0)
        return -1;
    rewind(f);
    base = calloc(1, (size_t)base_bytes + 1);
    bool is_read = base && fread(base, 1, (size_t)base_bytes, f) == (size_t)base_bytes;
    fclose(f);
    return is_read ? 0 : -1;
}

static int close_files(void **state)
{
    (void)state;
    free(base);
    fclose(golden);
    return 0;
}

/* The base file with more added tokens, which begin its list. */
static char *file_with(const char *tokens)
{
    static const char list[] = "\"added_tokens\":";
    char *at = strstr(base, list), *file = malloc((size_t)base_bytes + strlen(tokens) + 2);
    assert_true(at && file);
    at = strchr(at, '[');
    assert_non_null(at);
    size_t n = (size_t)(at + 1 - base);
    memcpy(file, base, n);
    sprintf(file + n, "%s,%s", tokens, at + 1);
    return file;
}

static myth_tokenizer *open_with(const char *tokens, myth_mem *mem)
{
    myth_tokenizer *t = NULL;
    char *file = file_with(tokens);
    if (myth_tok_open_json(&t, mem, file, strlen(file), "added", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    free(file);
    return t;
}

static size_t read_hex(char *dst, const char *src)
{
    size_t n = 0;
    for (unsigned byte; n < TEXT_MAX && src[2 * n] != '\t' && sscanf(src + 2 * n, "%2x", &byte) == 1; n++)
        dst[n] = (char)byte;
    return n;
}

static void ids_equal_the_library(void **state)
{
    (void)state;
    static char line[LINE_MAX_BYTES], text[TEXT_MAX];
    static int32_t ids[TEXT_MAX];
    myth_mem *mem;
    myth_tokenizer *t = NULL;
    uint32_t n_set = 0, n_text = 0;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    while (fgets(line, sizeof line, golden)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '=') {
            myth_tokenizer_close(t);
            t = open_with(line + 2, mem);
            n_set++;
            continue;
        }
        size_t n = read_hex(text, line), n_ids, i = 0;
        assert_non_null(t);
        assert_int_equal(myth_tokenizer_encode(t, mem, MYTH_TOK_TEMPLATE, text, n, ids, TEXT_MAX, &n_ids, &err),
                         MYTH_OK);
        char *at = strchr(line, '\t');
        assert_non_null(at);
        for (long want; *at && (want = strtol(at, &at, 10), true); i++)
            if (i >= n_ids || ids[i] != want)
                fail_msg("set %u: \"%.*s\": id %zu is %d, the library has %ld", n_set, (int)n, text, i,
                         i < n_ids ? ids[i] : -1, want);
        assert_int_equal(i, n_ids);
        n_text++;
    }
    myth_tokenizer_close(t);
    assert_int_equal(myth_mem_close(mem), 0);
    assert_true(n_set == 7 && n_text == 7 * 250);
}

/* Many tokens that are white space and strip it: each sees the same white space, which is read once. */
static void a_megabyte_of_white_space(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    myth_mem *mem;
    size_t n_ids;
    char *text = malloc(N);
    int32_t *ids = malloc(4 * (size_t)N);
    assert_true(text && ids);
    memset(text, '\r', N);
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    for (int is_both = 0; is_both < 2; is_both++) {
        myth_tokenizer *t = open_with(is_both ? "{\"id\":1391,\"content\":\"\\r\",\"lstrip\":true,\"rstrip\":true}"
                                              : "{\"id\":1391,\"content\":\"\\r\",\"rstrip\":true}",
                                      mem);
        assert_true(myth_tokenizer_has_options(t));
        assert_int_equal(myth_tokenizer_encode(t, mem, MYTH_TOK_CONTENT, text, N, ids, N, &n_ids, &err), MYTH_OK);
        assert_int_equal(n_ids, is_both ? 1 : N); /* as in the library */
        for (size_t i = 0; i < n_ids; i += N / 16)
            assert_int_equal(ids[i], 1391);
        myth_tokenizer_close(t);
    }
    assert_int_equal(myth_mem_close(mem), 0);
    free(text);
    free(ids);
}

static void characters_beside_tokens(void **state)
{
    (void)state;
    static const uint32_t word[] = {'0', '9', 'A', '_', 'z', 0xaa, 0xe9, 0x301, 0x4e2d, 0x200d},
                          space[] = {9, 10, 13, ' ', 0x85, 0xa0, 0x1680, 0x2003, 0x2028, 0x3000},
                          neither[] = {0, 8, '-', '{', 0xd7, 0x2581, 0x200b, 0x1f600, 0x10ffff};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        assert_true(myth_tok_is_word(word[i]) && !myth_tok_is_space(word[i]));
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        assert_true(myth_tok_is_space(space[i]) && !myth_tok_is_word(space[i]));
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        assert_false(myth_tok_is_space(neither[i]) || myth_tok_is_word(neither[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids_equal_the_library),
                                       cmocka_unit_test(a_megabyte_of_white_space),
                                       cmocka_unit_test(characters_beside_tokens)};
    return cmocka_run_group_tests(tests, open_files, close_files);
}
