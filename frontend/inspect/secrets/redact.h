/* redact.h - what outputs show of texts that may hold secrets: each that the detectors know (secrets.h) as
 * "[REDACTED:kind:sha8]", everything else as it is.
 *
 * Files    the secrets of a file are found once, in the whole of it; a piece of the file (a line, evidence) hides what
 *          it shares with one, also where the piece alone would not look like a secret
 * Texts    of a model: what the detectors find, and runs of at least MYTH_REDACT_RUN bytes that stand in a secret of
 *          the files; a shorter secret (6 bytes and more) as a whole
 * Prompt   is not changed: it does not leave the process
 * Owner    books STAGING at add, nothing after; sources are lent
 * Errors   MYTH_ENOMEM */
#ifndef MYTH_INSPECT_REDACT_H
#define MYTH_INSPECT_REDACT_H

#include "secrets.h"
#include "frontend/inspect/prompt/source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_REDACT_RUN = 12, MYTH_REDACT_FILTER_BITS = 1 << 16 };

typedef struct {
    const myth_source *src;
    myth_secret *secret; /* in order of their place */
    uint32_t n_secret;
    myth_mem *mem;
} myth_redactor_file;

typedef struct {
    myth_mem *mem;
    myth_redactor_file *file;
    uint32_t n_file, cap_file;
    uint32_t seen[MYTH_REDACT_FILTER_BITS /
                  32]; /* pieces of the secrets: a Bloom filter; it may say yes too often, never no */
    bool has_seen;
} myth_redactor;

/* Pieces of a text as it may be shown; is_placeholder marks the names of secrets. */
typedef void (*myth_put)(void *user, const char *text, size_t len, bool is_placeholder);

void myth_redactor_start(myth_redactor *r, myth_mem *mem);
myth_status myth_redactor_add(myth_redactor *r, const myth_source *src, myth_error *err);
/* Room for n more files; then one of them with its secrets booked in mem, which outlives r. MYTH_EFULL past the n. */
myth_status myth_redactor_reserve(myth_redactor *r, uint32_t n, myth_error *err);
myth_status myth_redactor_add_reserved(myth_redactor *r, myth_mem *mem, const myth_source *src, myth_error *err);
void myth_redactor_close(myth_redactor *r);           /* takes a zeroed one */
uint32_t myth_redactor_count(const myth_redactor *r); /* secrets in the files */

/* r NULL: no files are known. */
void myth_redact_text(const myth_redactor *r, const char *text, size_t len, myth_put put, void *user);
/* Bytes off .. off + len of a source. A secret is named where its first byte in the piece would stand. */
void myth_redact_bytes(const myth_redactor *r, const myth_source *src, uint32_t off, uint32_t len, myth_put put,
                       void *user);

#ifdef __cplusplus
}
#endif
#endif
