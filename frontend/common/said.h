/* said.h - the text of an answer, without its thoughts, or of these alone, as JSON. */
#ifndef MYTH_SAID_H
#define MYTH_SAID_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the key and, as one string, the text of those ids that are `part`. c: the state behind the prompt; piece has
 * room for a token's text (tokenizer.h, myth_detok_push). */
void myth_said_print(myth_json_out *j, const char *key, const myth_tokenizer *t, myth_channel c, const int32_t *ids,
                     uint32_t n, char *piece, myth_said part);

#ifdef __cplusplus
}
#endif
#endif
