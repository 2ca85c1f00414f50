/* array.h - arrays that grow: a pointer, a count and a capacity of the caller's own, with room for one element more.
 *
 *   if (!MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "files", &list->file, list->n_file, &list->cap_file))
 *       return no_memory(err);
 *   list->file[list->n_file++] = one;
 *
 * Growth   twice as many and 16 more: n elements take at most 3 n + 16, and are copied twice on average
 * Owner    the caller: myth_free; an array of capacity 0 is NULL
 * Errors   false when memory runs out or the capacity would overflow its type; array, count and capacity are unchanged
 */
#ifndef MYTH_ARRAY_H
#define MYTH_ARRAY_H

#include "mem.h"

#include <string.h>

/* `array` is the address of the pointer to elements of `size` bytes. True at once while n < *cap. */
static inline bool myth_array_room(myth_mem *mem, myth_mem_class cls, const char *owner, void *array, size_t n,
                                   size_t *cap, size_t size)
{
    void *old, *grown;
    if (n < *cap)
        return true;
    if (*cap > (SIZE_MAX / size - 16) / 2)
        return false;
    memcpy(&old, array, sizeof(old));
    grown = myth_realloc(mem, cls, owner, old, (2 * *cap + 16) * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    *cap = 2 * *cap + 16;
    return true;
}

static inline bool myth_array_room32(myth_mem *mem, myth_mem_class cls, const char *owner, void *array, size_t n,
                                     uint32_t *cap, size_t size)
{
    size_t wide = *cap;
    if (n < wide)
        return true;
    if (wide > (UINT32_MAX - 16) / 2 || !myth_array_room(mem, cls, owner, array, n, &wide, size))
        return false;
    *cap = (uint32_t)wide;
    return true;
}

/* For a capacity of either type; the size of an element is that of *array. */
#define MYTH_ARRAY_ROOM(mem, cls, owner, array, n, cap) \
    _Generic((cap), uint32_t *                          \
             : myth_array_room32, size_t *              \
             : myth_array_room)(mem, cls, owner, array, n, cap, sizeof(**(array)))

#endif
