/* said.h - thoughts of an answer: how many a flag allows, and the answer's text without them, or theirs alone, as JSON.
 *
 * Errors   MYTH_EARG: --reasoning-budget is no number; MYTH_EUNSUPPORTED: the family cannot think first */
#ifndef MYTH_SAID_H
#define MYTH_SAID_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads --reasoning-budget: whether an answer may think, and for how many tokens (0 = any number). */
myth_status myth_said_budget(const char *text, bool *thinks, uint32_t *n_think, myth_error *err);
/* Refuses thoughts of a model whose family has none. */
myth_status myth_said_check(const myth_model *m, bool thinks, myth_error *err);
/* A note where the model's files carry a chat template other than Gemma's: what it was trained on is not what it gets.
 */
void myth_said_template(const myth_cli *cli, const myth_model *m);
/* Writes the key and, as one string, the text of those ids that are `part`, at most n_byte bytes of it. c: the state
 * behind the prompt; piece has room for a token's text (tokenizer.h, myth_detok_push). */
void myth_said_print(myth_json_out *j, const char *key, const myth_tokenizer *t, myth_channel c, const int32_t *ids,
                     uint32_t n, char *piece, myth_said part, uint64_t n_byte);

#ifdef __cplusplus
}
#endif
#endif
