/* stops.c - the text byte by byte, its last ones compared with each of the texts. */
#include "stops.h"

#include <string.h>

bool myth_stop_texts_add(myth_stop_texts *s, const char *text, size_t len)
{
    if (s->n == MYTH_STOPS || len == 0 || len > MYTH_STOP_BYTES)
        return false;
    memcpy(s->text[s->n], text, len);
    s->len[s->n++] = (uint8_t)len;
    return true;
}

void myth_stops_start(myth_stops *s, const myth_stop_texts *of, const myth_tokenizer *t, myth_channel c, char *piece)
{
    *s = (myth_stops){.of = of, .channel = c, .piece = piece};
    myth_detok_start(&s->detok, t, false);
}

/* The bytes of the longest text that ends here; 0 = none does. */
static size_t ends_with(const myth_stops *s)
{
    size_t longest = 0;
    for (uint32_t k = 0; k < s->of->n; k++) {
        const size_t len = s->of->len[k];
        if (len > longest && len <= s->n_last && memcmp(s->last + s->n_last - len, s->of->text[k], len) == 0)
            longest = len;
    }
    return longest;
}

bool myth_stops_push(myth_stops *s, int32_t id)
{
    const bool is_answer = myth_channel_push(&s->channel, id) == MYTH_SAID_ANSWER;
    const size_t n = is_answer ? myth_detok_push(&s->detok, id, s->piece) : myth_detok_finish(&s->detok, s->piece);
    for (size_t i = 0; i < n && !s->is_found; i++) {
        if (s->n_last == sizeof(s->last))
            memmove(s->last, s->last + 1, --s->n_last);
        s->last[s->n_last++] = s->piece[i];
        s->n_text++;
        const size_t len = ends_with(s);
        s->is_found = len > 0;
        s->n_text -= len;
    }
    return s->is_found;
}
