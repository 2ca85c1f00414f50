/* reply.c - reads an answer in sentences. */
#include "read.h"
#include "sentences.h"

#include <string.h>

static myth_status read_sentence(myth_reply *out, myth_reader *r, const myth_block *block, uint32_t n_block)
{
    myth_status st;
    myth_sentence *s = &out->sentence[out->n_sentence];
    MYTH_TRY(myth_read_text(r, "text", &s->text));
    MYTH_TRY(myth_read_key(r, "citations"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_ARRAY, "a list"));
    s->quote = out->n_quote;
    for (;;) {
        MYTH_TRY(myth_json_next(&r->j, &r->t, r->err));
        if (r->t.type == MYTH_JSON_ARRAY_END)
            break;
        if (r->t.type != MYTH_JSON_OBJECT || s->n_quote == MYTH_QUOTE_MAX)
            return myth_fail(r->err, MYTH_EFORMAT, "answer: expected at most %d citations", (int)MYTH_QUOTE_MAX);
        myth_quote *q = &out->quote[out->n_quote];
        MYTH_TRY(myth_read_place(r, block, n_block, &q->block, &q->first, &q->last));
        MYTH_TRY(myth_read_text(r, "quote", &q->quote));
        MYTH_TRY(myth_read_next(r, MYTH_JSON_OBJECT_END, "the end of a citation"));
        s->n_quote++;
        out->n_quote++;
    }
    MYTH_TRY(myth_read_next(r, MYTH_JSON_OBJECT_END, "the end of a sentence"));
    if (!s->text.len || !s->n_quote)
        st = myth_fail(r->err, MYTH_EFORMAT, "answer: expected a text and a citation in every sentence");
    out->n_sentence++;
fail:
    return st;
}

static myth_status read_sentences(myth_reply *out, myth_reader *r, const myth_block *block, uint32_t n_block)
{
    myth_status st;
    MYTH_TRY(myth_read_key(r, "sentences"));
    MYTH_TRY(myth_read_next(r, MYTH_JSON_ARRAY, "a list"));
    for (;;) {
        MYTH_TRY(myth_json_next(&r->j, &r->t, r->err));
        if (r->t.type == MYTH_JSON_ARRAY_END)
            break;
        if (r->t.type != MYTH_JSON_OBJECT || out->n_sentence == MYTH_SENTENCE_MAX)
            return myth_fail(r->err, MYTH_EFORMAT, "answer: expected at most %d sentences", (int)MYTH_SENTENCE_MAX);
        MYTH_TRY(read_sentence(out, r, block, n_block));
    }
    if (!out->n_sentence)
        st = myth_fail(r->err, MYTH_EFORMAT, "answer: expected a sentence");
fail:
    return st;
}

myth_status myth_sentences_read(myth_reply *out, char *room, const myth_block *block, uint32_t n_block,
                                const char *text, size_t len, myth_error *err)
{
    myth_status st;
    myth_reader r = {.room = room, .err = err};
    memset(out, 0, sizeof(*out));
    myth_json_start(&r.j, text, len, "answer");
    MYTH_TRY(myth_read_next(&r, MYTH_JSON_OBJECT, "an object"));
    MYTH_TRY(myth_read_key(&r, "answered"));
    MYTH_TRY(myth_json_next(&r.j, &r.t, err));
    out->is_answered = r.t.type == MYTH_JSON_TRUE;
    if (out->is_answered)
        MYTH_TRY(read_sentences(out, &r, block, n_block));
    else if (r.t.type == MYTH_JSON_FALSE)
        MYTH_TRY(myth_read_text(&r, "missing", &out->missing));
    else
        return myth_fail(err, MYTH_EFORMAT, "answer: offset %llu: expected true or false", (unsigned long long)r.t.off);
    MYTH_TRY(myth_read_context(&r, out->context, &out->n_context));
fail:
    return st;
}
