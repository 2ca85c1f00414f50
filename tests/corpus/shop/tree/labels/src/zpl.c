/* zpl.c - a label in the printer's language. Positions are in dots, from the upper left. */
#include "labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *dst;
    size_t cap, n;
} writer;

static void put(writer *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(w->n < w->cap ? w->dst + w->n : NULL, w->n < w->cap ? w->cap - w->n : 0, fmt, ap);
    va_end(ap);
    if (n > 0)
        w->n += (size_t)n;
}

/* ^ and ~ begin commands: in a name they are written by their code. */
static void put_field(writer *w, const char *text)
{
    put(w, "^FH_^FD");
    for (; *text; text++) {
        if (*text == '^' || *text == '~' || *text == '_')
            put(w, "_%02X", (unsigned)(unsigned char)*text);
        else
            put(w, "%c", *text);
    }
    put(w, "^FS\n");
}

static int dots(int dpi, int tenths_of_mm)
{
    return dpi * tenths_of_mm / 254;
}

/* Bytes that the label needs; at most cap are written, with a NUL. -1 when it has no lines. */
int zpl_write(char *dst, size_t cap, const label *l, int dpi)
{
    writer w = { dst, cap, 0 };
    int x = dots(dpi, 50), y = dots(dpi, 60), size;
    if (l->n_line == 0)
        return -1;
    if (dpi == 203)
        size = 28;
    else if (dpi == 300)
        size = 42;
    put(&w, "^XA^CI28^PW%d\n", dots(dpi, 1000));
    for (int i = 0; i < l->n_line; i++) {
        put(&w, "^FO%d,%d^A0N,%d,%d", x, y + i * (size + size / 4), size, size);
        put_field(&w, l->line[i]);
    }
    put(&w, "^FO%d,%d^BY2^BCN,%d,Y,N,N", x, dots(dpi, 700), dots(dpi, 150));
    put_field(&w, l->order_id);
    put(&w, "^FO%d,%d^A0N,%d,%d^FD%u.%03u kg^FS\n", dots(dpi, 700), y, size, size, l->weight_grams / 1000, l->weight_grams % 1000);
    if (l->is_fragile)
        put(&w, "^FO%d,%d^GB%d,%d,4^FS\n", dots(dpi, 690), dots(dpi, 500), dots(dpi, 250), dots(dpi, 100));
    put(&w, "^XZ\n");
    return (int)w.n;
}
