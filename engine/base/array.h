/* array.h - arrays that grow: a pointer, a count and a capacity of the caller's own, with room for one element more or
 * for several.
 *
 *   if (!MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "files", &list->file, list->n_file, &list->cap_file))
 *       return no_memory(err);
 *   list->file[list->n_file++] = one;
 *
 *   if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "text", &b->text, b->n, len, &b->cap))
 *       return no_memory(err);
 *   memcpy(b->text + b->n, text, len);
 *
 * Growth   twice as many and 16 more, or what is asked for where that is more: n elements, put one by one, take at most
 *          3 n + 16, and are copied twice on average
 * Owner    the caller: myth_free; an array of capacity 0 is NULL
 * Errors   false when memory runs out or the capacity would overflow its type; array, count and capacity are unchanged
 */
#ifndef MYTH_ARRAY_H
#define MYTH_ARRAY_H

#include "mem.h"

#include <string.h>

/* Room for `more` elements behind the first n. `array` is the address of the pointer to elements of `size` bytes. */
static inline bool myth_array_more(myth_mem *mem, myth_mem_class cls, const char *owner, void *array, size_t n,
                                   size_t more, size_t *cap, size_t size)
{
    void *old, *grown;
    if (n <= *cap && more <= *cap - n)
        return true;
    if (*cap > (SIZE_MAX / size - 16) / 2 || n > SIZE_MAX / size || more > SIZE_MAX / size - n)
        return false;
    const size_t twice = 2 * *cap + 16, wide = n + more > twice ? n + more : twice;
    memcpy(&old, array, sizeof(old));
    grown = myth_realloc(mem, cls, owner, old, wide * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    *cap = wide;
    return true;
}

static inline bool myth_array_more32(myth_mem *mem, myth_mem_class cls, const char *owner, void *array, size_t n,
                                     size_t more, uint32_t *cap, size_t size)
{
    size_t wide = *cap;
    if (n <= wide && more <= wide - n)
        return true;
    if (wide > (UINT32_MAX - 16) / 2 || n > UINT32_MAX || more > UINT32_MAX - n ||
        !myth_array_more(mem, cls, owner, array, n, more, &wide, size))
        return false;
    *cap = (uint32_t)wide;
    return true;
}

/* For a capacity of either type; the size of an element is that of *array. ROOM: for one element more. */
#define MYTH_ARRAY_MORE(mem, cls, owner, array, n, more, cap) \
    _Generic((cap), uint32_t *                                \
             : myth_array_more32, size_t *                    \
             : myth_array_more)(mem, cls, owner, array, n, more, cap, sizeof(**(array)))
#define MYTH_ARRAY_ROOM(mem, cls, owner, array, n, cap) MYTH_ARRAY_MORE(mem, cls, owner, array, n, 1, cap)

#endif
