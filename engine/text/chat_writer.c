/* chat_writer.c - puts text and control ids in turn, for every template: see chat_impl.h. */
#include "chat_impl.h"

#include <string.h>

void myth_chat_flush(myth_chat_writer *w)
{
    size_t n = 0;
    if (w->st == MYTH_OK && w->n_text) {
        w->st = myth_tokenizer_encode(w->t, w->mem, MYTH_TOK_CONTENT, w->text, w->n_text, w->ids + w->n, w->cap - w->n,
                                      &n, w->err);
        if (w->st == MYTH_OK)
            w->n += n;
    }
    w->n_text = 0;
}

void myth_chat_put_id(myth_chat_writer *w, int32_t id, const char *piece)
{
    myth_chat_flush(w);
    if (w->st != MYTH_OK)
        return;
    if (id < 0)
        w->st = myth_fail(w->err, MYTH_EUNSUPPORTED, "chat: the vocabulary has no %s", piece);
    else if (w->n == w->cap)
        w->st = myth_fail(w->err, MYTH_EFULL, "chat: room for %zu ids", w->cap);
    else
        w->ids[w->n++] = id;
}

void myth_chat_put(myth_chat_writer *w, const char *s, size_t n)
{
    if (w->st != MYTH_OK)
        return;
    if (n > w->cap_text - w->n_text) {
        w->st = myth_fail(w->err, MYTH_EFULL, "chat: more than %zu bytes between two control tokens", w->cap_text);
        return;
    }
    if (n)
        memcpy(w->text + w->n_text, s, n);
    w->n_text += n;
}

void myth_chat_put_str(myth_chat_writer *w, const char *s) { myth_chat_put(w, s, strlen(s)); }

void myth_chat_refuse(myth_chat_writer *w, const char *what, myth_str which)
{
    if (w->st == MYTH_OK)
        w->st = myth_fail(w->err, MYTH_EARG, "chat: %s%s%.*s", what, which.len ? ": " : "",
                          (int)(which.len < 80 ? which.len : 80), which.text);
}
