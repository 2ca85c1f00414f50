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
    size_t n_held;   /* the last of them that may begin one */
    bool is_found;
} myth_stops;

#define MYTH_STOP_HELP \
    "end an answer before this text, which is no part of it; up to 8, of 64 bytes each, by repeating the flag"

/* false: it is empty or too long, or there are too many. */
bool myth_stop_texts_add(myth_stop_texts *s, const char *text, size_t len);
/* Those of --stop. MYTH_EARG: one is empty or too long, or there are too many. MYTH_EUNSUPPORTED: no tokenizer. */
myth_status myth_stop_texts_read(myth_stop_texts *out, const myth_opt_list *list, const myth_tokenizer *t,
                                 myth_error *err);
/* The bytes of text [n] before the first of the texts in it. */
size_t myth_stop_texts_before(const myth_stop_texts *s, const char *text, size_t n);
/* c: the state behind the prompt; piece has room for a token's text (tokenizer.h, myth_detok_push). */
void myth_stops_start(myth_stops *s, const myth_stop_texts *of, const myth_tokenizer *t, myth_channel c, char *piece);
/* The answer's next id. Whether a text was found, now or before. */
bool myth_stops_push(myth_stops *s, int32_t id);

/* What of an answer's text can be shown, while a text that ends it may have begun. */
typedef struct {
    char held[MYTH_STOP_BYTES]; /* first these bytes, which were kept back before */
    size_t n_held, n_piece;     /* then the first n_piece of the piece */
} myth_stops_shown;

/* As push; *out: what became certain with this id. */
bool myth_stops_push_shown(myth_stops *s, int32_t id, myth_stops_shown *out);
/* The answer has ended: what was kept back, with the rest of a character in the piece. Nothing when one was found. */
void myth_stops_end_shown(myth_stops *s, myth_stops_shown *out);

#ifdef __cplusplus
}
#endif
#endif
