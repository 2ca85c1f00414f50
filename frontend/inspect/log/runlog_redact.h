/* runlog_redact.h - what the run log keeps of texts that may hold secrets: the report's redactor over strings,
 * documents, prompts and answers.
 *
 * Prompt    lines of code are looked up in their file, where a secret is known by its place also when it goes over
 *           several lines
 * Paths     stay as they are, in a document (keys path, file, root, cwd; a string that is the path of an inspected
 *           file), in the head of a block and in an answer: a path is no content, and a replay needs it
 * Answer    evidence that shares a run with a secret of the files is hidden whole: a piece of eight bytes does not look
 *           like a secret
 * Buffer    grows in mem; when that has no room has_failed, and what is there is not to be used */
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

void myth_redacted_free(myth_redacted *b); /* b is empty again */
/* Whether text is the path of one of the redactor's files. */
bool myth_redacted_is_path(const myth_redactor *r, const char *text);
/* Each appends. r NULL: what the detectors find. */
void myth_redacted_add(myth_redacted *b, const myth_redactor *r, const char *text, size_t len);
void myth_redacted_add_prompt(myth_redacted *b, const myth_redactor *r, const char *text, size_t len,
                              const myth_block *block, uint32_t n_block);
void myth_redacted_add_answer(myth_redacted *b, const myth_redactor *r, const char *text, size_t len);

void myth_redacted_add_path(myth_redacted *b, const char *path); /* as it is */

/* A copy with every string but paths redacted; NULL when there is no memory. *changed becomes true when a secret was
 * named. */
json_t *myth_redacted_json(const json_t *j, const myth_redactor *r, myth_mem *mem, bool *changed);
/* A string of len bytes; what is not UTF-8 becomes U+FFFD. NULL when there is no memory. */
json_t *myth_json_lossy(myth_mem *mem, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
