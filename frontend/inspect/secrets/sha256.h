/* sha256.h - SHA-256 in one call.   Source: FIPS 180-4. */
#ifndef MYTH_INSPECT_SHA256_H
#define MYTH_INSPECT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SHA256_BYTES = 32 };

typedef struct {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    unsigned char block[64];
} myth_sha256;

void myth_sha256_start(myth_sha256 *s);
void myth_sha256_add(myth_sha256 *s, const void *data, size_t len);
void myth_sha256_end(myth_sha256 *s, unsigned char out[MYTH_SHA256_BYTES]);

/* n_digit lower-case hex digits of a digest (at most 64) and a NUL. */
void myth_sha256_hex(char *dst, const unsigned char digest[MYTH_SHA256_BYTES], int n_digit);

#ifdef __cplusplus
}
#endif
#endif
