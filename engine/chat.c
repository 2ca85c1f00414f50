/* chat.c - the one template of Gemma 1 to 3, written out:
 *
 *   <bos>  { <start_of_turn> "user\n" [system "\n\n"] text <end_of_turn> "\n"  |  <start_of_turn> "model\n" text <end_of_turn> "\n" }...
 *   <start_of_turn> "model\n"
 *
 * Control tokens are put as ids; everything between two of them is one text for the content entry. So they cannot arise from a message,
 * and a text that begins with a newline joins the newline of the header, as it does when the template is rendered first.
 * Source   chat_template in tokenizer_config.json as published with Gemma 1.1, 2 and 3 */
#include "chat.h"
#include "base/utf8.h"
#include <string.h>

static const char *const header[] = { [MYTH_ROLE_USER] = "user\n", [MYTH_ROLE_ASSISTANT] = "model\n" };
enum { HEADER_MAX = 6, FOLD = 2, TURN_FIXED = HEADER_MAX + FOLD + 3 };   /* and <start_of_turn>, <end_of_turn>, "\n" */

/* White space of Python's str.strip, which the published template's trim is. */
static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static myth_str trim(myth_str s)
{
    uint32_t cp = 0;
    int k;
    while ((k = myth_utf8_decode((const unsigned char *)s.text, s.len, &cp)) != 0 && is_space(cp))
        s = (myth_str){ s.text + k, s.len - (size_t)k };
    while (s.len) {
        size_t n = 1;                                  /* back over continuation bytes to the start of the last character */
        while (n < 4 && n < s.len && ((unsigned char)s.text[s.len - n] & 0xc0) == 0x80)
            n++;
        k = myth_utf8_decode((const unsigned char *)s.text + s.len - n, n, &cp);
        if (k != (int)n || !is_space(cp))
            break;
        s.len -= n;
    }
    return s;
}

size_t myth_chat_bound(const myth_message *msg, size_t n_msg)
{
    size_t n = 1 + 1 + HEADER_MAX;
    for (size_t i = 0; i < n_msg; i++)
        n += msg[i].text.len + TURN_FIXED;
    return n;
}

typedef struct {
    const myth_tokenizer *t;
    myth_mem *mem;
    int32_t *ids;
    size_t n, cap;
    char *text;                                        /* of one turn, joined */
    myth_error *err;
} writer;

static myth_status put_id(writer *w, int32_t id)
{
    if (w->n == w->cap)
        return myth_fail(w->err, MYTH_EFULL, "chat: room for %zu ids", w->cap);
    w->ids[w->n++] = id;
    return MYTH_OK;
}

static myth_status put_text(writer *w, size_t len)
{
    size_t n = 0;
    myth_status st = myth_tokenizer_encode(w->t, w->mem, MYTH_TOK_CONTENT, w->text, len, w->ids + w->n, w->cap - w->n, &n, w->err);
    if (st == MYTH_OK)
        w->n += n;
    return st;
}

static size_t append(char *dst, size_t at, const char *s, size_t n)
{
    if (n)
        memcpy(dst + at, s, n);
    return at + n;
}

static myth_status put_turn(writer *w, myth_role role, const myth_message *system, myth_str text)
{
    const myth_special_ids *id = myth_tokenizer_special(w->t);
    myth_status st = MYTH_OK;
    size_t n = append(w->text, 0, header[role], strlen(header[role]));
    if (system) {
        n = append(w->text, n, system->text.text, system->text.len);
        n = append(w->text, n, "\n\n", FOLD);
    }
    n = append(w->text, n, text.text, text.len);
    MYTH_TRY(put_id(w, id->start_of_turn));
    MYTH_TRY(put_text(w, n));
    MYTH_TRY(put_id(w, id->end_of_turn));
    MYTH_TRY(put_text(w, append(w->text, 0, "\n", 1)));
fail:
    return st;
}

static myth_status check_roles(const myth_message *msg, size_t n_msg, size_t first, myth_error *err)
{
    if (n_msg == first)
        return myth_fail(err, MYTH_EARG, "chat: expected a message of the user");
    for (size_t i = first; i < n_msg; i++) {
        myth_role want = (i - first) % 2 ? MYTH_ROLE_ASSISTANT : MYTH_ROLE_USER;
        if (msg[i].role != want)
            return myth_fail(err, MYTH_EARG,
                             "chat: message %zu: roles must alternate user, assistant after an optional first system message", i);
    }
    return MYTH_OK;
}

myth_status myth_chat_encode(const myth_tokenizer *t, myth_mem *mem, myth_family_id family, const myth_message *msg, size_t n_msg,
                             int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    const myth_special_ids *id = myth_tokenizer_special(t);
    writer w = { .t = t, .mem = mem, .ids = ids, .cap = cap, .err = err };
    size_t first = n_msg && msg[0].role == MYTH_ROLE_SYSTEM ? 1 : 0, bytes = myth_chat_bound(msg, n_msg);
    myth_status st = MYTH_OK;
    (void)family;                                      /* Gemma 1, 2 and 3 share the template */
    *n_ids = 0;
    MYTH_TRY(check_roles(msg, n_msg, first, err));
    if (id->bos < 0 || id->start_of_turn < 0 || id->end_of_turn < 0)
        return myth_fail(err, MYTH_EUNSUPPORTED, "chat: the vocabulary has no turn markers");
    w.text = myth_alloc(mem, MYTH_MEM_STAGING, "chat", bytes);
    if (!w.text)
        return myth_fail(err, MYTH_ENOMEM, "chat: %zu bytes", bytes);
    MYTH_TRY(put_id(&w, id->bos));
    for (size_t i = first; i < n_msg; i++)
        MYTH_TRY(put_turn(&w, msg[i].role, i == 1 && first ? &msg[0] : NULL, trim(msg[i].text)));
    MYTH_TRY(put_id(&w, id->start_of_turn));
    MYTH_TRY(put_text(&w, append(w.text, 0, header[MYTH_ROLE_ASSISTANT], HEADER_MAX)));
    *n_ids = w.n;
fail:
    myth_free(mem, w.text);
    return st;
}

int myth_chat_stop_ids(const myth_tokenizer *t, myth_family_id family, int32_t ids[8])
{
    const myth_special_ids *s = myth_tokenizer_special(t);
    const int32_t stop[] = { s->eos, s->end_of_turn, s->fim_prefix, s->fim_middle, s->fim_suffix, s->file_separator };
    int n = 0;
    (void)family;                                      /* the vocabulary tells: CodeGemma alone has the fill-in markers */
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++)
        if (stop[i] >= 0)
            ids[n++] = stop[i];
    return n;
}
