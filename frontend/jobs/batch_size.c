/* batch_size.c - see batch_size.h. */
#include "batch_size.h"

enum { REGROWN_IN = 8 };

bool myth_batch_size_again(myth_batch_size *b, myth_status st, uint32_t n)
{
    n = n < b->now ? n : b->now;
    if (st != MYTH_ENOMEM || b->is_again)
        return false;
    b->is_again = true;
    b->n_again++;
    b->now = n > 1 ? n / 2 : 1;
    return true;
}

void myth_batch_size_done(myth_batch_size *b)
{
    const uint32_t more = (b->whole + REGROWN_IN - 1) / REGROWN_IN;
    b->now = b->whole - b->now > more ? b->now + more : b->whole;
    b->is_again = false;
}
