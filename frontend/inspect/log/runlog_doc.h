/* runlog_doc.h - reads fields of a record: a field that is missing or has another type reads as "", 0 or false, because
 * the file may be damaged. */
#ifndef MYTH_INSPECT_RUNLOG_DOC_H
#define MYTH_INSPECT_RUNLOG_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline const char *myth_doc_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static inline int64_t myth_doc_int(const json_t *o, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(o, key));
}
static inline bool myth_doc_is(const json_t *o, const char *key) { return json_is_true(json_object_get(o, key)); }

/* "lines": [first, last] */
static inline uint32_t myth_doc_line(const json_t *o, int which)
{
    return (uint32_t)json_integer_value(json_array_get(json_object_get(o, "lines"), (size_t)which));
}

/* Reads a string byte for byte; one that is not UTF-8 is stored as {"hex":...}. False: it has cap bytes or more, or v
 * is no such string. */
static inline bool myth_doc_exact(char *dst, size_t cap, const json_t *v)
{
    const char *s = json_string_value(v), *hex = json_string_value(json_object_get(v, "hex"));
    size_t n = s ? strlen(s) : hex ? strlen(hex) / 2 : cap;
    if (n >= cap)
        return false;
    for (size_t i = 0; i < n; i++) {
        static const char digit[] = "0123456789abcdef";
        const char *hi = s ? NULL : strchr(digit, hex[2 * i]), *lo = s ? NULL : strchr(digit, hex[2 * i + 1]);
        if (!s && (!hi || !lo))
            return false;
        dst[i] = s ? s[i] : (char)((hi - digit) << 4 | (lo - digit));
    }
    dst[n] = '\0';
    return true;
}

#endif
