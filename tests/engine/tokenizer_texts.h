/* tokenizer_texts.h - what the tokenizer's tests share: the made texts of tests/golden/make_tokenizer_texts.py, its golden files, opening.
 *
 * Texts    text_of(i) is the same function of (index, vocabulary) here and in the script, so that only hashes need to be stored
 * Failure  everything asserts through cmocka                                                                                             */
#ifndef MYTH_TESTS_TOKENIZER_TEXTS_H
#define MYTH_TESTS_TOKENIZER_TEXTS_H

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/utf8.h"
#include "engine/tokenizer.h"
#include "support/check.h"

enum { TEXT_CAP = 1 << 16, FRAGMENT_MAX = 128 };

typedef struct {
    char *base;
    const char *line[FRAGMENT_MAX];
    size_t len[FRAGMENT_MAX];
    uint32_t n;
} fragments;

static inline char *read_golden(const char *name, size_t *len)
{
    char rest[256], path[1024];
    snprintf(rest, sizeof rest, "tests/golden/tokenizer/%s", name);
    FILE *f = fopen(check_path(path, sizeof path, rest), "rb");
    if (!f)
        fail_msg("%s: cannot open", path);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*len + 1);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *len, f), *len);
    p[*len] = 0;
    fclose(f);
    return p;
}

static inline void fragments_load(fragments *f)
{
    size_t n;
    *f = (fragments){ .base = read_golden("fragments.txt", &n) };
    for (char *p = f->base, *end; (end = strchr(p, '\n')) != NULL; p = end + 1) {
        assert_true(f->n < FRAGMENT_MAX);
        f->line[f->n] = p;
        f->len[f->n++] = (size_t)(end - p);
    }
}

static inline size_t put_code_point(char *dst, uint32_t cp) { return (size_t)myth_utf8_encode(dst, cp); }

/* Byte offset of code point n of a line. */
static inline size_t nth_char(const char *s, size_t len, size_t n)
{
    size_t i = 0;
    uint32_t cp;
    while (n-- && i < len)
        i += (size_t)myth_utf8_decode((const unsigned char *)s + i, len - i, &cp);
    return i;
}

/* The text of index i for this vocabulary; dst holds TEXT_CAP. */
static inline size_t text_of(uint64_t i, const myth_tokenizer *t, const fragments *f, char *dst)
{
    static const char *const alphabets[] = { "ab", "aab ", "<td>", "\n \t", "xyz ", "ha", "01", "=-", "()", " \xe2\x96\x81", "#*", "<unused1>" };
    uint64_t r = 0x6D79746800000000u + i;
    size_t n = 0;
    uint32_t kind = check_below(&r, 5), count;
    switch (kind) {
    case 0:
        for (count = 1 + check_below(&r, 12); count--;) {
            myth_str p = myth_tokenizer_piece(t, (int32_t)check_below(&r, myth_tokenizer_n_vocab(t)));
            bool as_is = check_below(&r, 8) == 0;
            for (size_t k = 0; k < p.len;) {
                bool mark = p.len - k >= 3 && memcmp(p.text + k, "\xe2\x96\x81", 3) == 0 && !as_is;
                dst[n++] = mark ? ' ' : p.text[k];
                k += mark ? 3 : 1;
            }
        }
        break;
    case 1:
        for (count = 1 + check_below(&r, 40); count--;) {
            static const uint16_t white[4] = { ' ', '\n', '\t', 0x2581 };
            uint32_t k = check_below(&r, 4);
            uint32_t cp = k == 0 ? 32 + check_below(&r, 95) : k == 1 ? white[check_below(&r, 4)] : k == 2 ? check_below(&r, 0xD800)
                                                                                                      : 0xE000 + check_below(&r, 0x110000 - 0xE000);
            n += put_code_point(dst + n, cp);
        }
        break;
    case 2: {
        const char *a = alphabets[check_below(&r, sizeof alphabets / sizeof *alphabets)];
        size_t len = strlen(a), n_char = 0;
        while (nth_char(a, len, n_char) < len)
            n_char++;
        for (count = 1 + check_below(&r, 80); count--;) {
            size_t k = check_below(&r, (uint32_t)n_char), from = nth_char(a, len, k), to = nth_char(a, len, k + 1);
            memcpy(dst + n, a + from, to - from);
            n += to - from;
        }
        break;
    }
    case 3:
        for (count = 1 + check_below(&r, 4); count--;) {
            uint32_t k = check_below(&r, f->n);
            memcpy(dst + n, f->line[k], f->len[k]);
            n += f->len[k];
            dst[n++] = '\n';
        }
        break;
    default: {
        uint32_t k = check_below(&r, f->n);
        size_t n_char = 0;
        while (nth_char(f->line[k], f->len[k], n_char) < f->len[k])
            n_char++;
        size_t at = check_below(&r, (uint32_t)n_char), len = 1 + check_below(&r, 40);
        size_t from = nth_char(f->line[k], f->len[k], at), to = nth_char(f->line[k], f->len[k], at + len);
        memcpy(dst, f->line[k] + from, to - from);
        n = to - from;
        break;
    }
    }
    assert_true(n < TEXT_CAP);
    return n;
}

static inline uint32_t hash_of_ids(const int32_t *ids, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 32; b += 8)
            h = (h ^ ((uint32_t)ids[i] >> b & 0xff)) * 0x100000001b3u;
    return (uint32_t)h;
}

/* ---- golden rows: ["text", [ids], ...] ---- */

typedef struct {
    char text[TEXT_CAP];
    size_t len;
    int32_t ids[2][TEXT_CAP];
    size_t n[2];
} golden_row;

/* Next row of the list that j stands in; false at its end. */
static inline bool next_row(myth_json *j, golden_row *row)
{
    myth_json_token t;
    assert_int_equal(myth_json_next(j, &t, NULL), MYTH_OK);
    if (t.type == MYTH_JSON_ARRAY_END)
        return false;
    assert_int_equal(t.type, MYTH_JSON_ARRAY);
    assert_int_equal(myth_json_next(j, &t, NULL), MYTH_OK);
    assert_int_equal(t.type, MYTH_JSON_STRING);
    assert_true(t.len <= TEXT_CAP);
    row->len = myth_json_text(row->text, &t);
    for (int k = 0; k < 2; k++) {
        row->n[k] = 0;
        assert_int_equal(myth_json_next(j, &t, NULL), MYTH_OK);
        if (t.type == MYTH_JSON_ARRAY_END)
            return true;
        while (myth_json_next(j, &t, NULL) == MYTH_OK && t.type == MYTH_JSON_NUMBER) {
            int64_t id;
            assert_true(myth_json_i64(&id, &t));
            row->ids[k][row->n[k]++] = (int32_t)id;
        }
    }
    assert_int_equal(myth_json_next(j, &t, NULL), MYTH_OK);
    assert_int_equal(t.type, MYTH_JSON_ARRAY_END);
    return true;
}

static inline void rows_start(myth_json *j, const char *text, size_t len)
{
    myth_json_token t;
    myth_json_start(j, text, len, "golden");
    assert_int_equal(myth_json_next(j, &t, NULL), MYTH_OK);
    assert_int_equal(t.type, MYTH_JSON_ARRAY);
}

/* ---- encoding ---- */

static inline size_t encode(const myth_tokenizer *t, myth_mem *mem, myth_tok_entry entry, const char *text, size_t len, int32_t *ids)
{
    size_t n = 0;
    myth_error err = { 0 };
    if (myth_tokenizer_encode(t, mem, entry, text, len, ids, myth_tokenizer_bound(len), &n, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return n;
}

static inline void assert_ids(const char *text, size_t len, const int32_t *got, size_t n_got, const int32_t *want, size_t n_want)
{
    size_t i = 0;
    while (i < n_got && i < n_want && got[i] == want[i])
        i++;
    if (i < n_got || i < n_want)
        fail_msg("\"%.*s\": id %zu: got %d, expected %d (%zu and %zu ids)", (int)len, text, i, i < n_got ? got[i] : -1, i < n_want ? want[i] : -1,
                 n_got, n_want);
}

static inline size_t decode(const myth_tokenizer *t, const int32_t *ids, size_t n, char *dst, size_t cap)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += myth_tokenizer_bytes_of(t, ids[i], dst + (len < cap ? len : cap), len < cap ? cap - len : 0);
    return len;
}

/* Text a + piece + b in content holds no control id and comes back as it was. */
static inline void assert_inert(const myth_tokenizer *t, myth_mem *mem, const char *text, size_t len)
{
    static int32_t ids[TEXT_CAP];
    static char back[TEXT_CAP];
    assert_true(len < TEXT_CAP);
    size_t n = encode(t, mem, MYTH_TOK_CONTENT, text, len, ids);
    for (size_t i = 0; i < n; i++)
        if (myth_tokenizer_is_control(t, ids[i]))
            fail_msg("\"%.*s\" became the control id %d", (int)len, text, ids[i]);
    assert_int_equal(decode(t, ids, n, back, sizeof back), len);
    assert_memory_equal(back, text, len);
}

#endif
