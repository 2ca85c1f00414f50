/* weight_form.c - splits rows of blocks (scale, quants) into the two planes. */
#include "weight_form.h"

#include <string.h>

void myth_planar_write(void *quants, void *scales, const void *src, myth_dtype t, uint64_t n_rows, uint64_t n_in)
{
    unsigned char *q = quants, *s = scales;
    const unsigned char *block = src;
    uint64_t n_byte = myth_dtype_block_bytes(t) - 2, n_block = n_rows * (n_in / 32);
    if (t != MYTH_Q8_0 && t != MYTH_Q4_0) {
        memcpy(quants, src, (size_t)(n_rows * myth_row_bytes(t, n_in)));
        return;
    }
    for (uint64_t i = 0; i < n_block; i++, block += n_byte + 2) {
        memcpy(s + i * 2, block, 2);
        if (n_byte == 32) /* sizes that are constants become single moves */
            memcpy(q + i * 32, block + 2, 32);
        else
            memcpy(q + i * 16, block + 2, 16);
    }
}
