/* channel.c - follows the marks of a thought. */
#include "channel.h"

void myth_channel_start(myth_channel *c, const myth_tokenizer *t, const int32_t *prompt, size_t n_prompt)
{
    const myth_special_ids *s = myth_tokenizer_special(t);
    size_t n = 0;
    *c = (myth_channel){.open = s->channel_open, .close = s->channel_close};
    if (c->open < 0 || c->close < 0) {
        c->open = c->close = -1;
        return;
    }
    /* Eight bytes need no scratch, so nothing can fail. */
    if (myth_tokenizer_encode(t, NULL, MYTH_TOK_CONTENT, "thought\n", 8, c->header, MYTH_CHANNEL_HEADER_MAX, &n,
                              NULL) == MYTH_OK)
        c->n_header = (int)n;
    for (size_t i = 0; i < n_prompt; i++)
        myth_channel_push(c, prompt[i]);
    c->n_thought = 0;
}

myth_said myth_channel_push(myth_channel *c, int32_t id)
{
    if (id == c->close && id >= 0) {
        c->is_open = false;
        return MYTH_SAID_MARK;
    }
    if (id == c->open && id >= 0) {
        c->is_open = true;
        c->n_seen = 0;
        return MYTH_SAID_MARK;
    }
    if (!c->is_open)
        return MYTH_SAID_ANSWER;
    if (c->n_seen < c->n_header && id == c->header[c->n_seen]) {
        c->n_seen++;
        return MYTH_SAID_MARK;
    }
    c->n_seen = c->n_header;
    c->n_thought++;
    return MYTH_SAID_THOUGHT;
}
