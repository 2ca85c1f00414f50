/* runlog_redact.h - redacts strings, documents, prompts and answers with the report's redactor before the run log keeps
 * them.
 *
 * Prompt    lines of code are looked up in their file, where secrets are known by their place, even a secret of several
 *           lines
 * Paths     are not redacted in a document (keys path, file, root, cwd; a string that is the path of an inspected
 *           file), in the head of a block and in an answer, because a replay needs them
 * Answer    a quote that shares a run of bytes with a secret of the files is hidden as a whole, because a piece of
 *           eight bytes does not look like a secret
 * Buffer    grows in mem; when it cannot, has_failed is set and the text must not be used
 * Threads   one */
#ifndef MYTH_INSPECT_RUNLOG_REDACT_H
#define MYTH_INSPECT_RUNLOG_REDACT_H

#include "frontend/inspect/prompt/prompt.h"
#include "frontend/inspect/secrets/redact.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    char *text; /* NUL-terminated when n > 0 */
    size_t n, cap;
    bool has_failed, has_placeholder;
} myth_redacted;

void myth_redacted_free(myth_redacted *b); /* b can be used again */
/* Whether text is the path of one of the redactor's files. */
bool myth_redacted_is_path(const myth_redactor *r, const char *text);
/* Each appends a redacted text. r NULL: redacts what the detectors find, without knowing any file. */
void myth_redacted_add(myth_redacted *b, const myth_redactor *r, const char *text, size_t len);
void myth_redacted_add_prompt(myth_redacted *b, const myth_redactor *r, const char *text, size_t len,
                              const myth_block *block, uint32_t n_block);
void myth_redacted_add_answer(myth_redacted *b, const myth_redactor *r, const char *text, size_t len);

void myth_redacted_add_path(myth_redacted *b, const char *path); /* appends it unchanged */

/* A copy with every string except paths redacted; NULL = out of memory. *changed becomes true when a secret was
 * replaced. */
json_t *myth_redacted_json(const json_t *j, const myth_redactor *r, myth_mem *mem, bool *changed);
/* A JSON string of len bytes; bytes that are not UTF-8 become U+FFFD. NULL = out of memory. */
json_t *myth_json_lossy(myth_mem *mem, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
