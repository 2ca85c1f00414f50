/* fuzz_tokenizer.h - what the tokenizer's fuzz targets do with a file that was accepted: encode, check ids, decode. */
#ifndef MYTH_FUZZ_TOKENIZER_H
#define MYTH_FUZZ_TOKENIZER_H

#include "engine/text/tokenizer_impl.h"

#include <stdlib.h>
#include <string.h>

enum { FUZZ_TEXT_MAX = 512, FUZZ_PEAK_MAX = 64 << 20 };

static inline void fuzz_text(const myth_tokenizer *t, myth_mem *mem, const char *text, size_t len)
{
    static const myth_tok_entry entries[] = {MYTH_TOK_CONTENT, MYTH_TOK_SPECIAL};
    int32_t ids[FUZZ_TEXT_MAX];
    char dst[3 * (MYTH_TOK_PIECE_MAX + 4)], back[FUZZ_TEXT_MAX + 1];
    bool marked = false;
    for (size_t i = 0; i + 2 < len; i++)
        marked = marked || memcmp(text + i, "\xe2\x96\x81", 3) == 0;
    for (int e = 0; e < 2; e++) {
        size_t n = 0, at = 0;
        myth_detok d;
        if (myth_tokenizer_encode(t, mem, entries[e], text, len, ids, FUZZ_TEXT_MAX, &n, NULL) != MYTH_OK ||
            n > myth_tokenizer_bound(len))
            abort();
        myth_detok_start(&d, t, false);
        for (size_t i = 0; i < n; i++) {
            if (ids[i] < 0 || (uint32_t)ids[i] >= myth_tokenizer_n_vocab(t))
                abort();
            if (e == 0 && myth_tokenizer_is_control(t, ids[i]))
                abort(); /* content makes no control token, whatever the vocabulary */
            if (myth_detok_push(&d, ids[i], dst) > 3 * (myth_tokenizer_max_piece(t) + 4))
                abort();
            at += myth_tokenizer_bytes_of(t, ids[i], back + (at < len ? at : len), at < len ? len - at : 0);
        }
        myth_detok_finish(&d, dst);
        if (e == 0 && !marked && (at != len || memcmp(back, text, len) != 0))
            abort(); /* content comes back */
    }
}

/* Opens data by `open`; an accepted tokenizer then meets the end of the file and fixed words as text. */
static inline void fuzz_open(myth_status (*open)(myth_tokenizer **, myth_mem *, const void *, uint64_t, const char *,
                                                 myth_error *),
                             const uint8_t *data, size_t size)
{
    static const char words[] =
        "<bos>int main(void)\n{\n\t  return \"x\";   \n}\n\xff\xe2\x96<unused1>\xe2\x96\x81\xe2\x96\x81 "
        "<start_of_turn>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    myth_mem *mem;
    myth_tokenizer *t = NULL;
    myth_error err = {0};
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return;
    myth_status st = open(&t, mem, data, size, "fuzz", &err);
    if (st == MYTH_OK) {
        size_t n = size < FUZZ_TEXT_MAX ? size : FUZZ_TEXT_MAX;
        fuzz_text(t, mem, words, sizeof words - 1);
        fuzz_text(t, mem, (const char *)data + (size - n), n);
        myth_tokenizer_close(t);
    } else if (!err.msg[0] || (st != MYTH_EFORMAT && st != MYTH_EUNSUPPORTED)) {
        abort();
    }
    if (myth_mem_total(mem, MYTH_MEM_HOST).peak >= FUZZ_PEAK_MAX || myth_mem_close(mem) != 0)
        abort();
}

#endif
