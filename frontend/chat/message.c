/* message.c - members by their names. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    myth_role role;
} roles[] = {{"user", MYTH_ROLE_USER},
             {"assistant", MYTH_ROLE_ASSISTANT},
             {"developer", MYTH_ROLE_DEVELOPER},
             {"tool", MYTH_ROLE_TOOL}};
enum { N_ROLE = sizeof(roles) / sizeof(roles[0]) };

static void put_text(myth_json_out *j, const char *key, myth_str s)
{
    if (!s.text)
        return;
    myth_jout_key(j, key);
    myth_jout_text(j, s.text, s.len);
}

void myth_chat_message_put(myth_json_out *j, const myth_talk_message *m)
{
    myth_jout_object(j);
    for (size_t i = 0; i < N_ROLE; i++)
        if (roles[i].role == m->m.role)
            myth_jout_key_str(j, "role", roles[i].name);
    put_text(j, "content", m->m.text);
    put_text(j, "thought", m->more.thought);
    put_text(j, "calls", m->more.calls);
    put_text(j, "name", m->more.name);
    put_text(j, "call_id", m->more.call_id);
    if (m->is_pinned)
        myth_jout_key_bool(j, "pinned", true);
    myth_jout_key_u64(j, "number", m->number);
    myth_jout_end(j);
}

myth_str myth_chat_text_of(const myth_json_tree *t, const myth_json_node *n, const char *key)
{
    const myth_json_node *v = myth_json_tree_get(t, n, key);
    return v && v->type == MYTH_JSON_STRING ? v->text : (myth_str){NULL, 0};
}

uint64_t myth_chat_number_of(const myth_json_tree *t, const myth_json_node *n, const char *key)
{
    const myth_json_node *v = myth_json_tree_get(t, n, key);
    char digits[24] = "";
    if (v && v->type == MYTH_JSON_NUMBER && v->text.len < sizeof(digits))
        memcpy(digits, v->text.text, v->text.len);
    return digits[0] == '-' ? 0 : strtoull(digits, NULL, 10);
}

myth_status myth_chat_no_chat(const char *path, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: %s; a chat is saved by /save or --session", path, what);
}

myth_status myth_chat_message_add(myth_talk *talk, const myth_json_tree *t, const myth_json_node *n, const char *path,
                                  myth_error *err)
{
    const myth_str name = myth_chat_text_of(t, n, "role");
    const myth_json_node *pinned = myth_json_tree_get(t, n, "pinned");
    for (size_t i = 0; i < N_ROLE; i++)
        if (name.text && myth_str_is(name, roles[i].name)) {
            const myth_message m = {roles[i].role, myth_chat_text_of(t, n, "content")};
            const myth_message_more more = {.thought = myth_chat_text_of(t, n, "thought"),
                                            .calls = myth_chat_text_of(t, n, "calls"),
                                            .name = myth_chat_text_of(t, n, "name"),
                                            .call_id = myth_chat_text_of(t, n, "call_id")};
            const myth_status st = myth_talk_add(talk, &m, &more, err);
            if (st != MYTH_OK)
                return st;
            talk->msg[talk->n - 1].is_pinned = pinned && pinned->type == MYTH_JSON_TRUE;
            myth_talk_place(talk, myth_chat_number_of(t, n, "number"));
            return MYTH_OK;
        }
    return myth_chat_no_chat(path, "a message without a role", err);
}
