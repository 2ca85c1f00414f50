/* malformed.h - makes a file byte by byte, and checks the result of opening it as a tokenizer. */
#ifndef MYTH_TESTS_MALFORMED_H
#define MYTH_TESTS_MALFORMED_H

#include "engine/text/chat.h"
#include "engine/text/tokenizer_impl.h"
#include "tokenizer_texts.h"

#include <math.h>

enum { PEAK_MAX = 64 << 20 };

typedef struct {
    char *base;
    size_t len, cap;
} buffer;

static inline void put(buffer *b, const void *p, size_t n)
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

static inline void put_str(buffer *b, const char *s) { put(b, s, strlen(s)); }

typedef myth_status (*opener)(myth_tokenizer **out, myth_mem *mem, const void *base, uint64_t size, const char *path,
                              myth_error *err);

/* Opens an exact copy (so that a sanitizer sees every byte read outside) under a fresh ledger; want_text is part of the
 * message. */
static inline void expect(opener open, const char *what, const buffer *b, myth_status want, const char *want_text)
{
    myth_mem *mem;
    myth_error err = {0};
    myth_tokenizer *t = NULL;
    char *copy = malloc(b->len ? b->len : 1);
    assert_non_null(copy);
    if (b->len)
        memcpy(copy, b->base, b->len);
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    myth_status st = open(&t, mem, copy, b->len, "file", &err);
    if (st != want)
        fail_msg("%s: got %s (%s), expected %s", what, myth_status_name(st), err.msg, myth_status_name(want));
    if (st != MYTH_OK && (strncmp(err.msg, "file: ", 6) != 0 || !strstr(err.msg, want_text)))
        fail_msg("%s: message \"%s\", expected \"%s\" in it", what, err.msg, want_text);
    if (st != MYTH_OK)
        assert_null(t);
    assert_true(myth_mem_total(mem, MYTH_MEM_HOST).peak < PEAK_MAX);
    myth_tokenizer_close(t);
    assert_int_equal(myth_mem_close(mem), 0);
    free(copy);
}

#endif
