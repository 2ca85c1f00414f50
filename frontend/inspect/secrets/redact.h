/* redact.h - replaces the secrets in a text that the detectors find (secrets.h) by "[REDACTED:kind:sha8]", for reports,
 * the run log and the map.
 *
 * Files    the secrets of a whole file are found once. In a piece of that file (a line, evidence) every byte of such a
 *          secret is hidden, even if the piece alone would not look like a secret
 * Texts    in a model's text, what the detectors find is hidden, and every run of at least MYTH_REDACT_RUN bytes that
 *          is also in a secret of the files; a shorter secret (from 6 bytes) only if it is there as a whole
 * Prompt   is not redacted, because it does not leave the process
 * Owner    books STAGING at add, nothing later; the caller keeps the sources
 * Errors   MYTH_ENOMEM
 * Threads  read-only after the last add: any */
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
    uint32_t *slot, n_slot; /* of the files, by their paths (engine/base/table.h) */
    uint32_t seen[MYTH_REDACT_FILTER_BITS /
                  32]; /* Bloom filter of the secrets' pieces: a no is always right, a yes is checked */
    bool has_seen;
} myth_redactor;

/* Gets the pieces of a text as it may be shown; is_placeholder: the piece replaces a secret. */
typedef void (*myth_put)(void *user, const char *text, size_t len, bool is_placeholder);

void myth_redactor_start(myth_redactor *r, myth_mem *mem);
myth_status myth_redactor_add(myth_redactor *r, const myth_source *src, myth_error *err);
/* reserve makes room for n more files; add_reserved adds one of them, with its secrets booked in mem, which must
 * outlive r. MYTH_EFULL: all n are used. */
myth_status myth_redactor_reserve(myth_redactor *r, uint32_t n, myth_error *err);
myth_status myth_redactor_add_reserved(myth_redactor *r, myth_mem *mem, const myth_source *src, myth_error *err);
void myth_redactor_close(myth_redactor *r); /* takes a zeroed one */
/* The file of a source, or with that path; NULL = none. They cost the same with any number of files. r NULL: none. */
const myth_redactor_file *myth_redactor_find(const myth_redactor *r, const myth_source *src);
const myth_redactor_file *myth_redactor_find_path(const myth_redactor *r, const char *path);
uint32_t myth_redactor_count(const myth_redactor *r); /* secrets in the files */

/* Passes text to put with its secrets replaced. r NULL: no file is known, only the detectors are used. */
void myth_redact_text(const myth_redactor *r, const char *text, size_t len, myth_put put, void *user);
/* myth_redact_text without a file, to dst: at most cap - 1 bytes and a zero. Returns the bytes. In the form that
 * myth_repomap_opts.show takes; user is not read. */
size_t myth_redact_line(void *user, char *dst, size_t cap, const char *text, size_t n);
/* myth_redact_text for bytes off .. off + len of a source. The placeholder is at the first byte of the secret in the
 * piece. */
void myth_redact_bytes(const myth_redactor *r, const myth_source *src, uint32_t off, uint32_t len, myth_put put,
                       void *user);

#ifdef __cplusplus
}
#endif
#endif
