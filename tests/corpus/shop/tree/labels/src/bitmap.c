/* bitmap.c - one bit a dot, rows padded to bytes. */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

bitmap *bitmap_new(uint32_t width, uint32_t height)
{
    bitmap *b = malloc(sizeof(*b));
    if (!b)
        return NULL;
    b->width = width;
    b->height = height;
    b->stride = ((size_t)width + 7) / 8;
    b->bits = calloc(height, b->stride);
    if (!b->bits) {
        free(b);
        return NULL;
    }
    return b;
}

void bitmap_free(bitmap *b)
{
    if (!b)
        return;
    free(b->bits);
    free(b);
}

void bitmap_set(bitmap *b, uint32_t x, uint32_t y)
{
    if (x < b->width && y < b->height)
        b->bits[y * b->stride + x / 8] |= (uint8_t)(0x80u >> (x % 8));
}

static bool is_set(const bitmap *b, uint32_t x, uint32_t y)
{
    return b->bits[y * b->stride + x / 8] & (0x80u >> (x % 8));
}

/* Every dot becomes factor x factor dots. Works on bytes a dot, because ours are few. */
bitmap *bitmap_scale(const bitmap *b, uint32_t factor)
{
    uint32_t width = b->width * factor, height = b->height * factor;
    uint8_t *wide = malloc(width * height);
    if (!wide)
        return NULL;
    for (uint32_t y = 0; y < b->height; y++)
        for (uint32_t x = 0; x < b->width; x++)
            for (uint32_t k = 0; k < factor * factor; k++)
                wide[(size_t)(y * factor + k / factor) * width + x * factor + k % factor] = is_set(b, x, y);
    bitmap *out = bitmap_new(width, height);
    if (out)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                if (wide[(size_t)y * width + x])
                    bitmap_set(out, x, y);
    free(wide);
    return out;
}
