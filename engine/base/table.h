/* table.h - finds elements of an array by their key: open addressing over indices.
 *
 * Layout   slot [n_slot] holds 1 + the index of an element, 0 = free; n_slot is a power of two and at least twice the
 *          number of elements, so a search ends
 * Insert   *myth_table_find(...) = index + 1, after the element is in the array. Nothing is taken out
 * Owner    slots are the caller's, zeroed; a larger table is made anew and filled again */
#ifndef MYTH_TABLE_H
#define MYTH_TABLE_H

#include "hash.h"

#include <stdbool.h>

/* Slots for up to n elements, n at most 2^30. */
static inline uint32_t myth_table_slots(uint64_t n)
{
    uint32_t slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

/* The slot of the element for which is(of, index, key) holds, or the free one where it would be. */
static inline uint32_t *myth_table_find(uint32_t *slot, uint32_t n_slot, uint64_t hash,
                                        bool (*is)(const void *of, uint32_t idx, const void *key), const void *of,
                                        const void *key)
{
    uint32_t at = (uint32_t)hash & (n_slot - 1);
    while (slot[at] && !is(of, slot[at] - 1, key))
        at = (at + 1) & (n_slot - 1);
    return &slot[at];
}

#endif
