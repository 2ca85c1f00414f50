/* secrets.h - finds secrets in text: keys and tokens by their marks, passwords by where they stand.
 *
 * Span     the secret alone, not its name and quotes: of password = "x" the x, of a URL the password
 * Kinds    secrets.def; of two that fit at a place the one with a mark of its own stands
 * Holds    for what has a mark of an issuer (secrets.def); for values in quotes behind a telling name, words in a row
 *          among them; for bare values behind one that have a digit or a sign in them; for the password flags of the
 *          commands in secrets_command.c. A bare word of letters alone, a value behind a name that tells nothing, and
 *          what is spelled in pieces stay: no detector finds every secret
 * Leans    to hiding: what reads like a secret and is none costs a reader a word, the other mistake a key. Names of
 *          fields, places to fill in (${X}, <token>, ****) and calls stay
 * Bounds   linear in len: each detector looks a fixed number of bytes ahead */
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
/* The first secret that ends behind `from`; false when there is none. len fits 32 bits. */
bool myth_secret_next(myth_secret *out, const char *text, size_t len, size_t from);

/* "[REDACTED:aws-key:1a2b3c4d]", the digits being the first of the secret's SHA-256: the same secret has the same name
 * everywhere. A secret of fewer than MYTH_SECRET_SHORT bytes is "[REDACTED:password:short]": whoever guesses it would
 * have the digits to compare with. */
enum { MYTH_PLACEHOLDER_CAP = 64, MYTH_SECRET_SHORT = 16 };
size_t myth_secret_placeholder(char dst[MYTH_PLACEHOLDER_CAP], myth_secret_kind kind, const void *secret, size_t len);

#ifdef __cplusplus
}
#endif
#endif
