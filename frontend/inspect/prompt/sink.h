/* sink.h - writes text into a buffer: what fits of it, with all bytes counted, so that a first pass tells the size.
 *
 * Owner    the caller keeps dst, which may be NULL with cap 0; nothing ends with a NUL
 * Threads  no state but the caller's: any */
#ifndef MYTH_INSPECT_SINK_H
#define MYTH_INSPECT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *dst;
    size_t cap, len; /* len: bytes written so far, also those that did not fit */
} myth_sink;

static inline void myth_sink_bytes(myth_sink *s, const char *text, size_t n)
{
    if (s->len < s->cap)
        memcpy(s->dst + s->len, text, n < s->cap - s->len ? n : s->cap - s->len);
    s->len += n;
}

static inline void myth_sink_text(myth_sink *s, const char *text) { myth_sink_bytes(s, text, strlen(text)); }

static inline void myth_sink_number(myth_sink *s, uint32_t v)
{
    char d[12];
    myth_sink_bytes(s, d, (size_t)snprintf(d, sizeof(d), "%u", v));
}

#endif
