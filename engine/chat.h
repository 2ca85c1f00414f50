/* chat.h - chat templates, literal, as parts: scaffold (may hold control tokens) and content (cannot).
 *
 * Rules    exactly one <bos> at the front; message texts trimmed (the system text is not); roles alternate user, assistant; the
 *          system text is folded into the first user turn as the family does it: system + "\n\n" + user
 * Errors   MYTH_EARG roles out of order; MYTH_EFULL
 * Source   chat_template in tokenizer_config.json as published with Gemma 1.1, 2 and 3 */
#ifndef MYTH_CHAT_H
#define MYTH_CHAT_H

#include "config.h"
#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_ROLE_SYSTEM, MYTH_ROLE_USER, MYTH_ROLE_ASSISTANT } myth_role;

typedef struct {
    myth_role role;
    myth_str text;                /* content: control tokens are inert in it */
} myth_message;

/* Upper bound of the ids for these messages. */
size_t myth_chat_bound(const myth_message *msg, size_t n_msg);
/* Whole prompt, ending in the header of the assistant's turn. Texts are encoded by the content entry, scaffold by the template's. The text
 * of one turn is encoded in one piece, so that merges run across the folded system text as they do in the rendered template. */
myth_status myth_chat_encode(const myth_tokenizer *t, myth_mem *mem, myth_family_id family, const myth_message *msg, size_t n_msg,
                             int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* Ids that end an answer: eos, end of turn, and the family's others. Returns how many (at most 8). */
int myth_chat_stop_ids(const myth_tokenizer *t, myth_family_id family, int32_t ids[8]);

#ifdef __cplusplus
}
#endif
#endif
