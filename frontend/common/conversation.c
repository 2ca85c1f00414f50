/* conversation.c - reads a conversation. */
#include "conversation.h"
#include "frontend/cli/cli.h"

#include <string.h>

enum { FILE_MAX_BYTES = 64 << 20 };

static const myth_json_node *get(const myth_conversation *c, const myth_json_node *n, const char *key)
{
    n = myth_json_tree_get(&c->tree, n, key);
    return n && n->type != MYTH_JSON_NULL ? n : NULL;
}

/* A string member; text NULL = not there. */
static myth_status text_of(myth_str *out, const myth_conversation *c, const myth_json_node *n, size_t i,
                           const char *key, myth_error *err)
{
    const myth_json_node *v = get(c, n, key);
    *out = (myth_str){NULL, 0};
    if (v && v->type != MYTH_JSON_STRING)
        return myth_fail(err, MYTH_EFORMAT, "message %zu: %s: expected a string", i, key);
    if (v)
        *out = v->text;
    return MYTH_OK;
}

static bool role_of(myth_role *out, myth_str name)
{
    static const char *const names[] = {[MYTH_ROLE_SYSTEM] = "system",
                                        [MYTH_ROLE_USER] = "user",
                                        [MYTH_ROLE_ASSISTANT] = "assistant",
                                        [MYTH_ROLE_DEVELOPER] = "developer",
                                        [MYTH_ROLE_TOOL] = "tool"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name.text && myth_str_is(name, names[i])) {
            *out = (myth_role)i;
            return true;
        }
    return false;
}

/* One part of a list behind those before it. */
static myth_status add_part(myth_conversation *c, const myth_json_node *part, size_t i, bool is_trimmed,
                            myth_error *err)
{
    const myth_json_node *type = get(c, part, "type"), *text = get(c, part, "text");
    if (!type || type->type != MYTH_JSON_STRING || !myth_str_is(type->text, "text") || !text ||
        text->type != MYTH_JSON_STRING)
        return myth_fail(err, MYTH_EFORMAT,
                         "message %zu: content: expected parts {\"type\": \"text\", \"text\": \"...\"}; pictures and "
                         "sounds are not read",
                         i);
    if (!c->parts && !(c->parts = myth_alloc(c->mem, MYTH_MEM_STAGING, "conversation", c->n_text)))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the parts of message %zu", i);
    const myth_str s = is_trimmed ? myth_chat_trim(text->text) : text->text;
    if (s.len)
        memcpy(c->parts + c->n_parts, s.text, s.len);
    c->n_parts += s.len;
    return MYTH_OK;
}

static myth_status content_of(myth_message *m, myth_conversation *c, const myth_json_node *n, size_t i, myth_error *err)
{
    const myth_json_node *v = get(c, n, "content");
    const bool is_trimmed = m->role == MYTH_ROLE_USER || m->role == MYTH_ROLE_ASSISTANT;
    const size_t first = c->n_parts;
    myth_status st = MYTH_OK;
    m->text = (myth_str){"", 0};
    if (!v)
        return MYTH_OK;
    if (v->type == MYTH_JSON_STRING) {
        m->text = v->text;
        return MYTH_OK;
    }
    if (v->type != MYTH_JSON_ARRAY)
        return myth_fail(err, MYTH_EFORMAT, "message %zu: content: expected a string or a list of parts", i);
    for (const myth_json_node *part = myth_json_tree_first(&c->tree, v); part;
         part = myth_json_tree_next(&c->tree, part))
        MYTH_TRY(add_part(c, part, i, is_trimmed, err));
    if (c->n_parts > first)
        m->text = (myth_str){c->parts + first, c->n_parts - first};
fail:
    return st;
}

static myth_status read_message(myth_conversation *c, size_t i, const myth_json_node *n, myth_error *err)
{
    myth_str role;
    myth_message *m = &c->msg[i];
    myth_message_more *more = &c->more[i];
    const myth_json_node *calls = get(c, n, "tool_calls");
    myth_status st;
    MYTH_TRY(text_of(&role, c, n, i, "role", err));
    if (!role_of(&m->role, role))
        return myth_fail(err, MYTH_EFORMAT, "message %zu: role: expected system, developer, user, assistant or tool",
                         i);
    MYTH_TRY(content_of(m, c, n, i, err));
    MYTH_TRY(text_of(&more->thought, c, n, i, "reasoning", err));
    if (!more->thought.len)
        MYTH_TRY(text_of(&more->thought, c, n, i, "reasoning_content", err));
    MYTH_TRY(text_of(&more->name, c, n, i, "name", err));
    MYTH_TRY(text_of(&more->call_id, c, n, i, "tool_call_id", err));
    if (calls && calls->type != MYTH_JSON_ARRAY)
        return myth_fail(err, MYTH_EFORMAT, "message %zu: tool_calls: expected a list", i);
    if (calls && calls->n)
        more->calls = (myth_str){calls->span, calls->n_span};
fail:
    return st;
}

myth_status myth_conversation_read(myth_conversation *out, myth_mem *mem, const char *text, size_t len,
                                   const char *path, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t i = 0;
    *out = (myth_conversation){.mem = mem, .n_text = len};
    MYTH_TRY(myth_json_tree_open(&out->tree, mem, text, len, path, err));
    const myth_json_node *root = out->tree.node,
                         *list = root->type == MYTH_JSON_ARRAY ? root : get(out, root, "messages");
    const myth_json_node *tools = get(out, root, "tools");
    if (!list || list->type != MYTH_JSON_ARRAY || !list->n)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%.160s: expected {\"messages\": [...]} or a list of messages", path));
    if (tools && tools->type != MYTH_JSON_ARRAY)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "%.160s: tools: expected a list", path));
    if (tools && tools->n)
        out->tools = (myth_str){tools->span, tools->n_span};
    out->n = list->n;
    out->msg = myth_alloc_n(mem, MYTH_MEM_STAGING, "conversation", out->n, sizeof(*out->msg));
    out->more = myth_alloc_n(mem, MYTH_MEM_STAGING, "conversation", out->n, sizeof(*out->more));
    if (!out->msg || !out->more)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for %zu messages", out->n));
    for (const myth_json_node *n = myth_json_tree_first(&out->tree, list); n;
         n = myth_json_tree_next(&out->tree, n), i++)
        MYTH_TRY(read_message(out, i, n, err));
    return MYTH_OK;
fail:
    myth_conversation_close(out);
    return st;
}

myth_status myth_conversation_open(myth_conversation *out, myth_mem *mem, const char *path, myth_error *err)
{
    size_t len = 0;
    unsigned char *file = NULL;
    *out = (myth_conversation){0};
    myth_status st = myth_cli_read_given(&file, &len, mem, path, FILE_MAX_BYTES, err);
    if (st != MYTH_OK)
        return st;
    st = myth_conversation_read(out, mem, (const char *)file, len, path, err);
    if (st == MYTH_EFORMAT && err && strncmp(err->msg, "message ", 8) == 0)
        myth_fail(err, st, "%.80s: %s", path, err->msg);
    if (st == MYTH_OK)
        out->file = file;
    else
        myth_free(mem, file);
    return st;
}

/* Whether one of a message's calls has the id, or has none as the result. */
static bool has_call(const myth_json_tree *t, const myth_json_node *message, myth_str id)
{
    const myth_json_node *calls = myth_json_tree_get(t, message, "tool_calls");
    for (const myth_json_node *n = calls ? myth_json_tree_first(t, calls) : NULL; n; n = myth_json_tree_next(t, n)) {
        const myth_json_node *own = myth_json_tree_get(t, n, "id");
        if (!own || own->type != MYTH_JSON_STRING || !id.text
                ? !own && !id.text
                : own->text.len == id.len && memcmp(own->text.text, id.text, id.len) == 0)
            return true;
    }
    return false;
}

static void note_members(const myth_conversation *c, myth_term *term, const char *path)
{
    const myth_json_node *root = c->tree.node;
    char names[300];
    size_t n = 0;
    for (const myth_json_node *m = root->type == MYTH_JSON_OBJECT ? myth_json_tree_first(&c->tree, root) : NULL; m;
         m = myth_json_tree_next(&c->tree, m))
        if (!myth_str_is(m->key, "messages") && !myth_str_is(m->key, "tools") && n < sizeof(names))
            n += (size_t)snprintf(names + n, sizeof(names) - n, "%s\"%.*s\"", n ? ", " : "",
                                  (int)(m->key.len < 40 ? m->key.len : 40), m->key.text);
    if (n)
        myth_term_note(term, "%.160s: not read, and without effect: %s", path, names);
}

void myth_conversation_note(const myth_conversation *c, myth_term *term, const char *path)
{
    const myth_json_node *root = c->tree.node, *list = root->type == MYTH_JSON_ARRAY ? root : get(c, root, "messages"),
                         *caller = NULL;
    bool has_lost = false, has_unknown = false;
    size_t i = 0;
    note_members(c, term, path);
    for (const myth_json_node *n = myth_json_tree_first(&c->tree, list); n; n = myth_json_tree_next(&c->tree, n), i++) {
        if (c->msg[i].role != MYTH_ROLE_TOOL) {
            caller = c->more[i].calls.len ? n : NULL;
        } else if (!caller && !has_lost) {
            has_lost = true;
            myth_term_note(term, "%.160s: message %zu: a result that follows no call, so the prompt does not have it",
                           path, i);
        } else if (caller && !has_unknown && !c->more[i].name.len && !has_call(&c->tree, caller, c->more[i].call_id)) {
            has_unknown = true;
            myth_term_note(term,
                           "%.160s: message %zu: no call before this result has its tool_call_id, so it is one of an "
                           "unknown function; give the id of a call, or a name",
                           path, i);
        }
    }
}

void myth_conversation_close(myth_conversation *c)
{
    if (!c->mem)
        return;
    myth_free(c->mem, c->parts);
    myth_free(c->mem, c->more);
    myth_free(c->mem, c->msg);
    myth_json_tree_close(&c->tree);
    myth_free(c->mem, c->file);
    *c = (myth_conversation){0};
}
