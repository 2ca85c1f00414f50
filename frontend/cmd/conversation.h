/* conversation.h - a conversation as JSON, the form that chat programs exchange:
 *
 *   { "messages": [ { "role", "content", "reasoning_content", "tool_calls", "name", "tool_call_id" }, ... ], "tools": [
 *   ... ] } or the list of messages alone
 *
 * Roles    system, developer, user, assistant, tool; which of them a model's template has is the template's to say
 *          (chat.h)
 * Content  a string, or a list of parts [{"type": "text", "text": "..."}, ...], joined with nothing between: those of a
 *          user and an assistant trimmed, as the published templates have them; null or nothing is an empty string
 * Owner    everything is lent from the opened conversation, and from the text it was read from
 * Errors   MYTH_EFORMAT the file is no JSON; MYTH_EARG it is no conversation: the message's number and what was
 *          expected */
#ifndef MYTH_CONVERSATION_H
#define MYTH_CONVERSATION_H

#include "engine/text/chat.h"
#include "engine/text/json_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    unsigned char *file;
    myth_json_tree tree;
    myth_message *msg;
    myth_message_more *more;
    char *parts;               /* of all messages, joined */
    size_t n, n_text, n_parts; /* n_text: bytes of the JSON, and so most that parts can be */
    myth_str tools;
} myth_conversation;

/* path: "-" is standard input. */
myth_status myth_conversation_open(myth_conversation *out, myth_mem *mem, const char *path, myth_error *err);
/* Of a text in memory; `path` is what messages call it. */
myth_status myth_conversation_read(myth_conversation *out, myth_mem *mem, const char *text, size_t len,
                                   const char *path, myth_error *err);
void myth_conversation_close(myth_conversation *c); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
