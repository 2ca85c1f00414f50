/* secrets.h - finds secrets in text: keys and tokens by their prefix, passwords by the name before them.
 *
 * Span     only the secret, without its name and quotes: of password = "x" all of x, an address included; of a URL
 *          elsewhere the password, or from a token in the place of the user to the @
 * Kinds    secrets.def; where two kinds match, the one with an issuer's prefix wins
 * Finds    tokens with an issuer's prefix (secrets.def); quoted values after a name such as password, also passphrases
 *          of several words; unquoted values after such a name that contain a digit or a sign; the values of the
 *          password flags in secrets_command.c. It does not find an unquoted word of letters, a value after a neutral
 *          name, or a secret put together from pieces: no detector finds every secret
 * Doubt    is resolved by hiding: a false alarm costs the reader a word, a miss a key. Names of fields, placeholders
 *          (${X}, <token>, ****) and calls are not secrets
 * Bounds   time linear in len: each detector reads a fixed number of bytes ahead
 * Threads  any */
#ifndef MYTH_INSPECT_SECRETS_H
#define MYTH_INSPECT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
#define KIND(id, name) MYTH_SECRET_##id,
#include "secrets.def"
    MYTH_SECRET_KIND_N
} myth_secret_kind;

typedef struct {
    uint32_t off, len;
    myth_secret_kind kind;
} myth_secret;

const char *myth_secret_kind_name(myth_secret_kind kind); /* "aws-key" */
/* The first secret that ends after byte `from`; false when there is none. len must fit 32 bits. */
bool myth_secret_next(myth_secret *out, const char *text, size_t len, size_t from);

/* Writes "[REDACTED:aws-key:1a2b3c4d]" and returns its length. The digits are the first of the secret's SHA-256, so
 * that the same secret has the same placeholder everywhere. A secret of fewer than MYTH_SECRET_SHORT bytes becomes
 * "[REDACTED:password:short]", because its digits could be used to check guesses. */
enum { MYTH_PLACEHOLDER_CAP = 64, MYTH_SECRET_SHORT = 16 };
size_t myth_secret_placeholder(char dst[MYTH_PLACEHOLDER_CAP], myth_secret_kind kind, const void *secret, size_t len);

#ifdef __cplusplus
}
#endif
#endif
