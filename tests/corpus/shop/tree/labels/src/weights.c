/* weights.c - what a parcel costs by weight: carriers' tables, the cheapest that takes it. */
#include "weights.h"

#include <stdlib.h>
#include <string.h>

static const carrier_row table[] = {
    { "royal", 100, 165 },    { "royal", 750, 345 },   { "royal", 2000, 449 },   { "parcel", 2000, 399 }, { "parcel", 5000, 549 },
    { "parcel", 15000, 749 }, { "pallet", 80000, 3990 }, { "pallet", 600000, 8900 },
};
enum { N_ROW = sizeof(table) / sizeof(table[0]) };

/* NULL when nobody takes it. */
const carrier_row *cheapest_carrier(unsigned grams)
{
    const carrier_row *best = NULL;
    for (size_t i = 0; i < N_ROW; i++)
        if (grams <= table[i].max_grams && (!best || table[i].pence < best->pence))
            best = &table[i];
    return best;
}

/* Weight of an order with its packaging: pots need half as much again, and nothing is lighter than a box. */
unsigned packed_grams(const parcel_item *item, size_t n)
{
    unsigned sum = 180;
    for (size_t i = 0; i < n; i++) {
        unsigned each = item[i].is_pot ? item[i].grams + item[i].grams / 2 : item[i].grams;
        sum += each * item[i].quantity;
    }
    return sum;
}

static int by_weight(const void *a, const void *b)
{
    const parcel_item *x = a, *y = b;
    return x->grams < y->grams ? 1 : x->grams > y->grams ? -1 : 0;
}

/* Splits items over parcels of at most max_grams, the heaviest first. parcel[i] is the number of item i's parcel; returns how many there
 * are, 0 when one item alone is too heavy. */
size_t split_parcels(parcel_item *item, size_t n, unsigned max_grams, size_t *parcel)
{
    unsigned *load = calloc(n ? n : 1, sizeof(*load));
    size_t n_parcel = 0;
    if (!load)
        return 0;
    qsort(item, n, sizeof(*item), by_weight);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < n_parcel && load[at] + item[i].grams > max_grams)
            at++;
        if (item[i].grams > max_grams) {
            free(load);
            return 0;
        }
        n_parcel += at == n_parcel;
        load[at] += item[i].grams;
        parcel[i] = at;
    }
    free(load);
    return n_parcel;
}
