/* channel.h - tells which ids of an answer belong to the model's thought, by the marks of Gemma 4's channel:
 *
 *   <|channel> "thought\n" thought <channel|> answer
 *
 * Header   ids after the opening mark that spell "thought\n" count as part of the mark. In a channel with another name
 *          every id is thought
 * Count    n_thought counts thought ids over the whole answer, so a second channel has only the rest of a budget
 * Without  these marks in the vocabulary, everything is answer
 * Source   chat_template of Gemma 4; its generation with thinking on */
#ifndef MYTH_CHANNEL_H
#define MYTH_CHANNEL_H

#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_CHANNEL_HEADER_MAX = 8 }; /* "thought\n" in bytes */

typedef enum { MYTH_SAID_ANSWER, MYTH_SAID_THOUGHT, MYTH_SAID_MARK } myth_said;

typedef struct {
    int32_t open, close; /* -1 = the vocabulary has none */
    int32_t header[MYTH_CHANNEL_HEADER_MAX];
    int n_header, n_seen; /* seen of this channel's header; n_header behind it */
    bool is_open;
    uint32_t n_thought;
} myth_channel;

/* Where an answer to this prompt begins: inside a channel when the prompt leaves one open. */
void myth_channel_start(myth_channel *c, const myth_tokenizer *t, const int32_t *prompt, size_t n_prompt);
/* The next id of the answer. */
myth_said myth_channel_push(myth_channel *c, int32_t id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
