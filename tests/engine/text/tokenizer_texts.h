/* tokenizer_texts.h - what the tests of the tokenizer share: the generated texts of
 * tests/golden/make_tokenizer_texts.py, its golden files, and opening a tokenizer.
 *
 * Texts    text_of(i) is the same function of (index, vocabulary) here and in the script, so that only hashes are
 *          stored
 * Failure  every function asserts with cmocka */
#ifndef MYTH_TESTS_TOKENIZER_TEXTS_H
#define MYTH_TESTS_TOKENIZER_TEXTS_H

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"
#include "tests/support/check.h"

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
    *f = (fragments){.base = read_golden("fragments.txt", &n)};
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
    static const char *const alphabets[] = {"ab", "aab ", "<td>", "\n \t",         "xyz ", "ha",
                                            "01", "=-",   "()",   " \xe2\x96\x81", "#*",   "<unused1>"};
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
            static const uint16_t white[4] = {' ', '\n', '\t', 0x2581};
            uint32_t k = check_below(&r, 4);
            uint32_t cp = k == 0 ? 32 + check_below(&r, 95)
                        : k == 1 ? white[check_below(&r, 4)]
                        : k == 2 ? check_below(&r, 0xD800)
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

/* Reads the next row of the list in which j is; false at its end. */
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

static inline size_t encode(const myth_tokenizer *t, myth_mem *mem, myth_tok_entry entry, const char *text, size_t len,
                            int32_t *ids)
{
    size_t n = 0;
    myth_error err = {0};
    if (myth_tokenizer_encode(t, mem, entry, text, len, ids, myth_tokenizer_bound(len), &n, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return n;
}

static inline void assert_ids(const char *text, size_t len, const int32_t *got, size_t n_got, const int32_t *want,
                              size_t n_want)
{
    size_t i = 0;
    while (i < n_got && i < n_want && got[i] == want[i])
        i++;
    if (i < n_got || i < n_want)
        fail_msg("\"%.*s\": id %zu: got %d, expected %d (%zu and %zu ids)", (int)len, text, i, i < n_got ? got[i] : -1,
                 i < n_want ? want[i] : -1, n_got, n_want);
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

/* ---- a vocabulary as GGUF metadata ---- */

typedef struct {
    unsigned char *base;
    size_t len, cap;
} raw_bytes;

static inline void raw_put(raw_bytes *b, const void *p, size_t n)
{
    if (b->len + n > b->cap) {
        b->cap = (b->len + n) * 2;
        b->base = realloc(b->base, b->cap);
        assert_non_null(b->base);
    }
    if (n)
        memcpy(b->base + b->len, p, n);
    b->len += n;
}

static inline void raw_u64(raw_bytes *b, uint64_t v)
{
    unsigned char le[8];
    for (int i = 0; i < 8; i++)
        le[i] = (unsigned char)(v >> 8 * i);
    raw_put(b, le, 8);
}

/* Piece id as llama.cpp's converter writes it: added pieces score -1000, with spaces, control or user-defined; bytes 0;
 * others by place. */
static inline void gguf_piece(const myth_tokenizer *t, int32_t id, int32_t first_normal, raw_bytes *text, float *score,
                              int32_t *type)
{
    myth_str p = myth_tokenizer_piece(t, id);
    myth_piece_type kind = myth_tokenizer_type(t, id);
    bool added = kind != MYTH_PIECE_NORMAL && kind != MYTH_PIECE_BYTE;
    bool control = added && (kind != MYTH_PIECE_USER || myth_str_is(p, "<mask>") ||
                             (p.len > 7 && memcmp(p.text, "<unused", 7) == 0));
    *type = control ? MYTH_PIECE_CONTROL : (int32_t)kind;
    *score = added ? -1000.0f : kind == MYTH_PIECE_BYTE ? 0.0f : -(float)(id - first_normal);
    text->len = 0;
    for (size_t i = 0; i < p.len;) {
        bool mark = added && p.len - i >= 3 && memcmp(p.text + i, "\xe2\x96\x81", 3) == 0;
        raw_put(text, mark ? " " : p.text + i, 1);
        i += mark ? 3 : 1;
    }
}

static inline myth_meta_value gguf_array(const char *key, myth_meta_type elem, uint32_t raw_type, uint64_t count,
                                         const raw_bytes *raw)
{
    return (myth_meta_value){
        .key = {key, strlen(key)},
        .type = MYTH_META_ARRAY,
        .elem = elem,
        .count = count,
        .raw = raw->base,
        .raw_type = raw_type,
        .raw_bytes = raw->len,
    };
}

typedef struct {
    raw_bytes tokens, scores, types, merges;
    myth_meta *meta;
} gguf_vocab;

/* The first n pieces of t; its merges too when scores are not enough. */
static inline void gguf_vocab_make(gguf_vocab *v, const myth_tokenizer *t, uint32_t n, myth_mem *mem)
{
    raw_bytes text = {0};
    int32_t first_normal = myth_tokenizer_find(t, "<0xFF>", 6) + 1;
    uint64_t n_merge = 0;
    *v = (gguf_vocab){0};
    for (int32_t id = 0; id < (int32_t)n; id++) {
        float score;
        int32_t type;
        gguf_piece(t, id, first_normal, &text, &score, &type);
        raw_u64(&v->tokens, text.len);
        raw_put(&v->tokens, text.base, text.len);
        raw_put(&v->scores, &score, 4);
        raw_put(&v->types, &type, 4);
    }
    const uint32_t n_rank = myth_tokenizer_needs_merges(t) ? myth_tokenizer_n_merge(t) : 0;
    for (uint32_t rank = 0; rank < n_rank; rank++) {
        int32_t l, r;
        if (!myth_tokenizer_merge(t, rank, &l, &r))
            continue;
        myth_str a = myth_tokenizer_piece(t, l), b = myth_tokenizer_piece(t, r);
        raw_u64(&v->merges, a.len + 1 + b.len);
        raw_put(&v->merges, a.text, a.len);
        raw_put(&v->merges, " ", 1);
        raw_put(&v->merges, b.text, b.len);
        n_merge++;
    }
    const myth_meta_value list[] = {
        {.key = {"tokenizer.ggml.model", 20}, .type = MYTH_META_STRING, .v.s = {"llama", 5}},
        gguf_array("tokenizer.ggml.tokens", MYTH_META_STRING, 8, n, &v->tokens),
        gguf_array("tokenizer.ggml.scores", MYTH_META_FLOAT, 6, n, &v->scores),
        gguf_array("tokenizer.ggml.token_type", MYTH_META_INT, 5, n, &v->types),
        gguf_array("tokenizer.ggml.merges", MYTH_META_STRING, 8, n_merge, &v->merges),
    };
    assert_int_equal(myth_meta_open(&v->meta, mem, &(myth_meta_size){.n_value = 5}, NULL), MYTH_OK);
    for (int i = 0; i < (n_merge ? 5 : 4); i++)
        assert_true(myth_meta_add(v->meta, &list[i]));
    free(text.base);
}

static inline void gguf_vocab_free(gguf_vocab *v)
{
    myth_meta_close(v->meta);
    free(v->tokens.base);
    free(v->scores.base);
    free(v->types.base);
    free(v->merges.base);
}

#endif
