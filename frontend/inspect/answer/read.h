/* read.h - steps that the readers of answers share: over JSON tokens, with texts unescaped into the caller's room.
 *
 * Errors   MYTH_EFORMAT with the offset: another token or key than expected
 * Threads  one reader, one thread */
#ifndef MYTH_INSPECT_READ_H
#define MYTH_INSPECT_READ_H

#include "findings.h"

#include "engine/base/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_json j;
    myth_json_token t; /* the last one */
    char *room;        /* next free byte */
    myth_error *err;
} myth_reader;

/* The next token must have this type; `what` names it in the error. */
myth_status myth_read_next(myth_reader *r, myth_json_type want, const char *what);
myth_status myth_read_key(myth_reader *r, const char *name);
/* Unescapes the last token, a string. */
void myth_read_take(myth_reader *r, myth_str *out);
myth_status myth_read_text(myth_reader *r, const char *name, myth_str *out); /* "name":"..." */
/* "file":"...","lines":[first,last]: the block that holds both lines, and the lines as the file numbers them. */
myth_status myth_read_place(myth_reader *r, const myth_block *block, uint32_t n_block, uint32_t *at, uint32_t *first,
                            uint32_t *last);
/* "missing_context":[...]} and the end of the answer. */
myth_status myth_read_context(myth_reader *r, myth_str context[MYTH_CONTEXT_MAX], uint32_t *n_context);

#ifdef __cplusplus
}
#endif
#endif
