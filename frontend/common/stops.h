/* stops.h - texts that end an answer, looked for as it grows: whatever tokens they are made of, also in the middle of
 * one. Thoughts are passed over.
 *
 * Limits   MYTH_STOPS texts of MYTH_STOP_BYTES
 * Memory   none; the tokenizer, the texts and the piece are lent
 * Threads  one for an answer */
#ifndef MYTH_STOPS_H
#define MYTH_STOPS_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_STOPS = 8, MYTH_STOP_BYTES = 64 };

typedef struct {
    uint32_t n;
    uint8_t len[MYTH_STOPS]; /* of each, 1 .. MYTH_STOP_BYTES */
    char text[MYTH_STOPS][MYTH_STOP_BYTES];
} myth_stop_texts;

typedef struct {
    const myth_stop_texts *of;
    myth_channel channel;
    myth_detok detok;
    char *piece;
    char last[MYTH_STOP_BYTES]; /* the text's last bytes, [n_last] */
    size_t n_last;
    uint64_t n_text; /* bytes of the answer's text so far; when one is found, those before it */
    bool is_found;
} myth_stops;

/* false: it is empty or too long, or there are too many. */
bool myth_stop_texts_add(myth_stop_texts *s, const char *text, size_t len);
/* c: the state behind the prompt; piece has room for a token's text (tokenizer.h, myth_detok_push). */
void myth_stops_start(myth_stops *s, const myth_stop_texts *of, const myth_tokenizer *t, myth_channel c, char *piece);
/* The answer's next id. Whether a text was found, now or before. */
bool myth_stops_push(myth_stops *s, int32_t id);

#ifdef __cplusplus
}
#endif
#endif
