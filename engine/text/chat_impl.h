/* chat_impl.h - what the templates share: a writer that takes text and control ids in turn.
 *
 * Text     is collected until the next control id and then encoded in one piece by the content entry of the tokenizer,
 *          so it never yields a control id
 * Errors   the writer keeps the first failure; later writes do nothing */
#ifndef MYTH_CHAT_IMPL_H
#define MYTH_CHAT_IMPL_H

#include "json_tree.h"
#include "chat.h"

typedef struct {
    const myth_tokenizer *t;
    myth_mem *mem;
    int32_t *ids;
    size_t n, cap;
    char *text; /* since the last control id */
    size_t n_text, cap_text;
    myth_status st;
    myth_error *err;
} myth_chat_writer;

void myth_chat_put(myth_chat_writer *w, const char *s, size_t n);
void myth_chat_put_str(myth_chat_writer *w, const char *s);
/* piece: what to call the id when the vocabulary lacks it. */
void myth_chat_put_id(myth_chat_writer *w, int32_t id, const char *piece);
void myth_chat_flush(myth_chat_writer *w);
void myth_chat_refuse(myth_chat_writer *w, const char *what, myth_str which);

/* chat_turns.c: every form but FOLDED */
void myth_chat_turns(myth_chat_writer *w, myth_chat_form form, const myth_message *msg, size_t n_msg,
                     const myth_chat_opts *o);
/* chat_tools.c: the declaration of each tool of a list; a call; a string between its quotes. */
void myth_chat_put_tools(myth_chat_writer *w, const myth_json_tree *tools);
void myth_chat_put_call(myth_chat_writer *w, const myth_json_tree *calls, const myth_json_node *call);
void myth_chat_put_quoted(myth_chat_writer *w, myth_str s);
/* The members of an object as the arguments of a call are written: "{" key ":" value ... "}". */
void myth_chat_put_members(myth_chat_writer *w, const myth_json_tree *t, const myth_json_node *object);
/* "function" of a tool or a call and in it "name", which must be a string; NULL when it is not, said in w. */
const myth_json_node *myth_chat_function(myth_chat_writer *w, const myth_json_tree *t, const myth_json_node *n,
                                         myth_str *name);

#endif
