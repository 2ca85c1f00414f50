/* hash.h - hashes for tables in memory, and FNV-1a for values that are stored or compared between runs.
 *
 * Source   Fowler, Noll, Vo, FNV-1a, 64 bits; Knuth, multiplicative hashing */
#ifndef MYTH_HASH_H
#define MYTH_HASH_H

#include <stddef.h>
#include <stdint.h>

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

#endif
