/* buffer.h - a growing run of bytes, and numbers in the store's blobs: 7 bits a byte, low bits first, the top bit
 * says that another byte follows.
 *
 * Owner    close frees the bytes
 * Errors   a failed allocation sets `is_out_of_memory`, and later calls do nothing. A reader that would run past
 *          its end sets `is_bad` and returns 0 or "" */
#ifndef MYTH_BUFFER_H
#define MYTH_BUFFER_H

#include "engine/base/mem.h"

#include <string.h>

typedef struct {
    myth_mem *mem;
    unsigned char *data;
    size_t n, cap;
    bool is_out_of_memory;
} myth_buffer;

static inline bool myth_buffer_reserve(myth_buffer *b, size_t n)
{
    if (b->is_out_of_memory || b->cap - b->n >= n)
        return !b->is_out_of_memory;
    size_t cap = 2 * b->cap + n + 64;
    unsigned char *data = (unsigned char *)myth_realloc(b->mem, MYTH_MEM_OTHER, "map", b->data, cap);
    b->is_out_of_memory = !data;
    if (data) {
        b->data = data;
        b->cap = cap;
    }
    return data != NULL;
}

static inline void myth_buffer_put(myth_buffer *b, const void *s, size_t n)
{
    if (n && myth_buffer_reserve(b, n)) {
        memcpy(b->data + b->n, s, n);
        b->n += n;
    }
}

static inline void myth_buffer_text(myth_buffer *b, const char *s) { myth_buffer_put(b, s, strlen(s)); }
static inline void myth_buffer_string(myth_buffer *b, const char *s)
{
    myth_buffer_put(b, s, strlen(s) + 1);
} /* with its zero */

static inline void myth_buffer_number(myth_buffer *b, uint64_t v)
{
    unsigned char byte[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        byte[n++] = (unsigned char)(v | 0x80);
    byte[n++] = (unsigned char)v;
    myth_buffer_put(b, byte, n);
}

static inline void myth_buffer_close(myth_buffer *b)
{
    myth_free(b->mem, b->data);
    *b = (myth_buffer){.mem = b->mem};
}

typedef struct {
    const unsigned char *p, *end;
    bool is_bad;
} myth_bytes;

static inline uint64_t myth_bytes_number(myth_bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && b->p < b->end; shift += 7) {
        unsigned char byte = *b->p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    b->is_bad = true;
    b->p = b->end;
    return 0;
}

/* A string with its zero; "" when there is none. */
static inline const char *myth_bytes_string(myth_bytes *b)
{
    const unsigned char *zero = b->p < b->end ? (const unsigned char *)memchr(b->p, 0, (size_t)(b->end - b->p)) : NULL;
    const char *s = zero ? (const char *)b->p : "";
    b->is_bad |= !zero;
    b->p = zero ? zero + 1 : b->end;
    return s;
}

#endif
