/* conversation.h - reads a conversation from JSON, in the form that chat programs exchange:
 *
 *   { "messages": [ { "role", "content", "reasoning_content", "tool_calls", "name", "tool_call_id" }, ... ], "tools": [
 *   ... ] } or the list of messages alone
 *
 * Roles    system, developer, user, assistant, tool. A model's chat template may refuse some of them (chat.h)
 * Content  a string, or a list of parts [{"type": "text", "text": "..."}, ...]. Parts are joined without a separator;
 *          the parts of users and assistants are trimmed first, as the published templates do. null or no content is an
 *          empty string
 * Owner    messages point into the opened conversation and into the text it was read from; keep both
 * Errors   MYTH_EFORMAT: the file is not JSON, or it is not a conversation; the message has the number of the
 *          chat message and what was expected
 * Threads  one */
#ifndef MYTH_CONVERSATION_H
#define MYTH_CONVERSATION_H

#include "engine/text/chat.h"
#include "engine/text/json_tree.h"
#include "frontend/cli/term.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem;
    unsigned char *file;
    myth_json_tree tree;
    myth_message *msg;
    myth_message_more *more;
    char *parts;               /* the joined parts of all messages */
    size_t n, n_text, n_parts; /* n_text: bytes of the JSON text, which bounds the bytes of parts */
    myth_str tools;
} myth_conversation;

/* path: "-" is standard input. */
myth_status myth_conversation_open(myth_conversation *out, myth_mem *mem, const char *path, myth_error *err);
/* Reads a text in memory; error messages call it `path`. */
myth_status myth_conversation_read(myth_conversation *out, myth_mem *mem, const char *text, size_t len,
                                   const char *path, myth_error *err);
/* Says what of a conversation that was read has no effect: members besides the two, the first result that follows no
 * call, and the first that is of none of the calls before it. */
void myth_conversation_note(const myth_conversation *c, myth_term *term, const char *path);
void myth_conversation_close(myth_conversation *c); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
