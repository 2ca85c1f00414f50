/* sha256.h - SHA-256 of bytes that arrive in any number of pieces: start, add for each piece, end.
 *
 * Owner    myth_sha256 is plain data of the caller; nothing is allocated and nothing fails
 * After    end uses the state up: start comes before the next digest
 * Threads  any; one for each myth_sha256
 * Source   FIPS 180-4 */
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
    uint64_t n;              /* bytes added so far                                      */
    unsigned char block[64]; /* the last n % 64 of them, which do not fill a block yet  */
} myth_sha256;

void myth_sha256_start(myth_sha256 *s);
void myth_sha256_add(myth_sha256 *s, const void *data, size_t len);
void myth_sha256_end(myth_sha256 *s, unsigned char out[MYTH_SHA256_BYTES]);

/* Writes the first n_digit (at most 64) hex digits of the digest, in lower case, and a NUL. */
void myth_sha256_hex(char *dst, const unsigned char digest[MYTH_SHA256_BYTES], int n_digit);

#ifdef __cplusplus
}
#endif
#endif
