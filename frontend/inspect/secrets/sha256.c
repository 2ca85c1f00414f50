/* sha256.c - SHA-256 step by step as in FIPS 180-4, section 6.2; plain C that is not tuned for speed. */
#include "sha256.h"

#include <string.h>

/* Section 4.2.2: the first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[64], v[8]; /* the message schedule; the standard's a .. h */
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, h, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t t1 =
            v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        uint32_t t2 =
            (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void myth_sha256_start(myth_sha256 *s)
{
    /* Section 5.3.3: the first 32 bits of the fractions of the square roots of the first 8 primes. */
    static const uint32_t h0[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, h0, sizeof(h0));
    s->n = 0;
}

void myth_sha256_add(myth_sha256 *s, const void *data, size_t len)
{
    const unsigned char *p = data;
    while (len) {
        size_t at = s->n % 64, m = 64 - at < len ? 64 - at : len;
        memcpy(s->block + at, p, m);
        s->n += m;
        p += m;
        len -= m;
        if (s->n % 64 == 0)
            compress(s->h, s->block);
    }
}

void myth_sha256_end(myth_sha256 *s, unsigned char out[MYTH_SHA256_BYTES])
{
    static const unsigned char pad[64] = {0x80};
    unsigned char bits[8]; /* the length in bits, taken before the padding counts as data */
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)(s->n * 8 >> (56 - 8 * i));
    /* Section 5.1.1: a one bit, then zeros until 8 bytes are left in a block. */
    myth_sha256_add(s, pad, 1 + (119 - s->n % 64) % 64);
    myth_sha256_add(s, bits, sizeof(bits));
    for (int i = 0; i < MYTH_SHA256_BYTES; i++)
        out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void myth_sha256_hex(char *dst, const unsigned char digest[MYTH_SHA256_BYTES], int n_digit)
{
    for (int i = 0; i < n_digit; i++)
        dst[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    dst[n_digit] = '\0';
}
