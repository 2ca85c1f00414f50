/* said.c - detokenizes the ids of one part. */
#include "said.h"

void myth_said_print(myth_json_out *j, const char *key, const myth_tokenizer *t, myth_channel c, const int32_t *ids,
                     uint32_t n, char *piece, myth_said part)
{
    myth_detok d;
    myth_detok_start(&d, t, false);
    myth_jout_key(j, key);
    myth_jout_text_begin(j);
    for (uint32_t i = 0; i < n; i++) {
        const bool is_part = myth_channel_push(&c, ids[i]) == part;
        myth_jout_text_part(j, piece, is_part ? myth_detok_push(&d, ids[i], piece) : myth_detok_finish(&d, piece));
    }
    myth_jout_text_part(j, piece, myth_detok_finish(&d, piece));
    myth_jout_text_end(j);
}
