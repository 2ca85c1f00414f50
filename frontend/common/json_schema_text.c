/* json_schema_text.c - the text of a grammar that is being written, and the errors of its schema. */
#include "json_schema_impl.h"

#include "engine/base/array.h"

#include <stdarg.h>

myth_status myth_schema_fail(const myth_schema_writer *w, const myth_schema_part *p, myth_status code, const char *fmt,
                             ...)
{
    char what[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return myth_fail(w->err, code, "%.48s: #%.64s: %s", w->name, p->place, what);
}

myth_status myth_schema_no_memory(const myth_schema_writer *w)
{
    return myth_fail(w->err, MYTH_ENOMEM, "%.100s: out of memory", w->name);
}

static void put_bytes(myth_schema_writer *w, const char *s, size_t n)
{
    w->is_large |= w->n + n > MYTH_GBNF_BYTES;
    w->is_short |=
        !w->is_large && !MYTH_ARRAY_MORE(w->mem, MYTH_MEM_STAGING, "schema's grammar", &w->out, w->n, n, &w->cap);
    if (w->is_large || w->is_short)
        return;
    memcpy(w->out + w->n, s, n);
    w->n += n;
}

void myth_schema_put(myth_schema_writer *w, const char *s) { put_bytes(w, s, strlen(s)); }

void myth_schema_putf(myth_schema_writer *w, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    myth_schema_put(w, text);
}

void myth_schema_put_text(myth_schema_writer *w, const char *s)
{
    put_bytes(w, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            put_bytes(w, "\\", 1);
        put_bytes(w, s, 1);
    }
    put_bytes(w, "\"", 1);
}

void myth_schema_put_repeat(myth_schema_writer *w, uint32_t min, uint32_t max)
{
    if (max == MYTH_SCHEMA_ANY)
        myth_schema_putf(w, "{%u,}", min);
    else
        myth_schema_putf(w, "{%u,%u}", min, max);
}

bool myth_schema_work(myth_schema_writer *w, uint64_t n)
{
    w->n_work += n < MYTH_SCHEMA_WORK ? n : MYTH_SCHEMA_WORK;
    return w->n_work <= MYTH_SCHEMA_WORK;
}
