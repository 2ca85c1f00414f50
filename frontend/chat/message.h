/* message.h - a message of a chat as JSON, as saved chats have it:
 *
 *   {"role", "content", "thought", "calls", "name", "call_id", "pinned", "number"}        what it has not is left out
 *
 * Calls    are JSON already and kept as a string, so that they come back byte for byte
 * Number   the message's place in the chat, which it keeps when others go (talk.h); a text without it gets the next
 * Errors   MYTH_EFORMAT: a message without a role; those of myth_talk_add */
#ifndef MYTH_CHAT_MESSAGE_H
#define MYTH_CHAT_MESSAGE_H

#include "engine/text/json_tree.h"
#include "frontend/cli/json_out.h"
#include "talk.h"

#ifdef __cplusplus
extern "C" {
#endif

void myth_chat_message_put(myth_json_out *j, const myth_talk_message *m);
/* Adds it to the talk, at its place. path: for the message. */
myth_status myth_chat_message_add(myth_talk *talk, const myth_json_tree *t, const myth_json_node *n, const char *path,
                                  myth_error *err);
/* A string; a whole number. NULL, and 0, when there is none. */
myth_str myth_chat_text_of(const myth_json_tree *t, const myth_json_node *n, const char *key);
uint64_t myth_chat_number_of(const myth_json_tree *t, const myth_json_node *n, const char *key);
/* MYTH_EFORMAT: what is wrong with a file that should be a saved chat. */
myth_status myth_chat_no_chat(const char *path, const char *what, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
