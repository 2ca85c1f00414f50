/* tokenizer_decode.c - ids to bytes, and the incremental decoder that holds back what may still become a UTF-8
 * sequence. */
#include "tokenizer_impl.h"
#include "engine/base/utf8.h"
#include <assert.h>

size_t myth_tokenizer_bytes_of(const myth_tokenizer *t, int32_t id, char *dst, size_t cap)
{
    assert(id >= 0 && (uint32_t)id < t->n_vocab);
    const myth_tok_piece *p = &t->piece[id];
    const char *s = t->text + p->off;
    size_t n = 0;
    switch (p->type) {
    case MYTH_PIECE_UNKNOWN:
    case MYTH_PIECE_CONTROL:
    case MYTH_PIECE_UNUSED: return 0;
    case MYTH_PIECE_BYTE:
        if (cap)
            *dst = (char)myth_tok_byte_of(s, p->len);
        return 1;
    default: break;
    }
    for (size_t i = 0; i < p->len; n++) {
        bool mark = (p->flags & MYTH_TOK_HAS_SPACE) && p->len - i >= 3 && memcmp(s + i, "\xe2\x96\x81", 3) == 0;
        if (n < cap)
            dst[n] = mark ? ' ' : s[i];
        i += mark ? 3 : 1;
    }
    return n;
}

/* s[0..n) is the beginning of a valid sequence, but not a whole one. */
static bool may_continue(const unsigned char *s, size_t n)
{
    static const unsigned char tail[2] = {0x80, 0xbf};
    unsigned char full[4];
    uint32_t cp;
    if (n == 0 || n > 3)
        return false;
    memcpy(full, s, n);
    for (int i = 0; i < 2; i++) { /* with the smallest or the largest tail it becomes one */
        memset(full + n, tail[i], 4 - n);
        int k = myth_utf8_decode(full, 4, &cp);
        if (k > (int)n)
            return true;
    }
    return false;
}

void myth_detok_start(myth_detok *d, const myth_tokenizer *t, bool raw) { *d = (myth_detok){.tok = t, .raw = raw}; }

static size_t put_invalid(const myth_detok *d, unsigned char c, char *dst)
{
    if (!d->raw) {
        memcpy(dst, "\xef\xbf\xbd", 3);
        return 3;
    }
    *dst = (char)c;
    return 1;
}

size_t myth_detok_push(myth_detok *d, int32_t id, char *dst)
{
    unsigned char buf[MYTH_TOK_PIECE_MAX + 4];
    size_t n = (size_t)d->n_held, i = 0, out = 0;
    memcpy(buf, d->held, n);
    n += myth_tokenizer_bytes_of(d->tok, id, (char *)buf + n, MYTH_TOK_PIECE_MAX);
    while (i < n) {
        uint32_t cp;
        int k = myth_utf8_decode(buf + i, n - i, &cp);
        if (k) {
            memcpy(dst + out, buf + i, (size_t)k);
            out += (size_t)k;
            i += (size_t)k;
        } else if (may_continue(buf + i, n - i)) {
            break;
        } else {
            out += put_invalid(d, buf[i++], dst + out);
        }
    }
    d->n_held = (int)(n - i);
    memcpy(d->held, buf + i, n - i);
    return out;
}

size_t myth_detok_finish(myth_detok *d, char *dst)
{
    size_t out = 0;
    for (int i = 0; i < d->n_held; i++)
        out += put_invalid(d, d->held[i], dst + out);
    d->n_held = 0;
    return out;
}
