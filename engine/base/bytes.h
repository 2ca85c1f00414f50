/* bytes.h - reading untrusted bytes: one bounded reader, checked arithmetic on sizes. Loaders use nothing else.
 *
 * Rules    every read says how much it needs; products and sums of sizes go through the three helpers below
 * Errors   a short read returns false and leaves the position                                                        */
#ifndef MYTH_BYTES_H
#define MYTH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const unsigned char *base;
    uint64_t size, pos;
} myth_reader;

static inline bool myth_mul_u64(uint64_t *out, uint64_t a, uint64_t b) { return !__builtin_mul_overflow(a, b, out); }
static inline bool myth_add_u64(uint64_t *out, uint64_t a, uint64_t b) { return !__builtin_add_overflow(a, b, out); }
/* Rounds up to a multiple of align (a power of two). */
static inline bool myth_align_u64(uint64_t *out, uint64_t a, uint64_t align)
{
    uint64_t t;
    if (!myth_add_u64(&t, a, align - 1))
        return false;
    *out = t & ~(align - 1);
    return true;
}

static inline uint64_t myth_reader_left(const myth_reader *r) { return r->size - r->pos; }
static inline bool myth_reader_need(const myth_reader *r, uint64_t n) { return n <= r->size - r->pos; }
/* Lends n bytes inside the base and moves past them; NULL when they are not there. */
static inline const unsigned char *myth_reader_take(myth_reader *r, uint64_t n)
{
    if (!myth_reader_need(r, n))
        return NULL;
    const unsigned char *p = r->base + r->pos;
    r->pos += n;
    return p;
}
static inline bool myth_reader_u8(myth_reader *r, uint8_t *v)
{
    const unsigned char *p = myth_reader_take(r, 1);
    if (!p)
        return false;
    *v = *p;
    return true;
}
/* Little endian, as GGUF and safetensors are. */
static inline bool myth_reader_u16(myth_reader *r, uint16_t *v)
{
    const unsigned char *p = myth_reader_take(r, 2);
    if (!p)
        return false;
    *v = (uint16_t)(p[0] | p[1] << 8);
    return true;
}
static inline bool myth_reader_u32(myth_reader *r, uint32_t *v)
{
    const unsigned char *p = myth_reader_take(r, 4);
    if (!p)
        return false;
    *v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return true;
}
static inline bool myth_reader_u64(myth_reader *r, uint64_t *v)
{
    uint32_t lo = 0, hi = 0;
    if (!myth_reader_need(r, 8))
        return false;
    myth_reader_u32(r, &lo);
    myth_reader_u32(r, &hi);
    *v = (uint64_t)hi << 32 | lo;
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
