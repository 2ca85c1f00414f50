/* weights.h - see weights.c */
#ifndef LABELS_WEIGHTS_H
#define LABELS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *carrier;
    unsigned max_grams, pence;
} carrier_row;

typedef struct {
    unsigned grams, quantity;
    bool is_pot;
} parcel_item;

const carrier_row *cheapest_carrier(unsigned grams);
unsigned packed_grams(const parcel_item *item, size_t n);
size_t split_parcels(parcel_item *item, size_t n, unsigned max_grams, size_t *parcel);

#endif
