/* dialect.c - see dialect.h. One walk over the expression, part by part: an escape, a sign, or a run of quoted text. */
#define _GNU_SOURCE /* memmem */
#include "dialect.h"

#include "engine/base/text.h"
#include "engine/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { PART_BYTES = 16 }; /* the longest thing that is written for an escape */

typedef struct {
    const unsigned char *p, *end;
    bool is_class, is_first; /* inside of [...]; before its first sign */
} walk;

/* Bytes of the number behind \u or \U at p, 0 = there is none: so many digits, or any between braces. */
static size_t number_at(const unsigned char *p, const unsigned char *end, uint32_t *code)
{
    const bool has_braces = end - p > 2 && p[2] == '{';
    const size_t most = p[1] == 'u' ? 4 : 8, from = has_braces ? 3 : 2;
    size_t n = 0;
    *code = 0;
    while (n < (has_braces ? 8 : most) && p + from + n < end && myth_hex_digit((char)p[from + n]) >= 0)
        *code = *code << 4 | (uint32_t)myth_hex_digit((char)p[from + n++]);
    if (has_braces)
        return n > 0 && p + from + n < end && p[from + n] == '}' ? from + n + 1 : 0;
    return n == most ? from + n : 0;
}

/* Writes a character so that it is no sign of the syntax; 0 = the number is no character. */
static size_t put_code(char *out, uint32_t code)
{
    if (code < 0x80)
        return (size_t)snprintf(out, PART_BYTES, "\\x%02x", code);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) /* beyond the last; half of a pair */
        return 0;
    return (size_t)myth_utf8_encode(out, code);
}

/* Handles an escape, which has two bytes or more; returns how many bytes of it are read, *n_out: how many are written
 * to out, 0 = it stays as it is. */
static size_t take_escape(const walk *w, char *out, size_t *n_out)
{
    static const char begin[] = "\\b(?=\\w)", end[] = "\\b(?<=\\w)";
    const unsigned char c = w->p[1];
    uint32_t code;
    *n_out = 0;
    if (c == 'Q') {
        const unsigned char *stop = memmem(w->p, (size_t)(w->end - w->p), "\\E", 2);
        return (size_t)((stop ? stop + 2 : w->end) - w->p);
    }
    if ((c == '<' || c == '>') && !w->is_class) {
        *n_out = c == '<' ? sizeof(begin) - 1 : sizeof(end) - 1;
        memcpy(out, c == '<' ? begin : end, *n_out);
    }
    if (c == 'u' || c == 'U') {
        const size_t n = number_at(w->p, w->end, &code);
        *n_out = n ? put_code(out, code) : 0;
        return *n_out ? n : 2;
    }
    return 2;
}

/* Moves behind one part; the same as take_escape. */
static size_t take_part(walk *w, char *out, size_t *n_out)
{
    size_t n = 1;
    *n_out = 0;
    const bool is_first = w->is_first;
    w->is_first = false;
    if (*w->p == '\\' && w->end - w->p > 1) {
        n = take_escape(w, out, n_out);
    } else if (!w->is_class && *w->p == '[') {
        w->is_class = w->is_first = true;
        n += w->end - w->p > 1 && w->p[1] == '^';
    } else if (w->is_class && *w->p == ']' && !is_first) {
        w->is_class = false;
    } else if (w->is_class && w->end - w->p > 1 && memcmp(w->p, "[:", 2) == 0) {
        const unsigned char *stop = memmem(w->p, (size_t)(w->end - w->p), ":]", 2);
        n = stop ? (size_t)(stop + 2 - w->p) : 1;
    }
    w->p += n;
    return n;
}

bool myth_dialect_read(myth_dialect *out, myth_mem *mem, const unsigned char *pattern, size_t n)
{
    walk w = {.p = pattern, .end = pattern + n};
    /* what is written is less than five times as long as what is read: \< */
    *out = (myth_dialect){.text = myth_alloc_n(mem, MYTH_MEM_OTHER, "regex", n + 1, 5)};
    while (out->text && w.p < w.end) {
        char text[PART_BYTES];
        size_t n_text;
        const unsigned char *from = w.p;
        const size_t n_part = take_part(&w, text, &n_text);
        memcpy(out->text + out->n_text, n_text ? (const unsigned char *)text : from, n_text ? n_text : n_part);
        out->n_text += n_text ? n_text : n_part;
    }
    return out->text != NULL;
}

size_t myth_dialect_back(const unsigned char *pattern, size_t n, size_t at)
{
    walk w = {.p = pattern, .end = pattern + n};
    size_t n_out = 0;
    while (w.p < w.end) {
        char text[PART_BYTES];
        size_t n_text;
        const size_t from = (size_t)(w.p - pattern), n_part = take_part(&w, text, &n_text);
        const size_t n_more = n_text ? n_text : n_part;
        if (at < n_out + n_more)
            return n_text ? from : from + (at - n_out);
        n_out += n_more;
    }
    return n;
}
