/* chat.c - which template a model has, and the one of Gemma 1 to 3n, written out:
 *
 *   <bos>  { <start_of_turn> "user\n" [system "\n\n"] text <end_of_turn> "\n"  |  <start_of_turn> "model\n" text
 *          <end_of_turn> "\n" }...
 *   <start_of_turn> "model\n"
 *
 * Control tokens are put as ids; everything between two of them is one text for the content entry. So they cannot arise
 * from a message, and a text that begins with a newline joins the newline of the header, as it does when the template
 * is rendered first.
 * Source   chat_template in tokenizer_config.json as published with Gemma 1.1, 2 and 3 */
#include "chat_impl.h"
#include "engine/base/utf8.h"
#include <string.h>

myth_chat_form myth_chat_form_of(const myth_config *c, const myth_tokenizer *t)
{
    if (!c->has_system_turn)
        return t && myth_tokenizer_special(t)->tool >= 0 ? MYTH_CHAT_CALLS : MYTH_CHAT_FOLDED;
    return c->n_ple ? MYTH_CHAT_TURNS : MYTH_CHAT_SHUT;
}

/* White space of Python's str.strip, which the published template's trim is. */
static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

myth_str myth_chat_trim(myth_str s)
{
    uint32_t cp = 0;
    int k;
    while ((k = myth_utf8_decode((const unsigned char *)s.text, s.len, &cp)) != 0 && is_space(cp))
        s = (myth_str){s.text + k, s.len - (size_t)k};
    while (s.len) {
        size_t n = 1; /* back over continuation bytes to the start of the last character */
        while (n < 4 && n < s.len && ((unsigned char)s.text[s.len - n] & 0xc0) == 0x80)
            n++;
        k = myth_utf8_decode((const unsigned char *)s.text + s.len - n, n, &cp);
        if (k != (int)n || !is_space(cp))
            break;
        s.len -= n;
    }
    return s;
}

/* ---- bounds ---- */

/* The longest scaffold of a message, in bytes and ids together, is that of a tool's result: ids and words come to 40; a
 * new turn of Gemma 4 behind it, with the switch, an empty thought and the header, to 60. JSON grows most in a number:
 * 1e15 is written out with 18 characters, and in an empty schema: "a":{} becomes a:{type:""} with two ids for the
 * quotes. */
enum { MESSAGE_MOST = 128, JSON_GROWTH = 6 };

/* Bytes of the longest string in a JSON text, as it is written: at least those of the longest name. */
static size_t longest_string(myth_str json)
{
    size_t most = 0, from = 0;
    bool is_in = false;
    for (size_t i = 0; i < json.len; i++) {
        if (is_in && json.text[i] == '\\') {
            i++;
        } else if (json.text[i] == '"') {
            most = is_in && i - from > most ? i - from : most;
            is_in = !is_in;
            from = i + 1;
        }
    }
    return is_in ? json.len : most;
}

size_t myth_chat_bound_with(const myth_message *msg, size_t n_msg, const myth_chat_opts *o)
{
    size_t n = MESSAGE_MOST + JSON_GROWTH * o->tools.len;
    for (size_t i = 0; i < n_msg; i++) {
        n += (msg[i].role == MYTH_ROLE_TOOL ? JSON_GROWTH : 1) * msg[i].text.len + MESSAGE_MOST;
        if (o->more)
            n += o->more[i].thought.len + o->more[i].name.len + JSON_GROWTH * o->more[i].calls.len;
    }
    for (size_t i = 0, name = 0; o->more && i < n_msg; i++) {
        name = o->more[i].calls.len ? longest_string(o->more[i].calls) : name;
        n += msg[i].role == MYTH_ROLE_TOOL ? name : 0; /* the name in a call is written before its result too */
    }
    return n;
}

size_t myth_chat_bound(const myth_message *msg, size_t n_msg)
{
    return myth_chat_bound_with(msg, n_msg, &(myth_chat_opts){.more = NULL});
}

/* ---- Gemma 1 to 3n ---- */

static void put_turn(myth_chat_writer *w, myth_role role, const myth_message *system, myth_str text)
{
    const myth_special_ids *id = myth_tokenizer_special(w->t);
    myth_chat_put_id(w, id->start_of_turn, "<start_of_turn>");
    myth_chat_put_str(w, role == MYTH_ROLE_USER ? "user\n" : "model\n");
    if (system) {
        myth_chat_put(w, system->text.text, system->text.len);
        myth_chat_put_str(w, "\n\n");
    }
    myth_chat_put(w, text.text, text.len);
    myth_chat_put_id(w, id->end_of_turn, "<end_of_turn>");
    myth_chat_put_str(w, "\n");
}

static void refuse_more(myth_chat_writer *w, const myth_message *msg, size_t n_msg, const myth_chat_opts *o)
{
    static const myth_str none = {"", 0};
    if (o->thinks || o->keeps_thoughts)
        myth_chat_refuse(w, "this family does not think first", none);
    if (o->tools.len)
        myth_chat_refuse(w, "this family's template declares no tools", none);
    for (size_t i = 0; i < n_msg; i++) {
        if (msg[i].role == MYTH_ROLE_TOOL || msg[i].role == MYTH_ROLE_DEVELOPER)
            myth_chat_refuse(w, "this family's template has the roles system, user and assistant", none);
        if (o->more && (o->more[i].thought.len || o->more[i].calls.len))
            myth_chat_refuse(w, "this family's template has no thoughts and no calls", none);
    }
}

static void check_roles(myth_chat_writer *w, const myth_message *msg, size_t n_msg, size_t first)
{
    if (w->st == MYTH_OK && n_msg == first)
        w->st = myth_fail(w->err, MYTH_EARG, "chat: expected a message of the user");
    for (size_t i = first; i < n_msg && w->st == MYTH_OK; i++) {
        myth_role want = (i - first) % 2 ? MYTH_ROLE_ASSISTANT : MYTH_ROLE_USER;
        if (msg[i].role != want)
            w->st = myth_fail(
                w->err, MYTH_EARG,
                "chat: message %zu: roles must alternate user, assistant after an optional first system message", i);
    }
}

static void folded(myth_chat_writer *w, const myth_message *msg, size_t n_msg, const myth_chat_opts *o)
{
    const myth_special_ids *id = myth_tokenizer_special(w->t);
    const size_t first = n_msg && msg[0].role == MYTH_ROLE_SYSTEM ? 1 : 0;
    refuse_more(w, msg, n_msg, o);
    check_roles(w, msg, n_msg, first);
    if (w->st == MYTH_OK && (id->bos < 0 || id->start_of_turn < 0 || id->end_of_turn < 0))
        w->st = myth_fail(w->err, MYTH_EUNSUPPORTED, "chat: the vocabulary has no turn markers");
    myth_chat_put_id(w, id->bos, "<bos>");
    for (size_t i = first; i < n_msg; i++)
        put_turn(w, msg[i].role, i == 1 && first ? &msg[0] : NULL, myth_chat_trim(msg[i].text));
    myth_chat_put_id(w, id->start_of_turn, "<start_of_turn>");
    myth_chat_put_str(w, "model\n");
}

myth_status myth_chat_encode_with(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_message *msg,
                                  size_t n_msg, const myth_chat_opts *o, int32_t *ids, size_t cap, size_t *n_ids,
                                  myth_error *err)
{
    myth_chat_writer w = {
        .t = t,
        .mem = mem,
        .ids = ids,
        .cap = cap,
        .cap_text = myth_chat_bound_with(msg, n_msg, o),
        .err = err,
    };
    *n_ids = 0;
    w.text = myth_alloc(mem, MYTH_MEM_STAGING, "chat", w.cap_text);
    if (!w.text)
        return myth_fail(err, MYTH_ENOMEM, "chat: %zu bytes", w.cap_text);
    if (form == MYTH_CHAT_FOLDED)
        folded(&w, msg, n_msg, o);
    else
        myth_chat_turns(&w, form, msg, n_msg, o);
    myth_chat_flush(&w);
    if (w.st == MYTH_OK)
        *n_ids = w.n;
    myth_free(mem, w.text);
    return w.st;
}

myth_status myth_chat_encode(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_message *msg,
                             size_t n_msg, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    return myth_chat_encode_with(t, mem, form, msg, n_msg, &(myth_chat_opts){.more = NULL}, ids, cap, n_ids, err);
}

int myth_chat_stop_ids(const myth_tokenizer *t, int32_t ids[MYTH_CHAT_STOP_MAX])
{
    enum { N_NAMED = 7 };
    const myth_special_ids *s = myth_tokenizer_special(t);
    int32_t stop[N_NAMED + MYTH_TOK_END_MAX] = {s->eos,        s->end_of_turn, s->tool_response, s->fim_prefix,
                                                s->fim_middle, s->fim_suffix,  s->file_separator};
    const uint32_t n_stop = N_NAMED + myth_tokenizer_ends(t, stop + N_NAMED);
    int n = 0;
    for (uint32_t i = 0; i < n_stop; i++) {
        bool is_there = stop[i] < 0;
        for (int k = 0; k < n; k++)
            is_there = is_there || ids[k] == stop[i];
        if (!is_there)
            ids[n++] = stop[i];
    }
    return n;
}
