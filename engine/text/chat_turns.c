/* chat_turns.c - the templates with a turn for the system's text and with calls of tools. That of Gemma 4, written out:
 *
 *   <bos> [ <|turn> "system\n" [<|think|> "\n"] system { <|tool> declaration <tool|> }... <turn|> "\n" ]
 *   { <|turn> role "\n" [thought] { call }... { result }... text <turn|> "\n" }...
 *   <|turn> "model\n" [ <|channel> "thought\n" <channel|> ]
 *
 *   thought  <|channel> "thought\n" text "\n" <channel|>            of messages behind the last user turn
 *   call     <|tool_call> "call:" name "{" arguments "}" <tool_call|>
 *   result   <|tool_response> "response:" name "{value:" <|"|> text <|"|> "}" <tool_response|>
 *
 * A turn of the model goes on over assistants that follow each other, tools' results between them or not. Calls without
 * results end the prompt with <|tool_response>: whoever ran the tool goes on from there. Behind results the model goes
 * on in the same turn, with thinking on in a thought that is opened for it.
 * That of FunctionGemma:
 *
 *   <bos> [ <start_of_turn> "developer\n" system { <start_function_declaration> declaration
 *   <end_function_declaration> }... <end_of_turn> "\n" ]
 *   { <start_of_turn> role "\n" text { call }... { result }... <end_of_turn> "\n" }...   <start_of_turn> "model\n"
 *
 *   call     <start_function_call> "call:" name "{" arguments "}" <end_function_call>
 *   result   <start_function_response> "response:" name "{" members "}" <end_function_response>
 *
 * where the text of a message stands before its calls, and strings between two <escape>. A result whose text is no JSON
 * object is written as that of Gemma 4. Behind results the model goes on in the same turn.
 * Source   chat_template of Gemma 4 E2B and 31B, July 2026; of the earlier ones the strings of system and user turns
 *          are the same. FunctionGemma: ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices; where the
 *          page is silent (what follows a result, roles that repeat), the template that LiteRT-LM has for it */
#include "chat_impl.h"
#include <string.h>

typedef enum { BEHIND_NOTHING, BEHIND_CALL, BEHIND_RESULT } behind;

typedef struct {
    myth_chat_writer *w;
    const myth_special_ids *id;
    const myth_message *msg;       /* without the system text */
    const myth_message_more *more; /* as msg; NULL = none */
    size_t n_msg, last_user;       /* n_msg when no user speaks */
    const myth_chat_opts *o;
    bool is_function; /* FunctionGemma */
} script;

static const myth_message_more nothing_more;

static const myth_message_more *more_of(const script *s, size_t i) { return s->more ? &s->more[i] : &nothing_more; }

static const char *role_name(const script *s, myth_role role)
{
    static const char *const name[] = {[MYTH_ROLE_SYSTEM] = "system",
                                       [MYTH_ROLE_USER] = "user",
                                       [MYTH_ROLE_ASSISTANT] = "model",
                                       [MYTH_ROLE_DEVELOPER] = "developer",
                                       [MYTH_ROLE_TOOL] = "tool"};
    return s->is_function && role == MYTH_ROLE_SYSTEM ? name[MYTH_ROLE_DEVELOPER] : name[role];
}

static bool is_first_system(const myth_message *m)
{
    return m->role == MYTH_ROLE_SYSTEM || m->role == MYTH_ROLE_DEVELOPER;
}

static void put_trimmed(myth_chat_writer *w, myth_str s)
{
    s = myth_chat_trim(s);
    myth_chat_put(w, s.text, s.len);
}

static void open_turn(const script *s, myth_role role)
{
    myth_chat_put_id(s->w, s->id->start_of_turn, "<|turn>");
    myth_chat_put_str(s->w, role_name(s, role));
    myth_chat_put_str(s->w, "\n");
}

static void close_turn(const script *s)
{
    myth_chat_put_id(s->w, s->id->end_of_turn, "<turn|>");
    myth_chat_put_str(s->w, "\n");
}

static void open_thought(const script *s)
{
    myth_chat_put_id(s->w, s->id->channel_open, "<|channel>");
    myth_chat_put_str(s->w, "thought\n");
}

static void close_thought(const script *s) { myth_chat_put_id(s->w, s->id->channel_close, "<channel|>"); }

static const char *find(const char *s, const char *end, const char *word)
{
    const size_t n = strlen(word);
    for (; (size_t)(end - s) >= n; s++)
        if (memcmp(s, word, n) == 0)
            return s;
    return NULL;
}

/* An assistant's text without the thoughts that it spells out: of each stretch up to a closing mark what is before the
 * first opening one. */
static void put_spoken(myth_chat_writer *w, myth_str text)
{
    static const char opens[] = "<|channel>", closes[] = "<channel|>";
    const char *s = text.text, *end = s + text.len;
    const size_t first = w->n_text;
    while (s) {
        const char *stop = find(s, end, closes), *to = stop ? stop : end, *thought = find(s, to, opens);
        myth_chat_put(w, s, (size_t)((thought ? thought : to) - s));
        s = stop ? stop + sizeof(closes) - 1 : NULL;
    }
    if (w->st != MYTH_OK || w->n_text == first)
        return;
    myth_str spoken = myth_chat_trim((myth_str){w->text + first, w->n_text - first});
    memmove(w->text + first, spoken.text, spoken.len);
    w->n_text = first + spoken.len;
}

/* ---- calls and results ---- */

static bool same(const myth_json_node *n, myth_str s)
{
    if (!n || n->type == MYTH_JSON_NULL || !s.text)
        return (!n || n->type == MYTH_JSON_NULL) && !s.text;
    return n->type == MYTH_JSON_STRING && n->text.len == s.len && memcmp(n->text.text, s.text, s.len) == 0;
}

/* The members of a JSON object; false when text is none. */
static bool put_object(const script *s, myth_str text)
{
    myth_json_tree t;
    const myth_str trimmed = myth_chat_trim(text);
    if (!trimmed.len || trimmed.text[0] != '{' ||
        myth_json_tree_open(&t, s->w->mem, trimmed.text, trimmed.len, "result", NULL) != MYTH_OK)
        return false;
    myth_chat_put_members(s->w, &t, t.node);
    myth_json_tree_close(&t);
    return true;
}

static void put_result(const script *s, const myth_json_tree *calls, const myth_message *m,
                       const myth_message_more *more)
{
    myth_str name = more->name.len ? more->name : (myth_str){"unknown", 7};
    for (const myth_json_node *c = myth_json_tree_first(calls, calls->node); c; c = myth_json_tree_next(calls, c))
        if (same(myth_json_tree_get(calls, c, "id"), more->call_id))
            myth_chat_function(s->w, calls, c, &name);
    myth_chat_put_id(s->w, s->id->tool_response, "<|tool_response>");
    myth_chat_put_str(s->w, "response:");
    myth_chat_put(s->w, name.text, name.len);
    if (!s->is_function || !put_object(s, m->text)) {
        myth_chat_put_str(s->w, "{value:");
        myth_chat_put_quoted(s->w, m->text);
        myth_chat_put_str(s->w, "}");
    }
    myth_chat_put_id(s->w, s->id->tool_response_end, "<tool_response|>");
}

/* Results times calls of one message: every result looks for its call among all of them. */
enum { LOOKS_MOST = 2048 * 2048 };

/* Calls of message i and the results that stand behind it. */
static behind put_calls(const script *s, size_t i)
{
    const myth_str text = more_of(s, i)->calls;
    behind b = BEHIND_NOTHING;
    myth_json_tree calls;
    if (s->w->st != MYTH_OK || !text.len)
        return b;
    s->w->st = myth_json_tree_open(&calls, s->w->mem, text.text, text.len, "calls", s->w->err);
    if (s->w->st != MYTH_OK)
        return b;
    if (calls.node->type != MYTH_JSON_ARRAY)
        myth_chat_refuse(s->w, "calls: expected a list", (myth_str){"", 0});
    for (const myth_json_node *c = myth_json_tree_first(&calls, calls.node); c && s->w->st == MYTH_OK;
         c = myth_json_tree_next(&calls, c)) {
        myth_chat_put_call(s->w, &calls, c);
        b = BEHIND_CALL;
    }
    size_t n_result = 0;
    while (i + 1 + n_result < s->n_msg && s->msg[i + 1 + n_result].role == MYTH_ROLE_TOOL)
        n_result++;
    if (s->w->st == MYTH_OK && (uint64_t)n_result * calls.node->n > LOOKS_MOST)
        s->w->st = myth_fail(s->w->err, MYTH_ELIMIT,
                             "calls: %zu results of %u calls in one message, 2048 of each are looked up at most; "
                             "give them in several messages",
                             n_result, calls.node->n);
    for (size_t k = i + 1;
         s->w->st == MYTH_OK && b != BEHIND_NOTHING && k < s->n_msg && s->msg[k].role == MYTH_ROLE_TOOL; k++) {
        put_result(s, &calls, &s->msg[k], more_of(s, k));
        b = BEHIND_RESULT;
    }
    myth_json_tree_close(&calls);
    return b;
}

/* ---- turns ---- */

static void put_system(const script *s, const myth_message *system)
{
    myth_json_tree tools = {0};
    if (!system && !s->o->thinks && !s->o->tools.len)
        return;
    open_turn(s, MYTH_ROLE_SYSTEM);
    if (s->o->thinks) {
        myth_chat_put_id(s->w, s->id->think, "<|think|>");
        myth_chat_put_str(s->w, "\n");
    }
    if (system)
        put_trimmed(s->w, system->text);
    if (s->o->tools.len && s->w->st == MYTH_OK)
        s->w->st = myth_json_tree_open(&tools, s->w->mem, s->o->tools.text, s->o->tools.len, "tools", s->w->err);
    if (tools.node)
        myth_chat_put_tools(s->w, &tools);
    myth_json_tree_close(&tools);
    close_turn(s);
}

/* Role of the next message that is no tool's; false when there is none. */
static bool next_role(const script *s, size_t i, myth_role *role)
{
    for (i++; i < s->n_msg; i++)
        if (s->msg[i].role != MYTH_ROLE_TOOL) {
            *role = s->msg[i].role;
            return true;
        }
    return false;
}

static void put_text(const script *s, const myth_message *m)
{
    if (m->role == MYTH_ROLE_ASSISTANT && !s->is_function)
        put_spoken(s->w, m->text);
    else
        put_trimmed(s->w, m->text);
}

static behind put_message(const script *s, size_t i, bool goes_on)
{
    const myth_message *m = &s->msg[i];
    const myth_message_more *more = more_of(s, i);
    myth_role next = MYTH_ROLE_USER;
    const bool has_next = next_role(s, i, &next), is_model = m->role == MYTH_ROLE_ASSISTANT;
    if (!goes_on)
        open_turn(s, m->role);
    if (more->thought.len &&
        (s->last_user == s->n_msg || i > s->last_user || (s->o->keeps_thoughts && more->calls.len))) {
        open_thought(s);
        myth_chat_put(s->w, more->thought.text, more->thought.len);
        myth_chat_put_str(s->w, "\n");
        close_thought(s);
    }
    if (s->is_function) /* which has the text before the calls */
        put_text(s, m);
    const behind b = put_calls(s, i);
    const size_t before = s->w->n_text;
    if (!s->is_function)
        put_text(s, m);
    const bool has_text = s->w->n_text > before;
    if (b == BEHIND_CALL)
        myth_chat_put_id(s->w, s->id->tool_response, "<|tool_response>");
    else if (!(is_model && has_next && next == MYTH_ROLE_ASSISTANT) && (b == BEHIND_NOTHING || has_text || has_next))
        close_turn(s);
    return b;
}

/* What the template of FunctionGemma has no place for. */
static void refuse_thoughts(const script *s)
{
    static const myth_str none = {"", 0};
    if (s->o->thinks || s->o->keeps_thoughts)
        myth_chat_refuse(s->w, "this model does not think first", none);
    for (size_t i = 0; i < s->n_msg; i++)
        if (more_of(s, i)->thought.len)
            myth_chat_refuse(s->w, "this model's template has no thoughts", none);
}

void myth_chat_turns(myth_chat_writer *w, myth_chat_form form, const myth_message *msg, size_t n_msg,
                     const myth_chat_opts *o)
{
    const size_t first = n_msg && is_first_system(msg) ? 1 : 0;
    script s = {
        .w = w,
        .id = myth_tokenizer_special(w->t),
        .msg = msg + first,
        .more = o->more ? o->more + first : NULL,
        .n_msg = n_msg - first,
        .o = o,
        .is_function = form == MYTH_CHAT_CALLS,
    };
    behind b = BEHIND_NOTHING;
    bool was_model = false;
    if (n_msg == 0)
        myth_chat_refuse(w, "expected a message", (myth_str){"", 0});
    if (s.is_function)
        refuse_thoughts(&s);
    s.last_user = s.n_msg;
    for (size_t i = 0; i < s.n_msg; i++)
        if (s.msg[i].role == MYTH_ROLE_USER)
            s.last_user = i;
    myth_chat_put_id(w, s.id->bos, "<bos>");
    put_system(&s, first ? msg : NULL);
    for (size_t i = 0; i < s.n_msg; i++) {
        if (s.msg[i].role == MYTH_ROLE_TOOL)
            continue;
        const bool is_model = s.msg[i].role == MYTH_ROLE_ASSISTANT;
        b = put_message(&s, i, is_model && was_model);
        was_model = is_model;
    }
    if (b == BEHIND_NOTHING) {
        open_turn(&s, MYTH_ROLE_ASSISTANT);
        if (!o->thinks && form == MYTH_CHAT_SHUT) {
            open_thought(&s);
            close_thought(&s);
        }
    } else if (b == BEHIND_RESULT && o->thinks) {
        open_thought(&s);
    }
}
