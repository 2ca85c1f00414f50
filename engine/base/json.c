/* json.c - see json.h. One state per place in the grammar; a call reads exactly one token and commits only when it is
 * whole. */
#include "json.h"
#include "text.h"
#include "utf8.h"
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum state {
    WANT_VALUE,        /* start, after ':' and after ',' in an array */
    WANT_VALUE_OR_END, /* after '[' */
    WANT_KEY,          /* after ',' in an object */
    WANT_KEY_OR_END,   /* after '{' */
    WANT_COLON,        /* after a key */
    WANT_NEXT          /* after a value: ',' or a closing bracket; at depth 0 the end */
};

void myth_json_start(myth_json *j, const void *base, uint64_t size, const char *path)
{
    *j = (myth_json){
        .base = (const unsigned char *)base,
        .size = size,
        .path = path ? path : "json",
        .state = WANT_VALUE,
    };
}

static myth_status fail_at(const myth_json *j, uint64_t pos, myth_error *err, const char *what)
{
    if (pos >= j->size)
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %" PRIu64 ": %s, got the end of the text", j->path,
                         j->off0 + j->size, what);
    unsigned char c = j->base[pos];
    if (c > 0x20 && c < 0x7f)
        return myth_fail(err, MYTH_EFORMAT, "%s: offset %" PRIu64 ": %s, got '%c'", j->path, j->off0 + pos, what, c);
    return myth_fail(err, MYTH_EFORMAT, "%s: offset %" PRIu64 ": %s, got byte 0x%02x", j->path, j->off0 + pos, what, c);
}

myth_status myth_json_fail(const myth_json *j, const myth_json_token *tok, myth_error *err, const char *what)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: offset %" PRIu64 ": %s", j->path, j->off0 + tok->off, what);
}

static uint64_t skip_space(const myth_json *j, uint64_t p)
{
    while (p < j->size && (j->base[p] == ' ' || j->base[p] == '\n' || j->base[p] == '\r' || j->base[p] == '\t'))
        p++;
    return p;
}

static int hex4(const unsigned char *s, uint64_t n)
{
    int v = 0;
    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = myth_hex_digit((char)s[i]);
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* Bytes of the escape at p (base[p] is the backslash) and its code point; 0 when it is not one. */
static int escape_at(const unsigned char *s, uint64_t n, uint32_t *cp)
{
    if (n < 2)
        return 0;
    switch (s[1]) {
    case '"':
    case '\\':
    case '/': *cp = s[1]; return 2;
    case 'b': *cp = '\b'; return 2;
    case 'f': *cp = '\f'; return 2;
    case 'n': *cp = '\n'; return 2;
    case 'r': *cp = '\r'; return 2;
    case 't': *cp = '\t'; return 2;
    case 'u': break;
    default: return 0;
    }
    int hi = hex4(s + 2, n - 2);
    if (hi < 0 || (hi >= 0xdc00 && hi <= 0xdfff))
        return 0;
    *cp = (uint32_t)hi;
    if (hi < 0xd800 || hi > 0xdfff)
        return 6;
    if (n < 12 || s[6] != '\\' || s[7] != 'u')
        return 0;
    int lo = hex4(s + 8, n - 8);
    if (lo < 0xdc00 || lo > 0xdfff)
        return 0;
    *cp = 0x10000 + ((uint32_t)(hi - 0xd800) << 10 | (uint32_t)(lo - 0xdc00));
    return 12;
}

/* True when all eight bytes are plain: printable ASCII, neither quote nor backslash. */
static bool is_plain8(const unsigned char *s)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t v;
    memcpy(&v, s, 8);
    uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
    return ((v | (v - ones * 0x20) | (quote - ones) | (slash - ones)) & high) == 0;
}

/* base[p] is the opening quote. *end is behind the closing one. */
static myth_status read_string(const myth_json *j, uint64_t p, myth_json_token *out, uint64_t *end, myth_error *err)
{
    uint64_t first = ++p;
    out->has_escape = false;
    for (;;) {
        while (p + 8 <= j->size && is_plain8(j->base + p))
            p += 8;
        if (p >= j->size)
            return fail_at(j, p, err, "expected the closing quote");
        unsigned char c = j->base[p];
        uint32_t cp;
        if (c == '"')
            break;
        if (c == '\\') {
            int n = escape_at(j->base + p, j->size - p, &cp);
            if (!n)
                return fail_at(j, p, err, "expected a valid escape");
            out->has_escape = true;
            p += (uint64_t)n;
        } else if (c < 0x20) {
            return fail_at(j, p, err, "expected an escape for a control byte");
        } else {
            int n = myth_utf8_decode(j->base + p, j->size - p, &cp);
            if (!n)
                return fail_at(j, p, err, "expected UTF-8");
            p += (uint64_t)n;
        }
    }
    out->span = (const char *)j->base + first;
    out->len = p - first;
    *end = p + 1;
    return MYTH_OK;
}

static bool is_digit(const myth_json *j, uint64_t p) { return p < j->size && j->base[p] >= '0' && j->base[p] <= '9'; }

static myth_status read_number(const myth_json *j, uint64_t p, myth_json_token *out, uint64_t *end, myth_error *err)
{
    uint64_t first = p;
    if (j->base[p] == '-')
        p++;
    if (!is_digit(j, p))
        return fail_at(j, p, err, "expected a digit");
    if (j->base[p] == '0') {
        p++;
        if (is_digit(j, p))
            return fail_at(j, p, err, "expected no digit after a leading zero");
    }
    while (is_digit(j, p))
        p++;
    if (p < j->size && j->base[p] == '.') {
        p++;
        if (!is_digit(j, p))
            return fail_at(j, p, err, "expected a digit");
        while (is_digit(j, p))
            p++;
    }
    if (p < j->size && (j->base[p] == 'e' || j->base[p] == 'E')) {
        p++;
        if (p < j->size && (j->base[p] == '+' || j->base[p] == '-'))
            p++;
        if (!is_digit(j, p))
            return fail_at(j, p, err, "expected a digit");
        while (is_digit(j, p))
            p++;
    }
    out->type = MYTH_JSON_NUMBER;
    out->span = (const char *)j->base + first;
    out->len = p - first;
    *end = p;
    return MYTH_OK;
}

static myth_status read_word(const myth_json *j, uint64_t p, const char *word, myth_json_type type,
                             myth_json_token *out, uint64_t *end, myth_error *err)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < n; i++)
        if (p + i >= j->size || j->base[p + i] != (unsigned char)word[i])
            return fail_at(j, p + i, err, "expected true, false or null");
    out->type = type;
    out->span = (const char *)j->base + p;
    out->len = n;
    *end = p + n;
    return MYTH_OK;
}

static myth_status open_container(myth_json *j, uint64_t p, bool is_object, myth_json_token *out, myth_error *err)
{
    if (j->depth >= MYTH_JSON_DEPTH)
        return fail_at(j, p, err, "expected at most 64 levels");
    uint64_t bit = (uint64_t)1 << j->depth;
    j->is_object = is_object ? j->is_object | bit : j->is_object & ~bit;
    j->depth++;
    j->state = is_object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    j->pos = p + 1;
    out->type = is_object ? MYTH_JSON_OBJECT : MYTH_JSON_ARRAY;
    return MYTH_OK;
}

static myth_status read_value(myth_json *j, uint64_t p, myth_json_token *out, myth_error *err)
{
    myth_status st;
    uint64_t end = p;
    if (p >= j->size)
        return fail_at(j, p, err, "expected a value");
    switch (j->base[p]) {
    case '{': return open_container(j, p, true, out, err);
    case '[': return open_container(j, p, false, out, err);
    case '"':
        out->type = MYTH_JSON_STRING;
        st = read_string(j, p, out, &end, err);
        break;
    case 't': st = read_word(j, p, "true", MYTH_JSON_TRUE, out, &end, err); break;
    case 'f': st = read_word(j, p, "false", MYTH_JSON_FALSE, out, &end, err); break;
    case 'n': st = read_word(j, p, "null", MYTH_JSON_NULL, out, &end, err); break;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': st = read_number(j, p, out, &end, err); break;
    default: return fail_at(j, p, err, "expected a value");
    }
    if (st == MYTH_OK) {
        j->pos = end;
        j->state = WANT_NEXT;
    }
    return st;
}

static myth_status close_container(myth_json *j, uint64_t p, bool is_object, myth_json_token *out)
{
    j->depth--;
    j->state = WANT_NEXT;
    j->pos = p + 1;
    out->type = is_object ? MYTH_JSON_OBJECT_END : MYTH_JSON_ARRAY_END;
    out->depth = j->depth;
    return MYTH_OK;
}

myth_status myth_json_next(myth_json *j, myth_json_token *out, myth_error *err)
{
    uint64_t p = skip_space(j, j->pos);
    int state = j->state;
    bool in_object = j->depth > 0 && (j->is_object >> (j->depth - 1) & 1);
    *out = (myth_json_token){.depth = j->depth};

    if (state == WANT_NEXT && j->depth == 0) {
        out->off = p;
        if (p < j->size)
            return fail_at(j, p, err, "expected nothing after the value");
        out->type = MYTH_JSON_END;
        return MYTH_OK;
    }
    if (state == WANT_NEXT && p < j->size && j->base[p] == ',') {
        p = skip_space(j, p + 1);
        state = in_object ? WANT_KEY : WANT_VALUE;
    } else if (state == WANT_NEXT && !(p < j->size && j->base[p] == (in_object ? '}' : ']'))) {
        return fail_at(j, p, err, in_object ? "expected ',' or '}'" : "expected ',' or ']'");
    } else if (state == WANT_COLON) {
        if (p >= j->size || j->base[p] != ':')
            return fail_at(j, p, err, "expected ':'");
        p = skip_space(j, p + 1);
        state = WANT_VALUE;
    }
    out->off = p;
    if (state == WANT_NEXT || ((state == WANT_KEY_OR_END || state == WANT_VALUE_OR_END) && p < j->size &&
                               j->base[p] == (in_object ? '}' : ']')))
        return close_container(j, p, in_object, out);
    if (state == WANT_VALUE || state == WANT_VALUE_OR_END)
        return read_value(j, p, out, err);

    if (p >= j->size || j->base[p] != '"')
        return fail_at(j, p, err, "expected a key");
    uint64_t end = p;
    myth_status st = read_string(j, p, out, &end, err);
    if (st != MYTH_OK)
        return st;
    out->type = MYTH_JSON_KEY;
    j->pos = end;
    j->state = WANT_COLON;
    return MYTH_OK;
}

myth_status myth_json_skip(myth_json *j, myth_error *err)
{
    myth_json_token t;
    int depth = j->depth;
    do {
        myth_status st = myth_json_next(j, &t, err);
        if (st != MYTH_OK)
            return st;
    } while (j->depth > depth);
    return MYTH_OK;
}

size_t myth_json_text(char *dst, const myth_json_token *tok)
{
    if (!tok->has_escape) {
        if (tok->len)
            memcpy(dst, tok->span, tok->len);
        return tok->len;
    }
    const unsigned char *s = (const unsigned char *)tok->span;
    size_t n = 0;
    for (size_t i = 0; i < tok->len;) {
        uint32_t cp;
        int k;
        if (s[i] == '\\' && (k = escape_at(s + i, tok->len - i, &cp)) != 0) {
            n += (size_t)myth_utf8_encode(dst + n, cp);
            i += (size_t)k;
        } else {
            dst[n++] = (char)s[i++];
        }
    }
    return n;
}

bool myth_json_is(const myth_json_token *tok, const char *name)
{
    const unsigned char *s = (const unsigned char *)tok->span;
    size_t n = strlen(name), at = 0;
    if (tok->type != MYTH_JSON_KEY && tok->type != MYTH_JSON_STRING)
        return false;
    if (!tok->has_escape)
        return n == tok->len && memcmp(s, name, n) == 0;
    for (size_t i = 0; i < tok->len;) {
        char c[4] = {(char)s[i]};
        int k = 1, w = 1;
        uint32_t cp;
        if (s[i] == '\\' && (k = escape_at(s + i, tok->len - i, &cp)) != 0)
            w = myth_utf8_encode(c, cp);
        if ((size_t)w > n - at || memcmp(c, name + at, (size_t)w) != 0)
            return false;
        at += (size_t)w;
        i += (size_t)(k ? k : 1);
    }
    return at == n;
}

bool myth_json_u64(uint64_t *out, const myth_json_token *tok)
{
    uint64_t v = 0;
    if (tok->type != MYTH_JSON_NUMBER || tok->len == 0)
        return false;
    for (size_t i = 0; i < tok->len; i++) {
        if (tok->span[i] < '0' || tok->span[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(tok->span[i] - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

bool myth_json_i64(int64_t *out, const myth_json_token *tok)
{
    myth_json_token magnitude = *tok;
    bool negative = tok->type == MYTH_JSON_NUMBER && tok->len > 1 && tok->span[0] == '-';
    uint64_t v;
    if (negative) {
        magnitude.span++;
        magnitude.len--;
    }
    if (!myth_json_u64(&v, &magnitude) || v > (uint64_t)INT64_MAX + (negative ? 1u : 0u))
        return false;
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool myth_json_f64(double *out, const myth_json_token *tok)
{
    char text[128], *end;
    if (tok->type != MYTH_JSON_NUMBER || tok->len >= sizeof text)
        return false;
    memcpy(text, tok->span, tok->len);
    text[tok->len] = 0;
    char *point = strchr(text, '.');
    if (point)
        *point = *localeconv()->decimal_point; /* strtod reads the point of the process's locale */
    double v = strtod(text, &end);
    if (*end != 0 || !isfinite(v))
        return false;
    *out = v;
    return true;
}
