/* chat.h - writes chat prompts as the published templates do. A prompt is made of scaffold, which may hold control
 * tokens, and of content, which cannot.
 *
 * Forms    FOLDED  Gemma 1 to 3n: message texts are trimmed, except the system text; roles alternate user, assistant;
 *                  the system text is put before the first user text: system + "\n\n" + user
 *          TURNS   Gemma 4 with per-layer embeddings (E2B, E4B): every text is trimmed; roles in any order; a system
 *                  turn, which holds the switch for thinking, the text and the tool declarations; assistant messages
 *                  in a row share a turn; tool results (role TOOL) follow the calls that they answer; thoughts inside
 *                  an assistant's text are dropped
 *          SHUT    the other sizes of Gemma 4: as TURNS, but with thinking off the answer begins after an empty thought
 *          CALLS   FunctionGemma, a Gemma 3 whose vocabulary has marks for calls of tools: every text is trimmed; roles
 *                  in any order; a turn of the developer, which holds the system text and the declarations; a tool's
 *                  result that is a JSON object is written member by member; the model does not think
 * Rules    exactly one <bos>, at the front; control ids come from the scaffold only, whatever a text says
 * Errors   MYTH_EARG roles out of order, something the form has not, tools that are not what JSON schemas are;
 *          MYTH_EUNSUPPORTED the vocabulary lacks a marker; MYTH_EFULL
 * Source   chat_template in tokenizer_config.json as published with Gemma 1.1, 2, 3, and 4 of July 2026;
 *          ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices */
#ifndef MYTH_CHAT_H
#define MYTH_CHAT_H

#include "engine/model/config.h"
#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum { MYTH_CHAT_FOLDED, MYTH_CHAT_TURNS, MYTH_CHAT_SHUT, MYTH_CHAT_CALLS } myth_chat_form;

/* t: the model's tokenizer, NULL = it has none. */
myth_chat_form myth_chat_form_of(const myth_config *c, const myth_tokenizer *t);
static inline bool myth_chat_has_thoughts(myth_chat_form form)
{
    return form == MYTH_CHAT_TURNS || form == MYTH_CHAT_SHUT;
}

typedef enum { MYTH_ROLE_SYSTEM, MYTH_ROLE_USER, MYTH_ROLE_ASSISTANT, MYTH_ROLE_DEVELOPER, MYTH_ROLE_TOOL } myth_role;

typedef struct {
    myth_role role;
    myth_str text; /* content: control tokens are inert in it */
} myth_message;

/* What a message of Gemma 4 and FunctionGemma may have besides its text. */
typedef struct {
    myth_str thought; /* written where the template keeps it: behind the last user turn */
    myth_str calls;   /* of an assistant, JSON: [{"id": "1", "function": {"name": "f", "arguments": {...}}}, ...] */
    myth_str name, call_id; /* of a tool: whose result the text is; a call of that id names it. text NULL = not given */
} myth_message_more;

typedef struct {
    bool thinks;         /* the model is told to think first */
    bool keeps_thoughts; /* thoughts before calls are written in older turns too */
    myth_str
        tools; /* JSON: [{"type": "function", "function": {"name", "description", "parameters", "response"}}, ...] */
    const myth_message_more *more; /* one for each message; NULL = none has more */
} myth_chat_opts;

myth_str myth_chat_trim(myth_str s); /* white space of Python's str.strip, which the published templates' trim is */

/* Upper bound of the ids for these messages, in every form. */
size_t myth_chat_bound(const myth_message *msg, size_t n_msg);
size_t myth_chat_bound_with(const myth_message *msg, size_t n_msg, const myth_chat_opts *opts);
/* Writes the whole prompt, which ends in the header of the assistant's turn. Everything between two control tokens is
 * encoded in one piece, so that tokens merge across it as they do in the rendered template. */
myth_status myth_chat_encode(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_message *msg,
                             size_t n_msg, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
myth_status myth_chat_encode_with(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_message *msg,
                                  size_t n_msg, const myth_chat_opts *opts, int32_t *ids, size_t cap, size_t *n_ids,
                                  myth_error *err);
enum { MYTH_CHAT_STOP_MAX = 12 };
/* Ids that end an answer: eos, end of turn, those that the model's files name (myth_tokenizer_ends), and the family's
 * others: a tool's result, which is not the model's to write, and the fill-in markers (the vocabulary tells which there
 * are). Returns how many. */
int myth_chat_stop_ids(const myth_tokenizer *t, int32_t ids[MYTH_CHAT_STOP_MAX]);

/* The chat template that the model's files carry; nothing here runs it, prompts are written in the forms above. Copy:
 * *out is the text, in dst, or NULL: there is none, or none of at most cap bytes. Is_other: whether there is one that
 * does not write the turns of this form, so that the model was trained on other prompts. MYTH_EFORMAT, MYTH_EIO. */
myth_status myth_chat_template_copy(myth_str *out, myth_mem *mem, const myth_weights *w, char *dst, size_t cap,
                                    myth_error *err);
myth_status myth_chat_template_is_other(bool *out, myth_mem *mem, const myth_weights *w, myth_chat_form form,
                                        myth_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
