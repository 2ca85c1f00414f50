/* hash.h - hashes for tables in memory, FNV-1a for values that are stored or compared between runs, and a sum that
 * tells whether a stored block is what was written.
 *
 * Source   Fowler, Noll, Vo, FNV-1a, 64 bits; Knuth, multiplicative hashing */
#ifndef MYTH_HASH_H
#define MYTH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MYTH_FNV1A 0xcbf29ce484222325u /* of no bytes */

/* FNV-1a of the bytes that gave h and n more. Its value never changes: seeds and hashes of layouts are made of it. */
static inline uint64_t myth_fnv1a(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* For tables: every bit of the low half depends on all bytes. */
static inline uint64_t myth_hash_bytes(const void *bytes, size_t n)
{
    const uint64_t h = myth_fnv1a(MYTH_FNV1A, bytes, n);
    return h ^ h >> 32;
}

/* The same for numbers that are often close together: ids, rows. */
static inline uint64_t myth_hash_id(uint64_t id)
{
    const uint64_t h = id * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* A sum over a block of any size, eight bytes at a time: each step is one to one in the word and in what came before,
 * so a change within one word never goes unseen. Its value never changes: saved forms end in it. */
static inline uint64_t myth_sum_of(const void *block, size_t n)
{
    const unsigned char *p = (const unsigned char *)block;
    uint64_t h = MYTH_FNV1A ^ n, word;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    for (; n > 0; n--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

enum { MYTH_SUM_BYTES = 8 };

/* The last eight of n bytes become the sum of those before them. */
static inline void myth_sum_put(void *block, size_t n)
{
    const uint64_t sum = myth_sum_of(block, n - MYTH_SUM_BYTES);
    memcpy((unsigned char *)block + n - MYTH_SUM_BYTES, &sum, MYTH_SUM_BYTES);
}

static inline bool myth_sum_holds(const void *block, size_t n)
{
    uint64_t sum;
    if (n < MYTH_SUM_BYTES)
        return false;
    memcpy(&sum, (const unsigned char *)block + n - MYTH_SUM_BYTES, MYTH_SUM_BYTES);
    return sum == myth_sum_of(block, n - MYTH_SUM_BYTES);
}

#endif
