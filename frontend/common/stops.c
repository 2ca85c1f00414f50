/* stops.c - the text byte by byte, its last ones compared with each of the texts. */
#define _GNU_SOURCE /* memmem */
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

myth_status myth_stop_texts_read(myth_stop_texts *out, const myth_opt_list *list, const myth_tokenizer *t,
                                 myth_error *err)
{
    *out = (myth_stop_texts){.n = 0};
    if (list->n && !t)
        return myth_fail(err, MYTH_EUNSUPPORTED, "--stop: the model has no tokenizer, and its answers no text");
    for (int i = 0; i < list->n; i++)
        if (!myth_stop_texts_add(out, list->item[i], strlen(list->item[i])))
            return myth_fail(err, MYTH_EARG, "--stop: expected up to %d texts of 1 to %d bytes", MYTH_STOPS,
                             MYTH_STOP_BYTES);
    return MYTH_OK;
}

size_t myth_stop_texts_before(const myth_stop_texts *s, const char *text, size_t n)
{
    for (uint32_t k = 0; k < s->n; k++) {
        const char *at = memmem(text, n, s->text[k], s->len[k]);
        n = at ? (size_t)(at - text) : n;
    }
    return n;
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

/* The last bytes that a text begins with and does not end with. */
static size_t n_begun(const myth_stops *s)
{
    size_t most = 0;
    for (uint32_t k = 0; k < s->of->n; k++)
        for (size_t n = s->of->len[k] - 1u; n > most; n--)
            if (n <= s->n_last && memcmp(s->last + s->n_last - n, s->of->text[k], n) == 0)
                most = n;
    return most;
}

bool myth_stops_push_shown(myth_stops *s, int32_t id, myth_stops_shown *out)
{
    const uint64_t shown = s->n_text - s->n_held;
    const bool was_found = s->is_found;
    *out = (myth_stops_shown){.n_held = was_found ? 0 : s->n_held};
    memcpy(out->held, s->last + s->n_last - out->n_held, out->n_held);
    myth_stops_push(s, id);
    s->n_held = s->is_found ? 0 : n_begun(s);
    const size_t n = was_found ? 0 : (size_t)(s->n_text - s->n_held - shown);
    out->n_held = n < out->n_held ? n : out->n_held;
    out->n_piece = n - out->n_held;
    return s->is_found;
}

void myth_stops_end_shown(myth_stops *s, myth_stops_shown *out)
{
    *out = (myth_stops_shown){.n_held = s->n_held};
    memcpy(out->held, s->last + s->n_last - s->n_held, s->n_held);
    out->n_piece = s->is_found ? 0 : myth_detok_finish(&s->detok, s->piece);
    s->n_held = 0;
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
